"""What random scripts do with callables, levels, transforms, complex numbers and edges of graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd


def hook(s: Any) -> None:
    """A hook of some kind: it looks, keeps, replaces, or reads a value in the middle of the pass."""
    t = s.any() if s.chance(0.5) else s.leaf()
    says: list[Callable[[Any], Any]] = [
        lambda g: g * 0.5,
        lambda g: s.keep(g),
        lambda g: None,
        lambda g: g.neg() if g.sum().item() > 0 else None,
    ]
    say = s.rng.choice(says)
    match s.rng.randrange(5) if t.grad_fn is not None else s.rng.randrange(3):
        case 0 | 1:
            handle = t.register_hook(say)
        case 2:
            handle = t.register_post_accumulate_grad_hook(
                lambda p: None if p.grad is None else s.keep(p.grad)
            )
        case 3:
            handle = t.grad_fn.register_prehook(lambda outputs: s.keep(*outputs))
        case _:
            handle = t.grad_fn.register_hook(lambda inputs, outputs: s.keep(*inputs))
    s.handles.append(handle)
    if len(s.handles) > 2:
        s.handles.pop(0).remove()


class Scaled(gradd.autograd.Function):
    """x * x * k, with a backward of its own that uses an input and the output."""

    @staticmethod
    def forward(ctx: Any, x: Any, k: float) -> Any:
        y = x * x * k
        ctx.save_for_backward(x, y)
        ctx.k = k
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        return 2 * ctx.k * x * g + 0 * y, None


def custom(s: Any) -> None:
    with s.mode():
        s.keep(Scaled.apply(s.any(), s.rng.choice([0.5, 2.0])))


def again(s: Any) -> None:
    """A checkpoint, of either kind."""
    t = s.any()
    s.keep(gradd.utils.checkpoint.checkpoint(lambda a: (a * a).tanh(), t, use_reentrant=s.chance(0.3)))


def packed(s: Any) -> None:
    pack: Any = s.rng.choice([lambda t: t, lambda t: t.clone(), lambda t: t.numpy()])
    with gradd.autograd.graph.saved_tensors_hooks(
        pack, lambda b: b if isinstance(b, gradd.Tensor) else gradd.tensor(b)
    ):
        s.keep(s.any() * s.any() if s.chance(0.5) else s.any().exp())


def dual(s: Any) -> None:
    """A level with a dual tensor, of which tangents may stay."""
    forward = gradd.autograd.forward_ad
    t = s.any()
    with forward.dual_level(), s.mode():
        made = forward.make_dual(t, gradd.ones_like(t))
        out = (made * made + s.any()).tanh()
        if s.chance(0.3):
            out.mul_(2)
        s.keep(out, forward.unpack_dual(out).tangent)


def transform(s: Any) -> None:
    """A transform of a small function, or two of them."""
    t, other = s.any(), s.any()
    match s.rng.randrange(4):
        case 0:
            s.keep(gradd.func.grad(lambda a: (a * other).exp().sum())(t))
        case 1:
            s.keep(gradd.vmap(lambda a: (a * other).sin())(t))
        case 2:
            s.keep(gradd.vmap(gradd.func.grad(lambda a: (a * a).sum()))(t))
        case _:
            s.keep(*gradd.func.jvp(lambda a: a.exp() * 2, (t,), (gradd.ones_like(t),)))


def conjugate(s: Any) -> None:
    """Complex numbers, their lazy conjugates and their parts."""
    z = gradd.complex(s.any(), s.any())
    with s.mode():
        w = z.conj() if s.chance(0.6) else z
        s.keep(s.rng.choice([lambda: w.real, lambda: (w * z).abs(), lambda: w.imag * 1, lambda: w + z])())


def edge(s: Any) -> None:
    """Gradients by the edge of a tensor that nobody holds any more."""
    out = (s.leaf() * 2).sum()
    found = gradd.autograd.graph.get_gradient_edge(out)
    del out
    s.keep(*gradd.autograd.grad(found, [s.leaf()], allow_unused=True))


MORE: dict[Callable[[Any], None], float] = {
    hook: 1, custom: 1, again: 0.4, packed: 0.6, dual: 0.6, transform: 0.6, conjugate: 0.5, edge: 0.4,
}  # fmt: skip
