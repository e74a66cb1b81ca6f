"""10, views: a tensor that becomes a view of its own elements (t_, transpose_, unsqueeze_, squeeze_)."""

from __future__ import annotations

from typing import Any

import pytest

CHANGES = [
    ("t_", (), "TBackward1"),
    ("transpose_", (0, 1), "TransposeBackward1"),
    ("swapaxes_", (0, -1), "TransposeBackward1"),
    ("swapdims_", (0, 1), "TransposeBackward1"),
    ("unsqueeze_", (1,), "UnsqueezeBackward1"),
    ("squeeze_", (), "SqueezeBackward3"),
    ("squeeze_", (0,), "SqueezeBackward4"),
    ("squeeze_", ((0, 1),), "SqueezeBackward5"),
]


@pytest.mark.parametrize(("name", "args", "node"), CHANGES)
@pytest.mark.parametrize("rows", [1, 2])
def test_10_02_a_tensor_takes_another_shape(
    T: Any, rows: int, name: str, args: tuple[Any, ...], node: str
) -> None:
    w = T.arange(3.0 * rows).reshape(rows, 3).clone().requires_grad_()
    wanted = getattr(w.detach(), name[:-1])(*args)
    k = w * 1
    before = k._version
    assert getattr(k, name)(*args) is k
    assert (k.shape, k.stride(), k.tolist()) == (wanted.shape, wanted.stride(), wanted.tolist())
    assert (k.grad_fn.name(), k._version - before, k._is_view()) == (node, 1, False)
    assert k.grad_fn.next_functions[0][0].name() == "MulBackward0"
    factor = T.arange(3.0 * rows).reshape(k.shape)
    (k * factor).sum().backward()
    expected = w.detach().clone().requires_grad_()
    (getattr(expected * 1, name[:-1])(*args) * factor).sum().backward()
    assert w.grad.tolist() == expected.grad.tolist()


def test_10_01_leaves_keep_their_shape(T: Any, raises: Any) -> None:
    w = T.ones(2, 3, requires_grad=True)
    with raises(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation."):
        w.t_()
    with raises(
        RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation."
    ):
        w[0].unsqueeze_(0)
    assert w.shape == (2, 3)
    with T.no_grad():
        assert w.clone().t_().shape == (3, 2)


def test_10_04_a_view_takes_another_shape(T: Any) -> None:
    w = T.arange(6.0).reshape(2, 3).clone().requires_grad_()
    k = w * 1
    row = k[0]
    row.unsqueeze_(0)
    assert (row.grad_fn.name(), k.grad_fn.name(), row.shape) == ("UnsqueezeBackward1", "MulBackward0", (1, 3))
    row.mul_(2)
    assert k.tolist() == [[0.0, 2.0, 4.0], [3.0, 4.0, 5.0]]
    (k.sum() + row.sum()).backward()
    assert w.grad.tolist() == [[4.0, 4.0, 4.0], [1.0, 1.0, 1.0]]


def test_10_11_memory_is_shared_as_before(T: Any) -> None:
    x = T.arange(6).reshape(2, 3)
    row = x[0]
    x.t_()
    x[0, 1] = 99
    row[2] = -1
    assert (x.tolist(), row.tolist()) == ([[0, 99], [1, 4], [-1, 5]], [0, 1, -1])
    assert (x._version, row._version, x.is_contiguous()) == (3, 3, False)


def test_22_01_what_no_view_can_be(T: Any, raises: Any) -> None:
    with raises(RuntimeError, "t_() expects a tensor with <= 2 dimensions, but self is 3D"):
        T.ones(2, 2, 2).t_()
    with raises(IndexError, "Dimension out of range (expected to be in range of [-1, 0], but got 1)"):
        T.ones(2).transpose_(0, 1)


def test_10_11_again_and_again(T: Any) -> None:
    found = []
    for i in range(4):
        x = T.full((2, 3), float(i))
        x.t_()
        found.append((x @ T.ones(2, 2)).sum().item())
    assert found == [0.0, 12.0, 24.0, 36.0]


def test_10_02_a_retained_gradient_has_the_old_shape(T: Any) -> None:
    w = T.ones(2, 3, requires_grad=True)
    k = w * 1
    k.retain_grad()
    k.t_()
    (k * T.arange(6.0).reshape(3, 2)).sum().backward()
    assert k.retains_grad
    assert k.grad.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]
