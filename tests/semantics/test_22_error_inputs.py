"""§22.2: the calls that PyTorch's own operator database lists as errors raise the same here.

Each is run on PyTorch and on a session: the class is the same, and so are the words of the message.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest

from tests.ops.database import op_db
from tests.semantics.error_inputs import CANNOT, differences, function

pytestmark = pytest.mark.oracle


@functools.cache
def database() -> dict[str, list[Any]]:
    """Error inputs by operation and variant, of those that list some."""
    pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    pytest.importorskip("expecttest", reason="PyTorch's operator database needs it")
    found: dict[str, list[Any]] = {}
    for info in op_db():
        if info.error_inputs_func is not None:
            key = f"{info.name}:{info.variant_test_name}".rstrip(":")
            found[key] = list(info.error_inputs("cpu"))
    return found


def _keys() -> list[str]:
    try:
        return list(database())
    except pytest.skip.Exception:
        return ["the database"]


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    """The SDK, with a session of this module's own."""
    gradd = pytest.importorskip("gradd")
    with gradd.connect("local:"):
        yield gradd


@pytest.mark.parametrize("key", _keys())
def test_22_02_error_inputs(local: Any, key: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    pytest.importorskip("expecttest", reason="PyTorch's operator database needs it")
    if function(local, key) is None:
        pytest.skip("no such operation here")
    found = {
        number: text
        for number, text in differences(local, torch, key, database()[key])
        if (key, number) not in CANNOT and (key, None) not in CANNOT
    }
    assert not found, "\n".join(f"{number}: {text}" for number, text in found.items())
