"""Section 10 of the inventory: tensors that take the geometry of a view of them, in place."""

from __future__ import annotations

from typing import Any

import pytest

CALLS = [
    ("unsqueeze_", (0,), "UnsqueezeBackward1", (1, 1, 3), (3, 3, 1)),
    ("unsqueeze_", (-1,), "UnsqueezeBackward1", (1, 3, 1), (3, 1, 1)),
    ("squeeze_", (), "SqueezeBackward3", (3,), (1,)),
    ("squeeze_", (0,), "SqueezeBackward4", (3,), (1,)),
    ("squeeze_", ((0, 1),), "SqueezeBackward5", (3,), (1,)),
    ("t_", (), "TBackward1", (3, 1), (1, 3)),
    ("transpose_", (0, 1), "TransposeBackward1", (3, 1), (1, 3)),
    ("swapaxes_", (0, 1), "TransposeBackward1", (3, 1), (1, 3)),
    ("swapdims_", (0, 1), "TransposeBackward1", (3, 1), (1, 3)),
]


@pytest.fixture
def row(leaf: Any) -> Any:
    """A leaf of one row."""
    return leaf([[1.0, 2.0, 3.0]])


@pytest.mark.parametrize(("name", "args", "node", "shape", "stride"), CALLS)
def test_10_02_the_shape_itself(
    T: Any, row: Any, name: str, args: Any, node: str, shape: Any, stride: Any
) -> None:
    y = row * row
    assert getattr(y, name)(*args) is y
    assert (tuple(y.shape), y.stride(), y._version) == (shape, stride, 1)
    assert (y.grad_fn.name(), y.output_nr, y._is_view()) == (node, 0, False)
    assert y.flatten().tolist() == [1.0, 4.0, 9.0]
    (y * T.arange(3.0).view(*shape)).sum().backward()
    assert row.grad.tolist() == [[0.0, 4.0, 12.0]]


@pytest.mark.parametrize("name", ["unsqueeze_", "squeeze_", "t_", "transpose_"])
def test_10_01_not_of_leaves(T: Any, row: Any, raises: Any, name: str) -> None:
    args = {"unsqueeze_": (0,), "transpose_": (0, 1)}.get(name, ())
    with raises(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation."):
        getattr(row, name)(*args)
    with raises(RuntimeError, "a view of a leaf Variable that requires grad is being used in an …"):
        getattr(row[:], name)(*args)
    assert (tuple(row.shape), row._version) == ((1, 3), 0)
    with T.no_grad():
        getattr(row, name)(*args)
    assert (row.is_leaf, row.requires_grad, row._version) == (True, True, 1)
    row.sum().backward()
    assert row.grad.shape == row.shape


def test_10_08_of_a_view_it_is_the_views_alone(row: Any) -> None:
    y = row * 2
    v = y[0]
    v.unsqueeze_(1)
    assert (v.grad_fn.name(), y.grad_fn.name()) == ("UnsqueezeBackward1", "MulBackward0")
    assert (v._base is y, y._version, tuple(v.shape), tuple(y.shape)) == (True, 1, (3, 1), (1, 3))
    v.mul_(10)
    assert y.tolist() == [[20.0, 40.0, 60.0]]
    (y.sum() + v.sum()).backward()
    assert row.grad.tolist() == [[40.0, 40.0, 40.0]]


def test_10_08_older_views_are_made_anew(row: Any) -> None:
    y = row * 2
    v = y.view(3)
    y.t_()
    assert v.grad_fn.name() == "AsStridedBackward0"
    v.mul_(3)
    assert y.tolist() == [[6.0], [12.0], [18.0]]
    y.sum().backward()
    assert row.grad.tolist() == [[6.0, 6.0, 6.0]]


def test_10_03_it_counts_as_a_change(row: Any, raises: Any) -> None:
    y = row.exp()
    y.unsqueeze_(0)
    with raises(RuntimeError, "one of the variables needed for gradient computation has been modified by …"):
        y.sum().backward()


def test_10_10_dimensions_that_are_not_there(T: Any, raises: Any) -> None:
    with raises(IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 3)"):
        T.ones(2).unsqueeze_(3)
    with raises(RuntimeError, "t_() expects a tensor with <= 2 dimensions, but self is 3D"):
        T.ones(2, 2, 2).t_()


def test_10_02_in_a_loop(T: Any, leaf: Any) -> None:
    x = leaf()
    for _ in range(4):
        x.grad = None
        y = x * x
        y.unsqueeze_(0).transpose_(0, 1)
        (y @ T.ones(1, 2)).sum().backward()
        assert x.grad.tolist() == [4.0, 8.0]
        assert y.tolist() == [[1.0], [4.0]]


def test_10_11_memory_is_shared_as_before(T: Any) -> None:
    x = T.arange(6).reshape(2, 3)
    row = x[0]
    x.t_()
    x[0, 1] = 99
    row[2] = -1
    assert (x.tolist(), row.tolist()) == ([[0, 99], [1, 4], [-1, 5]], [0, 1, -1])
    assert (x._version, row._version, x.is_contiguous()) == (3, 3, False)


def test_10_11_in_a_loop(T: Any) -> None:
    turns = [("t_", ()), ("unsqueeze_", (0,)), ("transpose_", (0, 1)), ("squeeze_", ()), ("t_", ())]
    for n in range(6):
        x = T.arange(6).reshape(2, 3) + n
        shapes = []
        for name, given in turns:
            getattr(x, name)(*given)
            shapes.append(tuple(x.shape))
        assert shapes == [(3, 2), (1, 3, 2), (3, 1, 2), (3, 2), (2, 3)]
        assert (x[0, 1].item(), x.tolist()) == (1 + n, [[n, 1 + n, 2 + n], [3 + n, 4 + n, 5 + n]])


def test_10_02_a_retained_gradient_has_the_old_shape(T: Any) -> None:
    w = T.ones(2, 3, requires_grad=True)
    k = w * 1
    k.retain_grad()
    k.t_()
    (k * T.arange(6.0).reshape(3, 2)).sum().backward()
    assert k.retains_grad
    assert k.grad.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]


def test_10_10_one_dimension_cannot_be_swapped(T: Any, raises: Any) -> None:
    with raises(IndexError, "Dimension out of range (expected to be in range of [-1, 0], but got 1)"):
        T.ones(2).transpose_(0, 1)
