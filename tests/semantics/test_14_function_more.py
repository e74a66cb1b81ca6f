"""§14.11-14.13: once_differentiable, setup_context, and Functions among hooks and transforms."""

from __future__ import annotations

from typing import Any


def square(T: Any) -> Any:
    """x * x, with a backward of its own."""

    class Square(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * g

    return Square


def given(T: Any, backward: Any, forward: Any = None, name: str = "Given") -> Any:
    """A Function of one argument made of two functions."""
    members = {
        "forward": staticmethod(forward or (lambda ctx, x: x * 1)),
        "backward": staticmethod(backward),
    }
    return type(name, (T.autograd.Function,), members)


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
