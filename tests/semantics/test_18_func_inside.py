"""§18: what a transformed function may do inside: scatter in its backward, write in place, differentiate what
was computed outside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

CAPTURED = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place "
    "operation ({}) that would mutate a captured Tensor. This is not supported; please rewrite the function "
    "being transformed to explicitly accept the mutated Tensor(s) as inputs."
)
ESCAPED = (
    "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
    "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in …"
)
HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with "
    "your use case."
)

# What the oracle says when it makes its first dual tensor, and where it loops.
pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
]


def scattering(T: Any) -> dict[str, Callable[[Any], Any]]:
    """Functions of five numbers whose backward adds into places."""
    F = T.nn.functional
    i, one = T.tensor([0, 1, 1]), T.tensor([2])
    return {
        "gather": lambda x: x.gather(0, i),
        "take": lambda x: T.take(x, i),
        "index_select": lambda x: x.index_select(0, i),
        "index": lambda x: x[i],
        "embedding": lambda x: F.embedding(i, x.view(5, 1)) ** 2,
        "cross_entropy": lambda x: F.cross_entropy(x.view(1, 5), one),
        "nll_loss": lambda x: F.nll_loss(x.view(1, 5).log_softmax(1), one),
        "sort": lambda x: x.sort(descending=True)[0] ** 2,
        "topk": lambda x: x.topk(2)[0] ** 2,
        "kthvalue": lambda x: x.kthvalue(2)[0] ** 2,
        "cummax": lambda x: x.cummax(0)[0] ** 2,
        "mode": lambda x: x.mode()[0] ** 2,
        "index_put": lambda x: (x * x).index_put((i[:2],), x[1:3] * 2),
        "index_put, added": lambda x: (x * x).index_put((i,), x[:3] * 2, True),
        "pdist": lambda x: F.pdist(x.view(5, 1) ** 2),
        "max_pool1d": lambda x: F.max_pool1d((x * x).view(1, 1, 5), 2),
        "scatter_reduce": lambda x: T.zeros(2).scatter_reduce(0, i, x[:3] * x[1:4], "sum"),
    }


NAMES = (
    "gather", "take", "index_select", "index", "embedding", "cross_entropy", "nll_loss", "sort", "topk",
    "kthvalue", "cummax", "mode", "index_put", "index_put, added", "pdist", "max_pool1d", "scatter_reduce",
)  # fmt: skip


def rows(T: Any, f: Callable[[Any], Any], x: Any) -> Any:
    """The Jacobian, a pass for each row."""
    x = x.clone().requires_grad_()
    flat = f(x).reshape(-1)
    count = flat.numel()
    return T.stack([T.autograd.grad(flat[k], x, retain_graph=True)[0] for k in range(count)])


@pytest.mark.parametrize("name", NAMES)
def test_18_03_jacobians_of_what_scatters(T: Any, name: str) -> None:
    f = scattering(T)[name]
    x = T.tensor([1.0, 3.0, 2.0, 5.0, 4.0])
    wanted = rows(T, f, x)
    for transform in (T.func.jacrev,) if name == "pdist" else (T.func.jacrev, T.func.jacfwd):
        found = transform(f)(x).reshape(-1, 5)
        assert T.allclose(found, wanted), transform.__name__


@pytest.mark.parametrize("name", [n for n in NAMES if n != "pdist"])
def test_18_03_hessians_of_what_scatters(T: Any, name: str) -> None:
    f = scattering(T)[name]
    x = T.tensor([1.0, 3.0, 2.0, 5.0, 4.0])

    def total(x: Any) -> Any:
        return (f(x) ** 3).sum()

    def gradient(x: Any) -> Any:
        return T.autograd.grad(total(x), x, create_graph=True)[0]

    wanted = rows(T, gradient, x)
    assert T.allclose(T.func.hessian(total)(x), wanted)
    assert T.allclose(T.func.jacrev(T.func.jacrev(total))(x), wanted)


def test_18_03_jacobians_without_elements(T: Any) -> None:
    none = T.zeros(0, 2)
    for transform in (T.func.jacrev, T.func.jacfwd):
        assert transform(lambda x: x * none)(T.ones(2)).shape == (0, 2, 2)
        assert transform(lambda x: x * 2)(none).shape == (0, 2, 0, 2)


def test_18_03_writes_into_what_a_custom_function_made(T: Any) -> None:
    class Double(T.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    def f(x: Any) -> Any:
        return (Double.apply(x).mul_(3) * x).sum()

    assert T.func.grad(f)(T.tensor([1.0, 2.0])).tolist() == [12.0, 24.0]


def test_18_03_tangents_of_in_place_ops_have_a_history(T: Any) -> None:
    def cube(x: Any) -> Any:
        return x.clone().mul_(x).mul_(x).sum()

    x = T.tensor([1.0, 2.0], requires_grad=True)
    push = T.func.jvp(cube, (x,), (T.ones(2),))[1]
    assert T.autograd.grad(push, x)[0].tolist() == [6.0, 12.0]
    assert T.func.jacrev(T.func.jacfwd(cube))(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_18_03_hooks_and_anomaly_mode_hide_no_captured_tensor(T: Any, raises: Any) -> None:
    x, outside = T.tensor([1.0, 2.0]), T.ones(2)

    def after(x: Any) -> Any:
        with T.autograd.set_detect_anomaly(False):
            pass
        return outside.mul_(2) * x

    def within(x: Any) -> Any:
        with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return outside.mul_(2) * x

    for f in (after, within):
        with raises(RuntimeError, CAPTURED.format("aten::mul_.Tensor")):
            T.func.jvp(f, (x,), (x,))
    assert outside.tolist() == [1.0, 1.0]


def test_18_03_writes_into_what_the_function_made(T: Any) -> None:
    def f(x: Any) -> Any:
        made, data = T.zeros(3), T.tensor([1.0, 2.0, 3.0])
        made[0] = x[1]
        made[1:].copy_(x[:2]).mul_(x[2])
        data[1] = x[0]
        return made * data

    x = T.tensor([2.0, 3.0, 5.0])
    wanted = rows(T, f, x)
    assert T.func.jacrev(f)(x).tolist() == wanted.tolist()
    assert T.func.jacfwd(f)(x).tolist() == wanted.tolist()
    second = T.func.hessian(lambda x: (f(x) ** 2).sum())(x)
    total = T.func.jacrev(lambda x: 2 * f(x) @ T.func.jacrev(f)(x))(x)
    assert T.allclose(second, total)


def test_18_03_writes_into_what_the_function_was_given(T: Any) -> None:
    x, y = T.tensor([2.0, 3.0]), T.zeros(2)
    for transform in (T.func.jacrev, T.func.jacfwd):
        assert transform(lambda x, y: y.copy_(x))(x, y).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    out, moved = T.func.jvp(lambda x: x.clone().mul_(3.0), (x,), (x,))
    assert out.tolist() == moved.tolist() == [6.0, 9.0]


def test_18_03_writes_to_captured_tensors(T: Any, raises: Any) -> None:
    captured, x = T.zeros(2), T.ones(2)

    def copies(x: Any) -> Any:
        captured.copy_(x)
        return (x * captured).sum()

    def adds(x: Any) -> Any:
        captured[0].add_(1)
        return x.sum()

    def within(x: Any) -> Any:
        with T.no_grad():
            captured.zero_()
        return x.sum()

    for f, name in ((copies, "copy_"), (adds, "add_.Tensor"), (within, "zero_")):
        with raises(RuntimeError, CAPTURED.format(f"aten::{name}")):
            T.func.grad(f)(x)
        with raises(RuntimeError, CAPTURED.format(f"aten::{name}")):
            T.func.vjp(f, x)
        with raises(RuntimeError, CAPTURED.format(f"aten::{name}")):
            T.func.jvp(f, (x,), (x,))
    with raises(RuntimeError, CAPTURED.format("aten::add_.Tensor")):
        T.vmap(T.func.grad(adds))(T.ones(3, 2))
    assert captured.tolist() == [0.0, 0.0]
    T.vmap(adds)(T.ones(3, 2))
    assert captured.tolist() == [1.0, 0.0]


def test_18_03_products_of_a_vjp_taken_under_no_grad(T: Any, leaf: Any) -> None:
    x = leaf(2.0)
    with T.no_grad():
        out, pull = T.func.vjp(lambda x: x**3, x)
    assert not out.requires_grad
    (g,) = pull(T.tensor(1.0))
    assert g.requires_grad
    assert T.autograd.grad(g, x)[0].item() == 12.0


@pytest.mark.parametrize("inside", [True, False])
def test_18_03_saved_tensor_hooks_are_refused(T: Any, raises: Any, inside: bool) -> None:
    x = T.ones(2)

    def hooks() -> Any:
        return T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)

    def f(x: Any) -> Any:
        with hooks():
            return x.sin().sum()

    for transform in (T.func.grad, T.func.grad_and_value, T.func.jacrev, T.func.hessian):
        with raises(RuntimeError, HOOKS):
            if inside:
                transform(f)(x)
            else:
                with hooks():
                    transform(lambda x: x.sin().sum())(x)


# -- vmap ----------------------------------------------------------------------------------------------


def test_18_04_gradients_of_what_was_computed_outside(T: Any, leaf: Any) -> None:
    x = leaf([1.0, 2.0, 3.0])
    unused = leaf([1.0])
    y = x * x

    def pulled(v: Any) -> Any:
        return T.autograd.grad(y, x, v, retain_graph=True)[0]

    assert T.vmap(pulled)(T.eye(3)).tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    twice = T.vmap(lambda a: T.vmap(lambda b: pulled(a * b))(T.eye(3)))(2 * T.ones(2, 3))
    assert twice.shape == (2, 3, 3)
    assert twice[1].diagonal().tolist() == [4.0, 8.0, 12.0]

    def filled(v: Any) -> Any:
        return T.autograd.grad(y, [x, unused], v, True, allow_unused=True, materialize_grads=True)

    assert [f.shape for f in T.vmap(filled)(T.eye(3))] == [(3, 3), (3, 1)]
    found = T.vmap(lambda v: v * T.autograd.grad(y.sum(), x, retain_graph=True)[0])(T.eye(3))
    assert found[2, 2].item() == 6.0


def test_18_04_what_escapes(T: Any, raises: Any) -> None:
    kept: list[Any] = []
    T.vmap(lambda x: (kept.append(x), x)[1])(T.eye(3))
    for use in (lambda t: t + 1, lambda t: t[0], lambda t: t.mul_(2)):
        with raises(RuntimeError, ESCAPED):
            use(kept[0])
    T.vmap(lambda x: (kept.append(T.ones(2)), x)[1])(T.eye(3))
    assert (kept[1] + 1).tolist() == [2.0, 2.0]


def test_18_04_a_draw_within_for_captured_tensors(T: Any) -> None:
    x = T.ones(4, 4)
    drop = T.nn.functional.dropout
    found = T.vmap(lambda s: drop(x, 0.5) * s, randomness="same")(T.ones(2))
    assert found[0].tolist() == found[1].tolist()
    found = T.vmap(lambda s: drop(x, 0.5) * s, randomness="different")(T.ones(20))
    assert any(part.tolist() != found[0].tolist() for part in found)


def test_18_04_a_rule_gets_the_structure_of_its_arguments(T: Any, raises: Any) -> None:
    seen = []

    class Two(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(x: Any, ys: Any) -> Any:
            return x.clone()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, ys: Any) -> Any:
            seen.append(in_dims)
            return x + ys[0], (0 if len(ys) == 2 else (0, 0))

    assert T.vmap(Two.apply)(T.ones(2), [T.ones(2), T.ones(2)]).tolist() == [2.0, 2.0]
    assert seen == [(0, [0, 0])]
    with raises(
        RuntimeError,
        "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. "
        "Expected out_dims=(0, 0) to be compatible with the structure of `output`. …",
    ):
        T.vmap(Two.apply)(T.ones(2), [T.ones(2)])
