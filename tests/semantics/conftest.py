"""Fixtures of the semantics tests: one body runs on PyTorch, the oracle, and on gradd over each transport.

Tests are named by their item of the acceptance inventory: `test_06_02_...` is item 6.2. They use only the
public surface that both modules share; where gradd differs on purpose, `DIFFERS` has the item and the reason.
"""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.oracle import ITSELF, module
from tests.waiting import PATIENCE

DIFFERS = {
    "1.8": "a session has one device: every device name is accepted and means that device",
    "3.5": "retain_variables is accepted, with a DeprecationWarning, as documents of 0.2 have it (23.4)",
    "6.5": "a relaxed layout policy allows another layout; .grad keeps the leaf's, known without asking",
    "6.9": "a session has one device: a gradient cannot lie on another",
    "19.4": "negatives are computed: the imaginary part of a conjugate view is a copy",
    "21.3": "there is no half-precision complex dtype: float16 with a complex number gives complex64",
}


@dataclass(frozen=True)
class Place:
    """Where a test runs: a module spelled like torch and, for gradd, how to reach its engine."""

    module: str
    url: str = ""
    transport: str = "stream"

    @property
    def connect(self) -> str:
        """The line of a script that connects `torch`, this module, to its engine."""
        return f"torch.connect({self.url!r}, transport={self.transport!r})" if self.module == "gradd" else ""


@pytest.fixture(params=[*ITSELF, "local", "stream", "http"])
def place(request: pytest.FixtureRequest) -> Place:
    """One of the oracle, in-process, WebSocket stream and plain HTTP."""
    if request.param == "torch":
        return Place("torch")
    if request.param == "local":
        return Place("gradd", "local:")
    return Place("gradd", request.getfixturevalue("daemon"), request.param)


@pytest.fixture
def T(place: Place) -> Iterator[Any]:
    """The module under test: `torch`, or `gradd` with a session of this test's own as the current one."""
    if place.module == "torch":
        yield module()
        return
    gradd = pytest.importorskip("gradd")
    with gradd.connect(place.url, transport=place.transport):
        yield gradd


@pytest.fixture
def leaf(T: Any) -> Callable[..., Any]:
    """`leaf(values=[1., 2.], **options)`: a new tensor that requires grad."""

    def make(values: Any = (1.0, 2.0), **options: Any) -> Any:
        return T.tensor(values, requires_grad=True, **options)

    return make


@pytest.fixture
def slopes(T: Any) -> Callable[..., Any]:
    """`slopes(f, *values)`: what f's sum gives each of its inputs, a list for each."""

    def find(f: Callable[..., Any], *values: list[float]) -> Any:
        xs = [T.tensor(v, dtype=T.float64, requires_grad=True) for v in values]
        f(*xs).sum().backward()
        # PyTorch's zeros may have no memory of their own: adding one gives them some
        found = [None if x.grad is None else (x.grad + 0).tolist() for x in xs]
        return found[0] if len(found) == 1 else found

    return find


@pytest.fixture
def alone(place: Place, T: Any) -> Callable[[str], str]:
    """`alone(script)`: what a script prints in a process of its own; it says `{module}` and `{connect}`."""

    def run(script: str) -> str:
        text = script.format(module=place.module, connect=place.connect)
        command = [sys.executable, "-c", text]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def differs(place: Place) -> Callable[[str], bool]:
    """`differs(item)`: whether the module is gradd, at an item where it differs on purpose."""

    def ask(item: str) -> bool:
        assert DIFFERS[item], "every difference has its reason"
        return place.module == "gradd"

    return ask


def _same(text: str, expected: str) -> bool:
    """Equality, where `…` in the expected text stands for anything."""
    return re.fullmatch(re.escape(expected).replace("…", ".*"), text, re.DOTALL) is not None


Raises = Callable[[type[BaseException], str], AbstractContextManager[None]]


@pytest.fixture
def raises() -> Raises:
    """`with raises(RuntimeError, message):` exactly that class, exactly that text (`…`: anything)."""

    @contextmanager
    def check(kind: type[BaseException], message: str) -> Iterator[None]:
        with pytest.raises(kind) as caught:
            yield
        assert caught.type is kind
        text = str(caught.value)
        assert _same(text, message), f"\n     got: {text}\nexpected: {message}"

    return check


@pytest.fixture
def warns() -> Raises:
    """`with warns(UserWarning, message):` exactly one warning, of that class and text (`…`: anything)."""

    @contextmanager
    def check(kind: type[BaseException], message: str) -> Iterator[None]:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            yield
        texts: Sequence[str] = [str(one.message) for one in seen]
        assert [one.category for one in seen] == [kind]
        assert _same(texts[0], message), f"\n     got: {texts[0]}\nexpected: {message}"

    return check
