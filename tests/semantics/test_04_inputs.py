"""§4: the argument inputs= of backward."""

from __future__ import annotations

from typing import Any

import pytest


def test_04_01_only_the_named_accumulate(leaf: Any) -> None:
    x, z = leaf(), leaf()
    (x * z).sum().backward(inputs=[x])
    assert x.grad.tolist() == [1.0, 2.0]
    assert z.grad is None


def test_04_01_a_named_non_leaf(leaf: Any) -> None:
    x = leaf()
    y = x * 2
    (y * y).sum().backward(inputs=[y])
    assert y.grad.tolist() == [4.0, 8.0]
    assert x.grad is None


def test_04_01_other_paths_are_not_executed(leaf: Any) -> None:
    a, b = leaf([0.0]), leaf([0.0])
    loss = (a.exp() + b.exp()).sum()
    loss.backward(inputs=[b])
    loss.backward(inputs=[a])  # a's exp still has what it saved
    assert a.grad.tolist() == [1.0]
    assert b.grad.tolist() == [1.0]


def test_04_01_nor_checked(leaf: Any) -> None:
    a, b = leaf([0.0]), leaf([0.0])
    spoilt = a.exp()
    loss = (spoilt + b.exp()).sum()
    spoilt.add_(1)
    loss.backward(inputs=[b])
    assert b.grad.tolist() == [1.0]


def test_04_02_one_tensor_will_do(T: Any, leaf: Any) -> None:
    x = leaf()
    (x * x).sum().backward(inputs=x)
    T.autograd.backward((x * x).sum(), inputs=x)
    assert x.grad.tolist() == [4.0, 8.0]


@pytest.mark.parametrize("empty", [[], ()])
def test_04_02_none_will_not(T: Any, leaf: Any, raises: Any, empty: Any) -> None:
    y = leaf(1.0) * 2
    message = "`inputs` argument to `backward()` cannot be empty."
    with raises(RuntimeError, message):
        y.backward(inputs=empty)
    with raises(RuntimeError, message):
        T.autograd.backward(y, inputs=empty)


def test_04_03_non_leaves_beside_leaves(leaf: Any) -> None:
    x = leaf()
    y = x * 2
    (y * y).sum().backward(inputs=[x, y])
    assert x.grad.tolist() == [8.0, 16.0]
    assert y.grad.tolist() == [4.0, 8.0]
    assert y.retains_grad
    assert not y.is_leaf


def test_04_04_the_named_require_grad(T: Any, leaf: Any, raises: Any) -> None:
    y = leaf(1.0) * 2
    with raises(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"):
        y.backward(inputs=[T.tensor(1.0)])


def test_04_05_unreachable_is_silent(leaf: Any) -> None:
    x, far = leaf(), leaf()
    (x * x).sum().backward(inputs=[x, far])
    assert x.grad.tolist() == [2.0, 4.0]
    assert far.grad is None


def test_04_05_twice_counts_once(leaf: Any) -> None:
    x = leaf()
    (x * x).sum().backward(inputs=[x, x])
    assert x.grad.tolist() == [2.0, 4.0]
