"""Where the memory of `x.numpy()` begins: libraries of vectors read 64 bytes at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest
from gradd._aligned import ALIGNMENT, aligned, empty

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
          "complex64", "complex128"]  # fmt: skip


@pytest.fixture(params=["local", "stream", "http"], scope="module")
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    with gradd.connect(url, transport="http" if request.param == "http" else "stream") as s:
        yield s


def begins(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0]) % ALIGNMENT


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_is_aligned(session: Any, dtype: str) -> None:
    for shape in ((), (0,), (1,), (3,), (5, 7), (300, 1000)):  # the last is read by itself, or pinned
        x = torch.full(shape, 1, dtype=getattr(torch, dtype))
        # Another small result before it, so that it begins somewhere in the reply.
        y, values = torch.ones(3, dtype=torch.uint8), x.numpy()
        for array in (values, x.numpy(), y.numpy(), np.asarray(x)):
            assert begins(array) == 0 or not array.size
            assert array.flags.aligned
            assert not array.flags.writeable
        assert values.shape == shape
        assert (values == np.ones(shape, values.dtype)).all()


def test_what_is_aligned_is_not_copied() -> None:
    array = empty((3, 4), np.dtype(np.complex128))
    assert begins(array) == 0
    assert aligned(array) is array
    off = empty((9,), np.dtype(np.float64))[1:]
    off[...] = np.arange(8)
    copy = aligned(off)
    assert begins(copy) == 0
    assert copy.tolist() == off.tolist()
