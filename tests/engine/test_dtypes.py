"""Promotion: the whole lattice against the oracle, and pinned corners that need none."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from gradd_engine.data import dtypes
from gradd_engine.ops.shared.constants import tensor


@pytest.mark.oracle
def test_every_pair_promotes_as_the_oracle_does(torch: Any) -> None:
    for a, b in itertools.product(dtypes.ALL, repeat=2):
        expected = torch.promote_types(getattr(torch, a.name), getattr(torch, b.name))
        assert repr(dtypes.promote(a, b)) == repr(expected), (a, b)


@pytest.mark.oracle
@pytest.mark.parametrize("shapes", list(itertools.product([(2,), ()], repeat=2)), ids=str)
def test_dimensions_outrank_scalars_as_the_oracles_do(
    torch: Any,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    for a, b in itertools.product(dtypes.ALL, repeat=2):
        ours = [
            tensor([1, 1][: len(s) * 2] if s else 1, dtype=d) for s, d in zip(shapes, (a, b), strict=True)
        ]
        theirs = [torch.ones(s, dtype=getattr(torch, d.name)) for s, d in zip(shapes, (a, b), strict=True)]
        expected = torch.result_type(*theirs)
        # There is no half-precision complex dtype here: the next one takes its place.
        expected = torch.complex64 if expected is torch.complex32 else expected
        assert repr(dtypes.result_type(ours)) == repr(expected), (a, b)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (dtypes.uint8, dtypes.int8, dtypes.int16),
        (dtypes.float16, dtypes.bfloat16, dtypes.float32),
        (dtypes.complex64, dtypes.float64, dtypes.complex128),
        (dtypes.bool_, dtypes.uint8, dtypes.uint8),
        (dtypes.int64, dtypes.float16, dtypes.float16),
    ],
    ids=repr,
)
def test_corners(a: dtypes.DType, b: dtypes.DType, expected: dtypes.DType) -> None:
    assert dtypes.promote(a, b) is dtypes.promote(b, a) is expected


def test_the_default_dtype_is_floating() -> None:
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        dtypes.set_default_dtype(dtypes.int64)
    assert dtypes.default_dtype() is dtypes.float32
