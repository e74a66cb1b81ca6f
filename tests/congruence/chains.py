"""What random scripts do with chains of writes through views, graphs that cross batches, and transforms of
all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd


def part(s: Any, t: Any) -> Any:
    """A view of `t`, or of a view of it; where it begins is often not where `t` does."""
    for _ in range(s.rng.choice([1, 1, 2, 3])):
        n = t.shape[0] if t.ndim else 0
        match s.rng.randrange(9) if n else 8:
            case 0 | 1:
                t = t[s.rng.randrange(n)]
            case 2:
                start = s.rng.randrange(n)
                t = t[start : start + s.rng.randrange(1, 3)]
            case 3:
                t = t.transpose(0, -1)
            case 4:
                t = t.diagonal() if t.ndim > 1 else t.narrow(0, s.rng.randrange(n), 1)
            case 5:
                t = t.view(-1)[s.rng.randrange(t.numel()) :] if t.is_contiguous() and t.numel() else t
            case 6:
                t = t[..., s.rng.randrange(t.shape[-1])] if t.shape[-1] else t
            case 7:
                t = s.rng.choice([t.real, t.imag if t.is_complex() else t[::2], t[::2]])
            case _:
                t = t.unsqueeze(0) if s.chance(0.3) else t
    return t


def store(s: Any, target: Any, other: Any) -> None:
    """A write of `other`, or of a number, into (part of) a tensor."""
    value = other.sum() if s.chance(0.5) or not other.ndim else other
    n = target.shape[0] if target.ndim else 0
    match s.rng.randrange(10) if n else s.rng.randrange(4):
        case 0:
            target.copy_(value)
        case 1:
            target.mul_(value)
        case 2:
            target.add_(value, alpha=s.rng.choice([1, 2]))
        case 3:
            target.fill_(s.rng.choice([0.5, -1.0]))
        case 4 | 5:
            target[s.rng.randrange(n)] = value
        case 6:
            target[s.rng.randrange(n) :] = value
        case 7:
            target[gradd.arange(n) % 2 == s.rng.randrange(2)] = value
        case 8:
            target.index_put_((gradd.tensor([s.rng.randrange(n)]),), value, accumulate=s.chance(0.5))
        case _:
            target.masked_fill_(gradd.ones(target.shape[-1:]) > 0, value)


def written(s: Any, of: Any) -> Any:
    """A new tensor after one to five writes through views of it, with reads between."""
    shape = s.rng.choice([(2,), (3,), (4,), (2, 2), (3, 2), (2, 3, 2)])
    dtype = of.dtype if of.dtype.is_floating_point or of.dtype.is_complex else gradd.float32
    match s.rng.randrange(5):
        case 0:
            t = gradd.ones(shape[-1:], dtype=dtype).expand(shape).clone()
        case 1:
            t = gradd.zeros(shape, dtype=gradd.complex64)
        case 2:
            t = gradd.ones(shape, dtype=dtype) * of.sum()
        case _:
            t = gradd.zeros(shape, dtype=dtype)
    kept = []
    for _ in range(s.rng.randrange(1, 6)):
        target = part(s, t) if s.chance(0.9) else t
        if kept and s.chance(0.2):
            target = s.rng.choice(kept)
        store(s, target, of if s.chance(0.7) else s.leaf() * 2)
        kept.append(target)
        if s.chance(0.15):
            glance(s, t)
    if s.chance(0.3):
        s.keep(s.rng.choice(kept))
    return t


def glance(s: Any, t: Any) -> None:
    """The batch ends here: at a value of `t`, or of something that has nothing to do with it."""
    match s.rng.randrange(5):
        case 0:
            t.sum().tolist()
        case 1:
            gradd.ones(2).sum().item()
        case 2:
            s.session.step_done()
        case 3:
            t.detach()[..., :1].tolist()
        case _:
            (t * t).mean().tolist()


def real(t: Any) -> Any:
    """A real number of it all."""
    t = gradd.view_as_real(t) if t.dtype.is_complex else t
    return (t * t).sum()


def chain(s: Any) -> None:
    """Writes through views, a look, and passes back through them: from one or several roots, once or more."""
    leaf = s.leaf()
    t = written(s, leaf)
    if s.chance(0.8):
        glance(s, t)
    if s.chance(0.3):
        store(s, part(s, t), s.leaf())
    roots = [real(t), t.sum().abs(), real(part(s, t))]
    roots = s.rng.sample(roots, s.rng.randrange(1, 3))
    if s.chance(0.3):
        glance(s, t)
    passes = s.rng.choice([1, 1, 2])
    for n in range(passes):
        keep = n < passes - 1 or None
        if s.chance(0.5):
            gradd.autograd.backward(roots, retain_graph=keep, create_graph=s.chance(0.1))
        else:
            found = gradd.autograd.grad(roots, [leaf], retain_graph=keep, allow_unused=True)
            s.keep(*(g for g in found if g is not None))
        if s.chance(0.3):
            glance(s, t)
    s.keep(t)


def carried(s: Any) -> None:
    """A graph grows over batches, and is reduced and walked in later ones."""
    leaf = s.leaf()
    t = s.any() * leaf
    kept = []
    for _ in range(s.rng.randrange(1, 4)):
        t = s.rng.choice([t.tanh(), t * leaf, t + t.mean(), t.exp().log1p()])
        kept.append(t)
        glance(s, t)
    roots = [s.rng.choice([x.sum, x.mean, x.norm, x.exp().sum])() for x in s.rng.sample(kept, 1)]
    if s.chance(0.4):
        roots.append(real(kept[0]))
    gradd.autograd.backward(roots, retain_graph=s.rng.choice([None, True]))
    s.keep(*s.rng.sample(kept, 1))


class Halved(gradd.autograd.Function):
    """Two outputs, of which one is the input changed in place."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.mark_dirty(x)
        ctx.save_for_backward(y)
        return x.mul_(0.5), x.sum() * y

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        (y,) = ctx.saved_tensors
        return g * 0.5, (h * y) * 0 + 1


class Linear(gradd.autograd.Function):
    """A function that transforms know how to batch."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, w: Any) -> Any:
        return x * w

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, w = ctx.saved_tensors
        return g * w, g * x


def functions(s: Any) -> None:
    """Functions of the user, on written tensors and inside transforms."""
    t = written(s, s.leaf())
    match s.rng.randrange(3):
        case 0:
            out = Linear.apply(t, s.leaf())
        case 1:
            out, other = Halved.apply(t * 1, s.leaf())
            s.keep(other)
        case _:
            w = s.leaf()
            out = gradd.vmap(lambda a: Linear.apply(a, w.sum()))(t)
    if s.chance(0.5):
        glance(s, out)
    real(out).backward()


#: by `how` of `derived`, elements of what Jacobians are taken at: they have the square of them, or its cube
MOST = {0: 64, 1: 64, 2: 9}


def derived(s: Any) -> None:
    """Transforms of what writes, reduces, gathers, sorts and scatters."""
    leaf = s.leaf()

    def f(x: Any) -> Any:
        flat = x.reshape(-1)
        at = gradd.arange(flat.numel()).flip(0)
        match kind:
            case 0:
                y = flat.clone()
                y[0] = flat.sum()
                return (y * y).sum()
            case 1:
                return flat.gather(0, at).cumsum(0)
            case 2:
                return flat.sort().values.exp()
            case 3:
                return flat[at] * flat
            case 4:
                return gradd.stack([flat, flat.sin()]).softmax(0)
            case 5:
                return gradd.zeros_like(flat).index_add(0, at, flat * flat)
            case _:
                return (flat @ flat).sqrt() + flat.prod()

    kind = s.rng.randrange(7)
    how = s.rng.randrange(6)
    with s.mode():
        if how in MOST and leaf.numel() > MOST[how]:
            leaf = leaf.reshape(-1)[: MOST[how]]
        match how:
            case 0:
                out = gradd.func.jacrev(f)(leaf)
            case 1:
                out = gradd.func.jacfwd(f)(leaf)
            case 2:
                out = gradd.func.jacrev(gradd.func.jacrev(f))(leaf)
            case 3:
                out = gradd.vmap(f)(gradd.stack([leaf, leaf * 2]))
            case 4:
                out = gradd.vmap(gradd.func.grad(lambda x: f(x).sum()))(gradd.stack([leaf, leaf * 2]))
            case _:
                out, back = gradd.func.vjp(f, leaf)
                out = back(gradd.ones_like(out))[0]
    if s.chance(0.5):
        glance(s, out)
    if out.requires_grad and s.chance(0.7):
        real(out).backward()
    s.keep(out)


CHAINS: dict[Callable[[Any], None], float] = {chain: 3, carried: 1, functions: 0.6, derived: 0.7}
