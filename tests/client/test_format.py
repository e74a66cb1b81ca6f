"""Printing: exactly PyTorch's text. Pinned strings need no torch; the rest is compared with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import ml_dtypes
import numpy as np
import pytest
from gradd_engine.data import dtypes
from gradd_engine.tensor import printing

NAN, INF = float("nan"), float("inf")
RNG = np.random.default_rng(3)

ARRAYS: dict[str, Any] = {
    "ones": np.ones(2, "float32"),
    "zero": np.zeros((), "float32"),
    "scalar": np.asarray(3.14159, "float32"),
    "scalar of 64 bits": np.asarray(2.5),
    "scalar, tiny": np.asarray(1e-7, "float32"),
    "scalar, large": np.asarray(1.5e9, "float32"),
    "whole": np.arange(6, dtype="float32").reshape(2, 3),
    "whole, large": np.asarray([1e9, 2e9], "float32"),
    "whole, wide range": np.asarray([1.0, 1001.0], "float32"),
    "whole, at the range": np.asarray([1.0, 1000.0], "float32"),
    "whole, negative": np.asarray([-1.0, 20.0, -300.0], "float32"),
    "fixed": np.asarray([0.5, -1.25, 3.0], "float32"),
    "fixed, wide": np.asarray([0.001, 0.9], "float32"),
    "fixed, too wide": np.asarray([0.001, 1.5], "float32"),
    "small": np.asarray([0.00009, 0.0001], "float32"),
    "smallest fixed": np.asarray([0.0001], "float64"),
    "denormal": np.asarray([1e-42, 0.0], "float32"),
    "denormal of 64 bits": np.asarray([5e-324, 1e-310]),
    "denormal beside one": np.asarray([5e-324, 1.0]),
    "largest": np.asarray([1.7e308, -1.7e308]),
    "whole limit": np.asarray([1e8, 5e7], "float32"),
    "past the limit": np.asarray([100000008.0], "float32"),
    "nan": np.asarray([NAN], "float32"),
    "nan and numbers": np.asarray([NAN, 1.0, 2.5], "float32"),
    "inf and whole": np.asarray([INF, -INF, 1.0], "float32"),
    "inf and wide": np.asarray([INF, -INF, 1e-9, 1e5], "float64"),
    "only inf": np.asarray([[INF, -INF], [NAN, 0.0]], "float32"),
    "negative zero": np.asarray([-0.0, 0.0, 1.0], "float32"),
    "negative zero, fixed": np.asarray([-0.0, 0.25], "float32"),
    "thirds": np.asarray([1 / 3, 2 / 3, -1 / 7]),
    "matrix": RNG.normal(size=(4, 5)).astype("float32"),
    "three axes": RNG.normal(size=(2, 3, 4)).astype("float32"),
    "four axes": RNG.normal(size=(2, 1, 2, 3)),
    "long line": RNG.normal(size=30).astype("float32"),
    "long line of 64 bits": RNG.normal(size=30) * 1e5,
    "rows past the line": RNG.normal(size=(2, 25)).astype("float32"),
    "at the threshold": np.arange(1000, dtype="float32"),
    "past the threshold": np.arange(1001, dtype="float32"),
    "summary of a matrix": RNG.normal(size=(40, 50)).astype("float32"),
    "summary, one axis short": RNG.normal(size=(4, 500)).astype("float32"),
    "summary, three axes": RNG.normal(size=(10, 11, 12)),
    "summary, inner short": RNG.normal(size=(600, 2)),
    "summary hides the large": np.where(np.arange(2000) == 1000, 1e12, 0.5),
    "ints": np.arange(5),
    "ints, wide": np.asarray([[1, -20], [300, 4]]),
    "ints of 32 bits": np.asarray([1, 2], "int32"),
    "bytes": np.asarray([0, 255], "uint8"),
    "signed bytes": np.asarray([-128, 7], "int8"),
    "short": np.asarray([5], "int16"),
    "summary of ints": np.arange(3000).reshape(30, 100),
    "bool": np.asarray([True, False]),
    "bool matrix": np.asarray([[True, True], [False, False]]),
    "bool scalar": np.asarray(True),
    "int scalar": np.asarray(-7),
    "complex": np.asarray([1 + 2j, -3.5 - 0.25j], "complex64"),
    "complex of 128 bits": np.asarray([[1j, 2.0], [0.5, -1e-5j]]),
    "complex scalar": np.asarray(1 - 1j, "complex64"),
    "complex, whole": np.asarray([1 + 1j, 20 - 3j], "complex64"),
    "complex, nan": np.asarray([complex(NAN, -INF), 1 + 0.5j], "complex64"),
    "complex, long": (RNG.normal(size=20) + 1j * RNG.normal(size=20)).astype("complex64"),
    "complex, summary": RNG.normal(size=(30, 40)) + 1j * RNG.normal(size=(30, 40)),
    "half": np.asarray([0.1, 65504.0], "float16"),
    "half, plain": np.asarray([0.1, 2.0], "float16"),
    "bfloat16": np.asarray([0.1, 3.0, 1e20], ml_dtypes.bfloat16),
    "empty": np.zeros((0,), "float32"),
    "empty of 64 bits": np.zeros((0,)),
    "empty matrix": np.zeros((0, 3), "float32"),
    "empty ints": np.zeros((2, 0), "int64"),
    "empty bool": np.zeros((0,), "bool"),
}


@pytest.fixture(autouse=True)
def plain_options() -> Iterator[None]:
    yield
    printing.set_printoptions(profile="default")


def text(array: Any, **notes: Any) -> str:
    return printing.format_tensor(array, dtypes.from_numpy(array.dtype), **notes)


def as_torch(torch: Any, array: Any) -> Any:
    if array.dtype == ml_dtypes.bfloat16:
        return torch.tensor(array.astype("float32")).bfloat16()
    return torch.tensor(array)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ARRAYS)
def test_prints_as_torch(torch: Any, name: str) -> None:
    assert text(ARRAYS[name]) == repr(as_torch(torch, ARRAYS[name]))


@pytest.mark.oracle
@pytest.mark.parametrize("name", [n for n, a in ARRAYS.items() if a.dtype.kind in "fc"])
def test_autograd_notes_print_as_torch(torch: Any, name: str) -> None:
    leaf = as_torch(torch, ARRAYS[name]).requires_grad_()
    assert text(ARRAYS[name], requires_grad=True) == repr(leaf)
    made = leaf.clone()
    assert text(ARRAYS[name], requires_grad=True, grad_fn_name="CloneBackward0") == repr(made)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "options",
    [
        {"precision": 2},
        {"sci_mode": True},
        {"sci_mode": False},
        {"profile": "short"},
        {"profile": "full"},
        {"linewidth": 40, "edgeitems": 1, "threshold": 10},
    ],
    ids=str,
)
def test_options_print_as_torch(torch: Any, options: dict[str, Any]) -> None:
    names = ["matrix", "long line", "past the threshold", "three axes", "complex", "ints", "fixed", "whole"]
    printing.set_printoptions(**options)
    torch.set_printoptions(**options)
    try:
        for name in names:
            assert text(ARRAYS[name]) == repr(torch.tensor(ARRAYS[name]))
    finally:
        torch.set_printoptions(profile="default")


@pytest.mark.oracle
def test_random_arrays_print_as_torch(torch: Any) -> None:
    rng = np.random.default_rng(11)
    for _ in range(150):
        shape = tuple(int(n) for n in rng.integers(0, 9, size=rng.integers(0, 4)))
        array = np.asarray(rng.normal(size=shape) * 10.0 ** rng.integers(-6, 7))
        if rng.random() < 0.3:
            array = np.asarray(np.round(array))
        if rng.random() < 0.5:
            array = np.asarray(array, "float32")
        assert text(array) == repr(torch.tensor(array))


@pytest.mark.oracle
def test_the_default_dtype_is_not_named(torch: Any) -> None:
    arrays = [np.ones(2, name) for name in ("float64", "float32", "complex64", "complex128")]
    arrays.append(np.zeros((0,)))
    before = dtypes.default_dtype()
    dtypes.set_default_dtype(dtypes.float64)
    torch.set_default_dtype(torch.float64)
    try:
        for array in arrays:
            assert text(array) == repr(torch.tensor(array))
    finally:
        dtypes.set_default_dtype(before)
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(
    ("array", "notes", "expected"),
    [
        (np.asarray([1.0, 2.0]), {}, "tensor([1., 2.], dtype=torch.float64)"),
        (np.asarray([1.0], "float32"), {"requires_grad": True}, "tensor([1.], requires_grad=True)"),
        (
            np.asarray([2.0], "float32"),
            {"requires_grad": True, "grad_fn_name": "MulBackward0"},
            "tensor([2.], grad_fn=<MulBackward0>)",
        ),
        (np.asarray([1, 2]), {"device": "cuda:0"}, "tensor([1, 2], device='cuda:0')"),
        (np.zeros((0, 3), "float32"), {}, "tensor([], size=(0, 3))"),
        (np.asarray([[1e-5, 1.0]], "float32"), {}, "tensor([[1.0000e-05, 1.0000e+00]])"),
        (np.asarray([NAN, 1.0], "float32"), {}, "tensor([nan, 1.])"),
        (np.asarray([1 + 0.5j], "complex64"), {}, "tensor([1.+0.5000j])"),
        (np.asarray([[True], [False]]), {}, "tensor([[ True],\n        [False]])"),
        (np.arange(1001), {}, "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    ],
    ids=str,
)
def test_pinned(array: Any, notes: dict[str, Any], expected: str) -> None:
    assert text(array, **notes) == expected


def test_named_tuples_print_as_torchs_do() -> None:
    with gradd.connect("local:"):
        found = gradd.tensor([[1, 2], [4, 3]]).max(dim=1)
        assert repr(found) == "torch.return_types.max(\nvalues=tensor([2, 4]),\nindices=tensor([1, 0]))"
        assert found.values.tolist() == [2, 4]
        values, indices = found
        assert (values.tolist(), indices.tolist()) == ([2, 4], [1, 0])
