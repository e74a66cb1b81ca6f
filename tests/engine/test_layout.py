"""Layout rules: shapes, strides and views, against the oracle on random geometries."""

from __future__ import annotations

from typing import Any

import pytest
from gradd_engine.data.layout import (
    Size,
    broadcast_shapes,
    contiguous_strides,
    is_contiguous,
    is_dense,
    overlaps_itself,
    resolve_size,
    view_strides,
)
from gradd_engine.ops.shared.constants import zeros
from hypothesis import given, settings
from hypothesis import strategies as st

SHAPES = st.lists(st.integers(1, 4), min_size=0, max_size=4)


@st.composite
def geometry(draw: st.DrawFn) -> tuple[list[int], list[int], list[bool]]:
    """A shape, an order of its dimensions, and which of them are expanded from one element."""
    shape = draw(SHAPES)
    order = draw(st.permutations(range(len(shape))))
    return shape, list(order), draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))


def _build(make: Any, shape: list[int], order: list[int], wide: list[bool]) -> Any:
    base = make([1 if wide[d] else shape[d] for d in order])
    inverse = sorted(range(len(order)), key=order.__getitem__)
    return base.permute(inverse).expand([shape[i] for i in range(len(shape))])


@pytest.mark.oracle
@settings(max_examples=300, deadline=None)
@given(geometry(), st.data())
def test_elementwise_results_have_the_oracles_strides(g: tuple[Any, Any, Any], data: st.DataObject) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    shape, order, wide = g
    order2 = data.draw(st.permutations(range(len(shape))))
    wide2 = data.draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    ours = _build(zeros, shape, order, wide) + _build(zeros, shape, list(order2), wide2)
    theirs = _build(torch.zeros, shape, order, wide) + _build(torch.zeros, shape, list(order2), wide2)
    assert (list(ours.shape), ours.strides) == (list(theirs.shape), theirs.stride())
    assert (
        _build(zeros, shape, order, wide).clone().strides
        == _build(torch.zeros, shape, order, wide).clone().stride()
    )


@pytest.mark.oracle
@settings(max_examples=300, deadline=None)
@given(geometry(), st.data())
def test_views_are_possible_where_the_oracles_are(g: tuple[Any, Any, Any], data: st.DataObject) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    shape, order, wide = g
    theirs = _build(torch.zeros, shape, order, wide)
    new = data.draw(st.permutations([*shape, 1])) if data.draw(st.booleans()) else [theirs.numel()]
    try:
        expected = theirs.view(list(new)).stride()
    except RuntimeError:
        expected = None
    assert view_strides(theirs.shape, theirs.stride(), tuple(new)) == expected


@given(SHAPES)
def test_row_major_strides_are_contiguous_and_dense(shape: list[int]) -> None:
    strides = contiguous_strides(shape)
    assert is_contiguous(shape, strides)
    assert is_dense(shape, strides)


def test_broadcasting_names_the_sizes_that_differ() -> None:
    assert broadcast_shapes((2, 1), (3,)) == (2, 3)
    with pytest.raises(RuntimeError) as caught:
        broadcast_shapes((2,), (3,))
    assert str(caught.value) == (
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"
    )


def test_one_size_may_be_inferred() -> None:
    assert resolve_size([2, -1], 6) == (2, 3)
    with pytest.raises(RuntimeError, match=r"shape '\[3\]' is invalid for input of size 4"):
        resolve_size([3], 4)
    with pytest.raises(RuntimeError, match="only one dimension can be inferred"):
        resolve_size([-1, -1], 4)


def test_sizes_print_as_the_oracles_do() -> None:
    assert repr(Size((2, 3))) == "torch.Size([2, 3])"
    assert isinstance(Size((2, 3, 4))[:2], Size)
    assert Size((2, 3)).numel() == 6


def test_what_has_no_elements_shares_no_memory() -> None:
    assert overlaps_itself((2, 3), (1, 0))
    assert not overlaps_itself((0, 3), (1, 0))
    found = zeros([1, 1]).expand([0, 3])
    assert tuple(found.add_(1).shape) == (0, 3)
