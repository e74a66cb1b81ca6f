"""§14.11-14.13: once_differentiable, setup_context, and Functions among hooks and transforms."""

from __future__ import annotations

from typing import Any

import pytest

from tests.semantics.functions import given, square

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")


def _once(T: Any) -> Any:
    class Once(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @T.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * g

    return Once


def test_14_11_once_differentiable_with_a_constant_cotangent(T: Any, leaf: Any) -> None:
    x = leaf()
    (g,) = T.autograd.grad(_once(T).apply(x).sum(), x, create_graph=True)
    assert g.tolist() == [2.0, 4.0]
    assert not g.requires_grad


def test_14_11_once_differentiable_with_a_tracked_one(T: Any, leaf: Any, raises: Any) -> None:
    x, v = leaf(), leaf([1.0, 1.0])
    (g,) = T.autograd.grad(_once(T).apply(x), x, v, create_graph=True)
    assert g.requires_grad
    with raises(
        RuntimeError, "The differentiated Tensor at index 0 appears to not have been used in the graph. …"
    ):
        T.autograd.grad(g.sum(), x, retain_graph=True)
    message = "trying to differentiate twice a function that was marked with @once_differentiable"
    with raises(RuntimeError, message):
        g.sum().backward()


def test_14_12_setup_context(T: Any, leaf: Any) -> None:
    class Cube(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any, k: float) -> Any:
            return x**3 * k

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            x, ctx.k = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g * ctx.k, None

    x = leaf()
    Cube.apply(x, 2.0).sum().backward()
    assert x.grad.tolist() == [6.0, 24.0]


def test_14_hooks_of_its_node(T: Any, leaf: Any) -> None:
    seen: list[str] = []
    x = leaf()
    y = square(T).apply(x)
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_prehook(lambda outputs: seen.append("prehook"))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append("posthook"))
    y.sum().backward()
    assert seen == ["tensor", "prehook", "posthook"]


def test_14_side_effects_happen_once(T: Any, leaf: Any, capsys: Any) -> None:
    def backward(ctx: Any, g: Any) -> Any:
        print("backward", g.tolist())
        return g

    for _ in range(2):
        given(T, backward).apply(leaf()).sum().backward()
    assert capsys.readouterr().out == "backward [1.0, 1.0]\n" * 2


def _doubled(T: Any, **members: Any) -> Any:
    """2 * x with setup_context; `members` come on top."""

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])

    given = {
        "forward": staticmethod(lambda x: x * 2),
        "setup_context": staticmethod(setup),
        "backward": staticmethod(lambda ctx, g: g * 2),
        **members,
    }
    return type("Doubled", (T.autograd.Function,), given)


def test_14_12_under_transforms_forward_takes_no_ctx(T: Any, raises: Any) -> None:
    f = given(T, lambda ctx, g: g)
    x = T.tensor([1.0, 2.0])
    message = (
        "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it "
        "must override the setup_context staticmethod. …"
    )
    for transformed in (
        lambda: T.func.grad(lambda a: f.apply(a).sum())(x),
        lambda: T.vmap(f.apply)(x),
        lambda: T.func.jvp(f.apply, (x,), (x,)),
    ):
        with raises(RuntimeError, message):
            transformed()


def test_14_12_reverse_transforms(T: Any) -> None:
    f, x = _doubled(T), T.tensor([1.0, 2.0])
    assert T.func.grad(lambda a: f.apply(a).sum())(x).tolist() == [2.0, 2.0]
    assert T.func.jacrev(f.apply, chunk_size=1)(x).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_14_12_vmap_needs_a_rule(T: Any, raises: Any) -> None:
    x = T.tensor([1.0, 2.0])
    with raises(RuntimeError, "You tried to vmap over Doubled, but it does not have vmap support. …"):
        T.vmap(_doubled(T).apply)(x)
    both = _doubled(T, generate_vmap_rule=True, vmap=staticmethod(lambda info, in_dims, x: (x, 0)))
    message = (
        "You tried to vmap over Doubled, but it has both generate_vmap_rule=True and an overridden vmap "
        "staticmethod. …"
    )
    with raises(RuntimeError, message):
        T.vmap(both.apply)(x)
    alone = _doubled(T, vmap=staticmethod(lambda info, in_dims, x: x))
    message = (
        "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure …"
    )
    with raises(RuntimeError, message):
        T.vmap(alone.apply)(x)


def test_14_12_a_generated_rule(T: Any) -> None:
    f, x = _doubled(T, generate_vmap_rule=True), T.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert T.vmap(f.apply)(x).tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert T.vmap(T.func.grad(lambda a: f.apply(a).sum()))(x).tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_14_12_a_rule_of_its_own(T: Any) -> None:
    seen: list[Any] = []

    def rule(info: Any, in_dims: Any, x: Any) -> Any:
        seen.append((info.batch_size, info.randomness, in_dims, tuple(x.shape)))
        return x * 2, in_dims[0]

    f, x = _doubled(T, vmap=staticmethod(rule)), T.tensor([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]])
    assert T.vmap(f.apply)(x).tolist() == [[2.0, 4.0, 10.0], [6.0, 8.0, 12.0]]
    assert seen == [(2, "error", (0,), (2, 3))]


def test_14_13_jvp(T: Any) -> None:
    class Product(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any, k: float) -> Any:
            ctx.k = k
            ctx.save_for_forward(x, y)
            return x * y * k, x + 1

        @staticmethod
        def jvp(ctx: Any, tx: Any, ty: Any, tk: Any) -> Any:
            x, y = ctx.saved_tensors
            assert tk is None
            return ctx.k * (tx * y + x * ty), tx

    fw = T.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(T.tensor([1.0, 2.0]), T.ones(2))
        first, second = Product.apply(dual, T.tensor([3.0, 4.0]), 2.0)
        assert fw.unpack_dual(first).tangent.tolist() == [6.0, 8.0]
        assert fw.unpack_dual(second).tangent.tolist() == [1.0, 1.0]
        assert fw.unpack_dual(second).primal.tolist() == [2.0, 3.0]


def test_14_13_no_jvp(T: Any, raises: Any) -> None:
    f, fw = given(T, lambda ctx, g: g), T.autograd.forward_ad
    message = (
        "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
    )
    with fw.dual_level():
        dual = fw.make_dual(T.ones(2), T.ones(2))
        with raises(NotImplementedError, message):
            f.apply(dual)
