"""§14.12-14.13: autograd.Function in forward mode and in transforms."""

from __future__ import annotations

from typing import Any

import pytest

# What the oracle says when it makes its first dual tensor.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")


@pytest.fixture
def fw(T: Any) -> Any:
    """The module of forward mode."""
    return T.autograd.forward_ad


def made(T: Any, forward: Any, jvp: Any) -> Any:
    """A Function of one argument."""
    return type("F", (T.autograd.Function,), {"forward": staticmethod(forward), "jvp": staticmethod(jvp)})


def product(T: Any) -> Any:
    """The product of two tensors, with an integer beside them, and its first factor plus one."""

    class Product(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any, y: Any, n: int) -> Any:
            return x * y, x + 1

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            x, y, _ = inputs
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(x, y)

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            x, y = ctx.saved_tensors
            return g * y + h, g * x, None

        @staticmethod
        def jvp(ctx: Any, x_t: Any, y_t: Any, n: Any) -> Any:
            assert n is None
            x, y = ctx.saved_tensors
            return x_t * y + x * y_t, x_t

    return Product


def test_14_13_jvp_makes_the_tangents(T: Any, fw: Any, leaf: Any) -> None:
    x, y, t = T.tensor([2.0, 2.0]), T.tensor([3.0, 3.0]), T.tensor([1.0, 10.0])
    with fw.dual_level():
        found = product(T).apply(fw.make_dual(x, t), y, 5)
        assert [fw.unpack_dual(o).tangent.tolist() for o in found] == [[3.0, 30.0], [1.0, 10.0]]
        found = product(T).apply(x, fw.make_dual(y, t), 5)
        assert [fw.unpack_dual(o).tangent.tolist() for o in found] == [[2.0, 20.0], [0.0, 0.0]]
        tracked = leaf([2.0, 2.0])
        out = fw.unpack_dual(product(T).apply(fw.make_dual(tracked, t), y, 5)[0])
        assert out.primal.requires_grad
        (2 * out.primal).sum().backward()
        assert tracked.grad.tolist() == [6.0, 6.0]


def test_14_13_forward_sees_no_tangents(T: Any, fw: Any) -> None:
    seen = []

    def forward(ctx: Any, x: Any) -> Any:
        seen.append(fw.unpack_dual(x).tangent)
        return x * 2

    with fw.dual_level():
        dual = fw.make_dual(T.tensor([1.0]), T.tensor([1.0]))
        out = made(T, forward, lambda ctx, t: t * 7).apply(dual)
        assert seen == [None]
        assert fw.unpack_dual(out).tangent.tolist() == [7.0]
        assert fw.unpack_dual(dual).tangent.tolist() == [1.0]


def test_14_13_no_jvp(T: Any, fw: Any, raises: Any) -> None:
    class F(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

    with fw.dual_level():
        dual = fw.make_dual(T.tensor([1.0]), T.tensor([1.0]))
        with raises(
            NotImplementedError,
            "You must implement the jvp function for custom autograd.Function to use it with forward mode "
            "AD.",
        ):
            F.apply(dual)
        assert fw.unpack_dual(dual * 3).tangent.tolist() == [3.0]


REFUSED = {
    "count": (
        lambda ctx, t: (t, t),
        "Function's jvp returned an invalid number of forward gradients (expected 1 but got 2)",
    ),
    "type": (lambda ctx, t: 3.0, "expected Variable or None (got float) for grad output 0."),
    "shape": (
        lambda ctx, t: t[:1],
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this "
        "is not supported. Tensor is of size [2] while the given forward gradient is of size [1].",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_14_13_what_jvp_may_return(T: Any, fw: Any, raises: Any, case: str) -> None:
    jvp, message = REFUSED[case]
    with fw.dual_level():
        dual = fw.make_dual(T.ones(2), T.ones(2))
        with raises(RuntimeError, message):
            made(T, lambda ctx, x: x * 2, jvp).apply(dual)


def test_14_13_writes_and_views_have_tangents_that_are(T: Any, fw: Any, raises: Any) -> None:
    def write(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    view = (
        "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a "
        "view."
    )
    with fw.dual_level():
        dual = fw.make_dual(T.ones(2), T.ones(2))
        with raises(
            RuntimeError,
            "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward "
            "is modifying an input inplace, then the jvp function must modify the corresponding gradient "
            "inplace.",
        ):
            made(T, write, lambda ctx, t: t * 2).apply(dual)
        out = made(T, write, lambda ctx, t: t.mul_(3)).apply(dual)
        assert out is dual
        assert fw.unpack_dual(dual).tangent.tolist() == [3.0, 3.0]
        with raises(RuntimeError, view):
            made(T, lambda ctx, x: x.view(2), lambda ctx, t: t * 2).apply(dual)
        with raises(RuntimeError, view):
            made(T, lambda ctx, x: x, lambda ctx, t: t * 2).apply(dual)
        out = made(T, lambda ctx, x: x.view(2, 1), lambda ctx, t: t.view(2, 1)).apply(dual)
        assert fw.unpack_dual(out).tangent.tolist() == [[3.0], [3.0]]


def test_14_13_constant_outputs_have_none(T: Any, fw: Any, raises: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        out = x * 2
        ctx.mark_non_differentiable(out)
        return out

    with (
        fw.dual_level(),
        raises(
            RuntimeError,
            "Function's jvp returned a gradient at position 0, but  the corresponding forward output is not "
            "a differentiable Tensor.You should return None at that position instead.",
        ),
    ):
        made(T, forward, lambda ctx, t: t).apply(fw.make_dual(T.ones(2), T.ones(2)))


def test_14_12_transforms_want_setup_context(T: Any, raises: Any) -> None:
    F = made(T, lambda ctx, x: x * 2, lambda ctx, t: t * 2)
    x = T.ones(2)
    for run in (
        lambda: T.func.grad(lambda x: F.apply(x).sum())(x),
        lambda: T.func.jvp(F.apply, (x,), (x,)),
        lambda: T.func.vjp(F.apply, x),
        lambda: T.func.jacrev(F.apply)(x),
    ):
        with raises(
            RuntimeError,
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), "
            "it must override the setup_context staticmethod. For more details, please see "
            "https://pytorch.org/docs/main/notes/extending.func.html",
        ):
            run()


def test_14_12_functions_in_transforms(T: Any) -> None:
    F = product(T)
    x, y, t = T.tensor([2.0, 5.0]), T.tensor([3.0, 4.0]), T.tensor([1.0, 10.0])
    assert T.func.grad(lambda x: F.apply(x, y, 0)[0].sum())(x).tolist() == [3.0, 4.0]
    assert T.func.grad(lambda x: F.apply(x, x, 0)[0].sum())(x).tolist() == [4.0, 10.0]
    assert T.func.jvp(lambda x: F.apply(x, x, 0)[0], (x,), (t,))[1].tolist() == [4.0, 100.0]
    found = T.func.jvp(T.func.grad(lambda x: F.apply(x, x, 0)[0].sum()), (x,), (t,))
    assert [o.tolist() for o in found] == [[4.0, 10.0], [2.0, 20.0]]
