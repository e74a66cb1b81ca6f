"""§18.4: vmap and gradients: those that pass through it, and those taken for each sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def grid(T: Any) -> Any:
    """Two samples of three numbers."""
    return T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=T.float64)


def same(T: Any, got: Any, wanted: Any) -> None:
    """Equal shapes and close values."""
    assert tuple(got.shape) == tuple(wanted.shape)
    assert T.allclose(got, wanted, rtol=1e-10, atol=1e-12)


def test_18_04_gradients_pass_through(T: Any, leaf: Any) -> None:
    x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=T.float64)
    w = leaf([1.0, -1.0, 0.5], dtype=T.float64)

    def f(x: Any, w: Any) -> Any:
        assert not x.requires_grad
        assert x.is_leaf
        return (x * w).tanh()[1:].sum() + x @ w

    mapped = T.vmap(f, in_dims=(0, None))(x, w)
    looped = T.stack([(r * w).tanh()[1:].sum() + r @ w for r in x])
    same(T, mapped.detach(), looped.detach())
    for got, wanted in zip(
        T.autograd.grad(mapped.sum(), [x, w]), T.autograd.grad(looped.sum(), [x, w]), strict=True
    ):
        same(T, got, wanted)
    assert not T.vmap(lambda r: r.detach() * 2)(x).requires_grad


def test_18_04_transforms_say_what_is_differentiated(T: Any, grid: Any, raises: Any) -> None:
    with raises(
        RuntimeError,
        "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* "
        "APIs) inside of a function being transformed by a functorch transform. This is unsupported, please "
        "attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call "
        "requires_grad_() outside of a function being transformed instead.",
    ):
        T.vmap(lambda x: x.requires_grad_())(grid)
    for run in (lambda x: x.sum().backward(), lambda x: T.autograd.backward(x.sum())):
        with raises(
            RuntimeError,
            "backward() called inside a functorch transform. This is not supported, please use "
            "functorch.grad or functorch.vjp instead or call backward() outside of functorch transforms.",
        ):
            T.vmap(run)(grid)
    with raises(RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn"):
        T.vmap(lambda x: T.autograd.grad(x.sum(), x))(grid)


def network(T: Any) -> tuple[Callable[..., Any], tuple[Any, ...], Any, Any]:
    """Loss of one sample, parameters, inputs and targets of a small classifier."""
    T.manual_seed(0)

    def values(*shape: int) -> Any:
        n = 1
        for s in shape:
            n *= s
        return (T.arange(1, n + 1, dtype=T.float64) * 0.7).sin().reshape(shape)

    params = (values(5, 3), values(5), values(4, 5), values(4))

    def loss(params: Any, x: Any, target: Any) -> Any:
        w1, b1, w2, b2 = params
        functional = T.nn.functional
        hidden = functional.linear(x, w1, b1).tanh()
        return functional.cross_entropy(functional.linear(hidden, w2, b2), target)

    return loss, params, values(6, 3), T.tensor([0, 3, 1, 1, 2, 0])


def test_18_04_gradients_of_each_sample(T: Any) -> None:
    loss, params, x, target = network(T)
    each = T.vmap(T.func.grad(loss), in_dims=(None, 0, 0))
    for _ in range(3):
        found = each(params, x, target)
    leaves = tuple(p.clone().requires_grad_() for p in params)
    for i in range(6):
        alone = T.autograd.grad(loss(leaves, x[i], target[i]), leaves)
        for both, one in zip(found, alone, strict=True):
            assert T.allclose(both[i], one, rtol=1e-5, atol=1e-9)
    assert not any(g.requires_grad for g in found)


def test_18_04_gradients_of_each_sample_are_those_of_the_oracle(torch: Any, T: Any) -> None:
    loss, params, x, target = network(T)
    found = T.vmap(T.func.grad(loss), in_dims=(None, 0, 0))(params, x, target)
    theirs, *given = network(torch)
    wanted = torch.vmap(torch.func.grad(theirs), in_dims=(None, 0, 0))(*given)
    for g, w in zip(found, wanted, strict=True):
        assert g.detach().numpy() == pytest.approx(w.numpy(), rel=1e-5, abs=1e-9)


def test_18_04_gradients_of_gradients_of_each_sample(T: Any) -> None:
    """grad(vmap(grad(f))): the pass inside is part of the graph outside."""
    loss, params, x, target = network(T)
    leaves = tuple(p.clone().requires_grad_() for p in params)
    each = T.vmap(T.func.grad(loss), in_dims=(None, 0, 0))(leaves, x, target)
    norm = sum((g * g).sum() for g in each)
    total = None
    for i in range(6):
        alone = T.autograd.grad(loss(leaves, x[i], target[i]), leaves, create_graph=True)
        part = sum((g * g).sum() for g in alone)
        total = part if total is None else total + part
    for got, wanted in zip(T.autograd.grad(norm, leaves), T.autograd.grad(total, leaves), strict=True):
        same(T, got, wanted)


REFUSED = (
    "You are attempting to call Tensor.{}() {}inside of a function being transformed by a functorch "
    "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, "
    "jacfwd, hessian) or call {}() outside of a function being transformed instead."
)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.parametrize("name", ["grad", "jacrev", "vjp", "jvp"])
def test_18_02_transforms_say_what_is_differentiated(T: Any, leaf: Any, raises: Any, name: str) -> None:
    x = leaf()

    def transformed(f: Any) -> None:
        if name == "jvp":
            T.func.jvp(f, (x.detach(),), (x.detach(),))
        elif name == "vjp":
            T.func.vjp(f, x.detach())
        else:
            getattr(T.func, name)(f)(x.detach())

    also = "(or perhaps using torch.autograd.functional.* APIs) "
    for run in (
        lambda x: (x * T.ones(2).requires_grad_()).sum(),
        lambda x: x.requires_grad_(False).sum(),
        lambda x: T.autograd.functional.vjp(lambda y: y.sum(), x)[1].sum(),
    ):
        with raises(RuntimeError, REFUSED.format("requires_grad_", also, "requires_grad_")):
            transformed(run)
    if name != "jvp":
        with raises(RuntimeError, REFUSED.format("retain_grad", "", "retain_grad")):
            transformed(lambda x: ((x * 2).retain_grad(), x.sum())[1])
    for run in (lambda x: (x.sum().backward(), x.sum())[1], lambda x: T.autograd.backward(x.sum())):
        with raises(
            RuntimeError,
            "backward() called inside a functorch transform. This is not supported, please use "
            "functorch.grad or functorch.vjp instead or call backward() outside of functorch transforms.",
        ):
            transformed(run)
    x.requires_grad_(False)
    assert x.grad is None


def test_18_02_parameters_may_be_made_within_a_transform(T: Any, leaf: Any) -> None:
    found = T.func.grad(lambda x: (x * T.nn.Parameter(T.ones(2)).detach()).sum())(leaf().detach())
    assert found.tolist() == [1.0, 1.0]
