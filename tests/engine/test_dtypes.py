"""Promotion: the whole lattice against the oracle, and pinned corners that need none."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from gradd_engine.data import ambient, apart, dtypes
from gradd_engine.data.state import state
from gradd_engine.ops.shared.constants import tensor


def _told(fn: Callable[..., Any], *args: Any) -> str:
    """What a call gives, or says in raising; one word for errors of the oracle and those recorded of it."""
    try:
        # There is no half-precision complex dtype here: the next one takes its place.
        return repr(fn(*args)).replace("complex32", "complex64")
    except Exception as error:
        return str(error)


@pytest.mark.oracle
def test_every_pair_promotes_as_the_oracle_does(torch: Any) -> None:
    for a, b in itertools.product(dtypes.ALL, repeat=2):
        expected = _told(torch.promote_types, getattr(torch, a.name), getattr(torch, b.name))
        assert _told(dtypes.promote, a, b) == expected, (a, b)


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
        assert _told(dtypes.result_type, ours) == _told(torch.result_type, *theirs), (a, b)


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


def test_a_default_of_one_thread_leaves_nothing_behind() -> None:
    assert "dtype" not in vars(state)
    with ambient(dtype=dtypes.float64):
        with pytest.raises(ZeroDivisionError), ambient(dtype=dtypes.float16):
            1 / (dtypes.default_dtype() is not dtypes.float16)
        assert dtypes.default_dtype() is dtypes.float64
    assert "dtype" not in vars(state)
    assert dtypes.default_dtype() is dtypes.float32


def test_what_runs_apart_leaves_nothing_behind() -> None:
    def fail(depth: int) -> None:
        assert (state.grad, state.depth) == (False, 1)
        state.dtype, state.depth, state.passes = dtypes.float16, 0, depth
        raise ZeroDivisionError

    with ambient(depth=3):
        before = dict(vars(state))
        with pytest.raises(ZeroDivisionError):
            apart({"grad": False, "depth": 1}, fail, 7)
        assert vars(state) == before
