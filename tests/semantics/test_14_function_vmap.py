"""§14.12: autograd.Function within vmap: its own staticmethod, a generated rule, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


@pytest.fixture
def product(T: Any) -> Any:
    """``x * y + n``, with a backward that is no derivative, so that one sees which is used."""

    class Product(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(x: Any, y: Any, n: float) -> Any:
            return x * y + n

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.save_for_backward(*inputs[:2])
            ctx.factor = 10

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return g * y * ctx.factor, g * x * ctx.factor, None

    return Product


def test_14_12_setup_context_is_required(T: Any, raises: Any) -> None:
    class Old(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

    message = (
        "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it "
        f"must override the setup_context staticmethod. {MORE}"
    )
    with raises(RuntimeError, message):
        T.vmap(Old.apply)(T.ones(2, 3))


def test_14_12_no_vmap_support(T: Any, product: Any, raises: Any) -> None:
    message = (
        "You tried to vmap over Product, but it does not have vmap support. Please override and implement "
        f"the vmap staticmethod or set generate_vmap_rule=True. {MORE}"
    )
    with raises(RuntimeError, message):
        T.vmap(lambda x: product.apply(x, x, 1.0))(T.ones(2, 3))


def test_14_12_not_both(T: Any, product: Any, raises: Any) -> None:
    product.generate_vmap_rule = True
    product.vmap = staticmethod(lambda info, in_dims, *args: (args[0], 0))
    message = (
        "You tried to vmap over Product, but it has both generate_vmap_rule=True and an overridden vmap "
        "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to "
        f"avoid ambiguity. {MORE}"
    )
    with raises(RuntimeError, message):
        T.vmap(lambda x: product.apply(x, x, 1.0))(T.ones(2, 3))


def test_14_12_the_staticmethod_gives_two_things(T: Any, product: Any, raises: Any) -> None:
    product.vmap = staticmethod(lambda info, in_dims, *args: args[0])
    message = (
        "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
        "compatible with the output. Got a <class '…Tensor'> instead"
    )
    with raises(RuntimeError, message):
        T.vmap(lambda x: product.apply(x, x, 1.0))(T.ones(2, 3))


@pytest.mark.parametrize("rule", ["generated", "own"])
def test_14_12_a_rule(T: Any, product: Any, rule: str) -> None:
    seen: list[Any] = []

    def mapped(info: Any, in_dims: Any, x: Any, y: Any, n: float) -> Any:
        seen.append((info.batch_size, info.randomness, in_dims))
        return product.apply(x, y, n), 0

    if rule == "own":
        product.vmap = staticmethod(mapped)
    else:
        product.generate_vmap_rule = True
    x = T.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    y = T.tensor([10.0, 20.0])
    found = T.vmap(lambda a: product.apply(a, y, 1.0))(x)
    assert found.tolist() == [[11.0, 41.0], [31.0, 81.0], [51.0, 121.0]]
    assert seen == ([(3, "error", (0, None, None))] if rule == "own" else [])

    inside = T.vmap(T.func.grad(lambda a: product.apply(a, y, 1.0).sum()))(x)
    assert inside.tolist() == [[100.0, 200.0]] * 3

    x, y = x.requires_grad_(), y.requires_grad_()
    total = T.vmap(lambda a: product.apply(a, y, 1.0))(x).sum()
    by_x, by_y = T.autograd.grad(total, [x, y])
    assert by_x.tolist() == [[100.0, 200.0]] * 3
    assert by_y.tolist() == [90.0, 120.0]


def test_14_12_what_is_the_same_for_all(T: Any, product: Any) -> None:
    def never(*args: Any) -> Any:
        raise AssertionError("there are no samples")

    product.vmap = staticmethod(never)
    x, y = T.tensor([1.0, 2.0]), T.tensor([10.0, 20.0])
    found = T.vmap(lambda a: product.apply(x, y, 1.0) + a)(T.zeros(2, 2))
    assert found.tolist() == [[11.0, 41.0]] * 2
