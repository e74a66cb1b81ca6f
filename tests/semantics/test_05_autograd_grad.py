"""§5: autograd.grad."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

UNUSED = (
    "The differentiated Tensor at index {} appears to not have been used in the graph. "
    "Set allow_unused=True if this is the desired behavior."
)
UNTRACKED = "One of the differentiated Tensors does not require grad"


def test_05_01_signature(T: Any) -> None:
    parameters = inspect.signature(T.autograd.grad).parameters
    assert {name: one.default for name, one in parameters.items()} == {
        "outputs": inspect.Parameter.empty,
        "inputs": inspect.Parameter.empty,
        "grad_outputs": None,
        "retain_graph": None,
        "create_graph": False,
        "only_inputs": True,
        "allow_unused": None,
        "is_grads_batched": False,
        "materialize_grads": False,
    }


def test_05_01_always_a_tuple_and_never_into_grad(T: Any, leaf: Any) -> None:
    x = leaf()
    gradients = T.autograd.grad((x * x).sum(), x)
    assert type(gradients) is tuple
    assert [one.tolist() for one in gradients] == [[2.0, 4.0]]
    assert x.grad is None


def test_05_01_grad_outputs_are_one_or_several(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x * x
    (one,) = T.autograd.grad(y, x, T.tensor([1.0, 10.0]), True)
    (several,) = T.autograd.grad([y], [x], grad_outputs=[T.tensor([1.0, 10.0])])
    assert one.tolist() == several.tolist() == [2.0, 40.0]


def test_05_01_create_graph(T: Any, leaf: Any) -> None:
    x = leaf()
    (first,) = T.autograd.grad((x * x * x).sum(), x, create_graph=True)
    assert first.requires_grad
    (second,) = T.autograd.grad(first.sum(), x)
    assert second.tolist() == [6.0, 12.0]
    assert not second.requires_grad


def test_05_02_unreachable_input(T: Any, leaf: Any, raises: Any) -> None:
    x, far = leaf(), leaf()
    y = (x + x).sum()
    with raises(RuntimeError, UNUSED.format(1)):
        T.autograd.grad(y, [x, far])
    with raises(RuntimeError, UNUSED.format(0)):
        T.autograd.grad(y, [far], allow_unused=False)
    assert T.autograd.grad(y, [x, far], allow_unused=True)[1] is None


def test_05_03_materialize_grads(T: Any, leaf: Any) -> None:
    x, far = leaf(), leaf([[1.0, 2.0]], dtype=T.float64)
    first, second = T.autograd.grad((x * x).sum(), [x, far], materialize_grads=True)
    assert first.tolist() == [2.0, 4.0]
    assert second.tolist() == [[0.0, 0.0]]
    assert second.dtype == T.float64
    assert not second.requires_grad


def test_05_03_not_beside_allow_unused_false(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    y = (x * x).sum()
    message = (
        "Expected allow_unused to be True or not passed when materialize_grads=True, "
        "but got: allow_unused=False."
    )
    with raises(ValueError, message):
        T.autograd.grad(y, x, allow_unused=False, materialize_grads=True)


@pytest.mark.parametrize("options", [{}, {"allow_unused": True}, {"materialize_grads": True}])
def test_05_04_inputs_require_grad(T: Any, leaf: Any, raises: Any, options: dict[str, bool]) -> None:
    y = (leaf() * 2).sum()
    with raises(RuntimeError, UNTRACKED):
        T.autograd.grad(y, [T.tensor(1.0)], **options)


def test_05_05_inputs_are_not_empty(T: Any, leaf: Any, raises: Any) -> None:
    with raises(RuntimeError, "`inputs` argument to `grad()` cannot be empty."):
        T.autograd.grad(leaf(1.0) * 2, [])


def test_05_06_outputs_are_summed(T: Any, leaf: Any) -> None:
    x = leaf(3.0)
    (gradient,) = T.autograd.grad([x * x, x * 5], x)
    assert gradient.item() == 11.0


def test_05_06_same_input_twice(T: Any, leaf: Any) -> None:
    x = leaf(3.0)
    first, second = T.autograd.grad(x * x, [x, x])
    assert first is second
    assert first.item() == 6.0


def test_05_06_a_cotangent_comes_back_as_it_was_given(T: Any, leaf: Any) -> None:
    x, y = leaf(), leaf()
    for g in (T.ones(2), T.ones(2, requires_grad=True), T.ones(2, requires_grad=True) * 2):
        assert T.autograd.grad(x, x, g)[0] is g
        first, second = T.autograd.grad(x + y, [x, y], g)
        assert first is second is g
        assert first.tolist() == g.tolist()
    g = T.ones(2)
    T.autograd.grad(x, x, g)[0].add_(1)
    assert g.tolist() == [2.0, 2.0]
    x.backward(g)
    assert x.grad is not g


def test_05_06_by_itself_is_one(T: Any, leaf: Any) -> None:
    x = leaf(3.0)
    assert T.autograd.grad(x, x)[0].item() == 1.0
    y = x * 2
    assert T.autograd.grad(y, y)[0].item() == 1.0


def test_05_06_leaves_and_intermediates_mix(T: Any, leaf: Any) -> None:
    x = leaf(3.0)
    y = x * 2
    by_x, by_y = T.autograd.grad(y * y, [x, y])
    assert (by_x.item(), by_y.item()) == (24.0, 12.0)


def test_05_07_a_later_view_is_not_part_of_the_graph(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    y = (x * x).sum()
    with raises(RuntimeError, UNUSED.format(0)):
        T.autograd.grad(y, x.view(2))
    with raises(RuntimeError, UNTRACKED):
        T.autograd.grad(y, x.detach())


def test_05_08_only_inputs_is_ignored(T: Any, leaf: Any, warns: Any) -> None:
    x = leaf()
    message = (
        "only_inputs argument is deprecated and is ignored now (defaults to True). "
        "To accumulate gradient for other parts of the graph, please use torch.autograd.backward."
    )
    with warns(FutureWarning, message):
        (gradient,) = T.autograd.grad((x * x).sum(), x, only_inputs=False)
    assert gradient.tolist() == [2.0, 4.0]
    assert x.grad is None


def test_05_10_retained_intermediates_on_the_way_are_filled(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x * 2
    y.retain_grad()
    (gradient,) = T.autograd.grad((y * y).sum(), x)
    assert gradient.tolist() == [8.0, 16.0]
    assert y.grad.tolist() == [4.0, 8.0]
    assert x.grad is None


def test_05_09_grad_outputs_hold_a_batch(T: Any, leaf: Any) -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * x
    for _ in range(3):
        (jacobian,) = T.autograd.grad(y, x, T.eye(3), retain_graph=True, is_grads_batched=True)
        assert jacobian.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
        assert not jacobian.requires_grad
    (wide,) = T.autograd.grad(y, x, T.ones(2, 3, dtype=T.float64), is_grads_batched=True)
    assert wide.tolist() == [[2.0, 4.0, 6.0]] * 2
    assert wide.dtype == T.float32


def test_05_09_through_a_network(T: Any, leaf: Any) -> None:
    w = leaf([[1.0, -2.0, 0.5], [0.3, 4.0, -1.0]], dtype=T.float64)
    x = leaf([0.1, 0.2, -0.4], dtype=T.float64)
    seeds = T.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, -3.0]], dtype=T.float64)
    y = (T.cat([(w @ x).tanh(), x[1:]])[[0, 3]] * x[:2].exp()).softmax(0)
    batched = T.autograd.grad(y, [w, x], seeds, retain_graph=True, is_grads_batched=True)
    for i in range(3):
        one = T.autograd.grad(y, [w, x], seeds[i], retain_graph=True)
        for both, alone in zip(batched, one, strict=True):
            assert T.allclose(both[i], alone)


def test_05_09_create_graph(T: Any, leaf: Any) -> None:
    x = leaf([1.0, 2.0])
    (jacobian,) = T.autograd.grad(x * x * x, x, T.eye(2), create_graph=True, is_grads_batched=True)
    assert jacobian.requires_grad
    (second,) = T.autograd.grad(jacobian.sum(), x)
    assert second.tolist() == [6.0, 12.0]


def test_05_09_unused_inputs_have_no_batch(T: Any, leaf: Any, raises: Any) -> None:
    x, far = leaf([1.0, 2.0]), leaf([1.0])
    y = x * x
    how = {"retain_graph": True, "is_grads_batched": True}
    assert T.autograd.grad(y, [x, far], T.eye(2), allow_unused=True, **how)[1] is None
    assert T.autograd.grad(y, [x, far], T.eye(2), materialize_grads=True, **how)[1].tolist() == [0.0]
    with raises(RuntimeError, UNUSED.format(1)):
        T.autograd.grad(y, [x, far], T.eye(2), **how)


def test_05_09_the_graph_is_freed(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf([1.0, 2.0])
    y = x * x
    T.autograd.grad(y, x, T.eye(2), is_grads_batched=True)
    with raises(RuntimeError, "Trying to backward through the graph a second time …"):
        T.autograd.grad(y, x, T.eye(2), is_grads_batched=True)


def test_05_09_wrong_shapes(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * x
    message = (
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
        "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
        "output, but a mismatch was detected: grad_output[0] has a shape of torch.Size([]) and output[0] has "
        "a shape of torch.Size([3]). If you only want some tensors in `grad_output` to be considered "
        "batched, consider using vmap."
    )
    with raises(RuntimeError, message):
        T.autograd.grad(y, x, T.eye(4), is_grads_batched=True)
    with raises(IndexError, "invalid index of a 0-dim tensor. Use `tensor.item()` …"):
        T.autograd.grad(y.sum(), x, T.tensor(1.0), is_grads_batched=True)
    sizes = (
        "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes [3, 2] for the "
        "mapped dimension"
    )
    with raises(ValueError, sizes):
        T.autograd.grad([y, x.exp()], x, [T.eye(3), T.ones(2, 3)], is_grads_batched=True)


def test_05_09_none_is_no_batch(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf([1.0, 2.0, 3.0])
    message = (
        "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of "
        "dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
    )
    with raises(ValueError, message):
        T.autograd.grad(x.sum(), x, is_grads_batched=True)
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs"):
        T.autograd.grad(x * x, x, is_grads_batched=True)


def test_05_06_outputs_may_be_edges(T: Any, leaf: Any) -> None:
    x = leaf()
    edge = T.autograd.graph.get_gradient_edge(x.exp().sum() * 0 + (x * x).sum())
    (g,) = T.autograd.grad([edge, x.sum()], x, create_graph=True)
    assert g.tolist() == [3.0, 5.0]
    (second,) = T.autograd.grad(g.sum(), x)
    assert second.tolist() == [2.0, 2.0]


def test_05_09_an_empty_batch(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    for hooked in (False, True):
        if hooked:
            x.register_hook(lambda g: g)
        with raises(IndexError, "index 0 is out of bounds for dimension 0 with size 0"):
            T.autograd.grad(x * 2, x, T.ones(0, 2), is_grads_batched=True)
