"""§7: leaves, requires_grad, retain_grad."""

from __future__ import annotations

from typing import Any

import pytest

FIXED = (
    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
    "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
)


def test_07_01_a_leaf_has_no_grad_fn(T: Any, leaf: Any) -> None:
    x = leaf()
    assert x.is_leaf
    assert x.grad_fn is None
    assert not (x * 2).is_leaf
    assert (x * 2).grad_fn.name() == "MulBackward0"


def test_07_01_the_untracked_are_leaves(T: Any, leaf: Any) -> None:
    assert (T.ones(2) * 2).is_leaf
    assert (leaf() * 2).detach().is_leaf
    with T.no_grad():
        assert (leaf() * 2).is_leaf


def test_07_02_off_on_a_non_leaf(leaf: Any, raises: Any) -> None:
    y = leaf() * 2
    with raises(RuntimeError, FIXED):
        y.requires_grad_(False)
    with raises(RuntimeError, FIXED):
        y.requires_grad = False
    assert y.requires_grad


def test_07_02_on_is_no_change(leaf: Any) -> None:
    y = leaf() * 2
    assert y.requires_grad_() is y
    assert y.requires_grad_(True) is y
    assert y.requires_grad
    assert y.grad_fn.name() == "MulBackward0"


def test_07_03_only_floats_method(T: Any, raises: Any) -> None:
    with raises(RuntimeError, "only Tensors of floating point dtype can require gradients"):
        T.tensor([1]).requires_grad_()


def test_07_03_only_floats_attribute(T: Any, raises: Any) -> None:
    x = T.tensor([True])
    with raises(RuntimeError, "only Tensors of floating point and complex dtype can require gradients"):
        x.requires_grad = True


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_07_03_only_floats_constructor(T: Any, raises: Any, dtype: str) -> None:
    message = "Only Tensors of floating point and complex dtype can require gradients"
    with raises(RuntimeError, message):
        T.tensor([1], dtype=getattr(T, dtype), requires_grad=True)
    with raises(RuntimeError, message):
        T.zeros(2, dtype=getattr(T, dtype), requires_grad=True)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64", "complex128"])
def test_07_03_all_floats_and_complex(T: Any, dtype: str) -> None:
    x = T.zeros(2, dtype=getattr(T, dtype))
    assert x.requires_grad_() is x
    assert x.requires_grad
    x.requires_grad = False
    assert not x.requires_grad


def test_07_03_off_is_fine_for_integers(T: Any) -> None:
    x = T.tensor([1])
    assert x.requires_grad_(False) is x
    assert not x.requires_grad


def test_07_03_the_attribute_is_a_bool(leaf: Any, raises: Any) -> None:
    x = leaf()
    with raises(RuntimeError, "requires_grad must be a bool"):
        x.requires_grad = 1


def test_07_04_any_tracked_input_tracks_the_result(T: Any, leaf: Any) -> None:
    x, constant = leaf(), T.ones(2)
    assert (x + constant).requires_grad
    assert (constant + x).requires_grad
    assert not (constant + constant).requires_grad
    assert x.clone().requires_grad
    assert leaf([1j, 1.0]).clone().requires_grad
    with T.no_grad():
        assert not (x + constant).requires_grad


def test_07_04_what_is_not_differentiable(T: Any, leaf: Any) -> None:
    x = leaf()
    values, indices = x.max(dim=0)
    assert values.requires_grad
    assert not indices.requires_grad
    assert not x.argmax().requires_grad
    assert not (x > 1).requires_grad
    assert not (x == x).requires_grad
    assert not x.long().requires_grad


def test_07_04_what_only_takes_the_form(T: Any, leaf: Any) -> None:
    x = leaf()
    assert not T.ones_like(x).requires_grad
    assert not T.zeros_like(x).requires_grad
    assert not x.new_zeros(2).requires_grad
    assert not x.new_tensor([1.0]).requires_grad


def test_07_05_retain_grad(leaf: Any) -> None:
    x = leaf()
    y = x * 2
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad
    (y * y).sum().backward()
    assert y.grad.tolist() == [4.0, 8.0]


def test_07_05_it_accumulates_over_passes(leaf: Any) -> None:
    y = leaf() * 2
    y.retain_grad()
    z = (y + y).sum()
    z.backward(retain_graph=True)
    z.backward()
    assert y.grad.tolist() == [4.0, 4.0]


def test_07_05_no_change_on_leaves(leaf: Any) -> None:
    x = leaf()
    x.retain_grad()
    assert not x.retains_grad
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_07_05_requires_grad_is_needed(T: Any, raises: Any) -> None:
    with raises(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"):
        T.ones(2).retain_grad()


def test_07_06_a_cast_to_integers_cuts(leaf: Any, raises: Any) -> None:
    y = (leaf() * 2).long().sum()
    with raises(RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn"):
        y.backward()


def test_07_04_indices_of_a_sort(T: Any, leaf: Any) -> None:
    values, indices = T.sort(leaf())
    assert values.requires_grad
    assert not indices.requires_grad
    assert not T.argsort(leaf()).requires_grad


def test_07_05_a_view_of_no_grad_is_a_leaf(T: Any, leaf: Any) -> None:
    y = leaf([[1.0, 2.0]]) * 1
    with T.no_grad():
        view = y[0]
    y.mul_(2)
    view.retain_grad()
    assert not view.retains_grad


def test_07_02_the_attribute_is_for_leaves(leaf: Any, raises: Any) -> None:
    y = leaf() * 2
    with raises(RuntimeError, "you can only change requires_grad flags of leaf variables."):
        y.requires_grad = True


@pytest.mark.parametrize(("flag", "kind"), [(1, "int"), ("a", "str"), (None, "NoneType"), ([], "list")])
def test_07_03_the_flag_is_a_bool(T: Any, leaf: Any, raises: Any, flag: Any, kind: str) -> None:
    x = leaf()
    message = "{}(): argument 'requires_grad'{} must be bool, not " + kind
    with raises(TypeError, message.format("requires_grad_", " (position 1)")):
        x.requires_grad_(flag)
    with raises(TypeError, message.format("tensor", "")):
        T.tensor([1.0], requires_grad=flag)
    if flag is not None:
        with raises(TypeError, message.format("zeros", "")):
            T.zeros(2, requires_grad=flag)
    assert x.requires_grad is True
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.filterwarnings("ignore:To copy construct")
def test_07_04_a_new_tensor_of_a_tensor(T: Any, leaf: Any) -> None:
    x = leaf()
    y = T.ones(1, dtype=T.float64).new_tensor(x)
    assert not y.requires_grad
    assert y.dtype == T.float64
    assert y.tolist() == [1.0, 2.0]
    assert T.ones(1).new_tensor(x, requires_grad=True).requires_grad


def test_07_05_what_is_retained_is_a_contiguous_copy(T: Any) -> None:
    x = T.ones(2, 3, requires_grad=True)
    y = x.t()
    y.retain_grad()
    y.t().exp().sum().backward()
    assert y.stride() == (1, 3)
    assert y.grad.stride() == (2, 1)


@pytest.mark.filterwarnings("ignore:Using backward")
def test_07_05_a_recorded_pass_retains_a_clone(leaf: Any) -> None:
    y = leaf() * 2
    y.retain_grad()
    (y * y).sum().backward(create_graph=True)
    assert y.grad.grad_fn.name() == "CloneBackward0"


def test_07_05_it_follows_a_view_whose_base_changes(leaf: Any) -> None:
    y = leaf() * 2
    v = y.view(2)
    v.retain_grad()
    y.mul_(2)
    v.sum().backward()
    assert v.retains_grad
    assert v.grad.tolist() == [1.0, 1.0]


def test_07_01_asked_of_a_view_that_may_not_be_rebuilt(T: Any, leaf: Any, raises: Any) -> None:
    y = T.ones(2)
    with T.no_grad():
        view = y[:1]
    several = leaf().clone()
    first, _ = several.unbind(0)
    y.mul_(leaf())
    several.mul_(2)
    for ask in (lambda t: t.is_leaf, lambda t: t.grad_fn):
        with raises(RuntimeError, "A view was created in no_grad mode and its base or another view of its…"):
            ask(view)
        with raises(RuntimeError, "Output 0 of Unbind is a view and its base or another view of its base…"):
            ask(first)
    assert view.requires_grad
    assert repr(view) == "tensor([1.], grad_fn=<Invalid>)"
