"""Passes over a batch of cotangents: `is_grads_batched` of autograd.grad, and passes within `vmap` through
graphs recorded outside of it.

The graph is of one sample and the cotangents hold all of them, so the pass runs under a `vmap`.
Source: https://pytorch.org/docs/stable/generated/torch.autograd.grad.html
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..data import ambient, state
from ..schema import named
from ..tensor import Tensor
from .vmap import level_over, same_size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..tensor import Edge
    from .level import BatchedBackend


def check_batched(out: Tensor, g: Tensor, index: int) -> None:
    """Raise RuntimeError unless `g` is a batch of cotangents of `out`; IndexError if it is 0-dim or its first
    dimension is empty.
    """
    if not g.shape:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
            "convert a 0-dim tensor to a number"
        )
    if not g.shape[0]:
        raise IndexError("index 0 is out of bounds for dimension 0 with size 0")
    if tuple(g.shape[1:]) != tuple(out.shape):
        # As in PyTorch, the shape in the message lacks one more dimension.
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
            "dimension. The sizes of the remaining dimensions are expected to match the shape of "
            f"corresponding output, but a mismatch was detected: grad_output[{index}] has a shape of "
            f"{g.shape[2:]} and output[{index}] has a shape of {out.shape}. If you only want some tensors in "
            "`grad_output` to be considered batched, consider using vmap."
        )


def batch_of(roots: Sequence[tuple[Edge, Tensor]]) -> tuple[BatchedBackend, list[tuple[Edge, Any]]]:
    """A level over the cotangents, and the roots paired with per-sample cotangents; vmap's ValueError unless
    all are batches of one size.
    """
    for _, g in roots:
        if not g.shape:
            raise ValueError(
                "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a "
                "Tensor of dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
            )
    below = max((g.backend for _, g in roots), key=lambda b: b.level)
    level = level_over(below, same_size([g.shape[0] for _, g in roots]))
    return level, [(edge, level.wrap(g)) for edge, g in roots]


def run_through(
    run: Callable[..., Sequence[Tensor | None]],
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    weights: Sequence[Tensor | None] | None,
    *,
    is_grads_batched: bool = False,
    **options: Any,
) -> tuple[Tensor | None, ...]:
    """Call `run`, which is autograd.grad, once for all samples if cotangents belong to levels of vmap that
    the outputs do not.
    """
    outputs, inputs = [_beneath(o) for o in outputs], [_beneath(x) for x in inputs]
    below = max((o.backend.level for o in outputs), default=0)
    levels = _levels_between(below, weights)
    # Tensors from outside the levels are differentiated outside.
    with ambient(vmaps=tuple(v for v in state.vmaps if v.level <= below)):
        if not levels:
            return tuple(run(outputs, inputs, weights, is_grads_batched=is_grads_batched, **options))
        assert weights is not None
        own = next((w.shape[:1] for w in weights if w is not None), ()) if is_grads_batched else ()
        sizes = [level.size for level in reversed(levels)]
        count = prod(sizes) * prod(own)
        fill = options.pop("materialize_grads", False)
        if fill and options["allow_unused"] is None:
            options["allow_unused"] = True
        found: Sequence[Tensor | None]
        if count:
            given = [
                _batch(w, o, levels, count, is_grads_batched) for o, w in zip(outputs, weights, strict=True)
            ]
            found = run(outputs, inputs, given, is_grads_batched=True, materialize_grads=False, **options)
        else:
            found = [named.expand(named.zeros_like(named.detach(x)), [0, *x.shape]) for x in inputs]
        found = [_samples(g, levels, (*sizes, *own)) for g in found]
        return tuple(
            named.zeros_like(named.detach(x)) if g is None and fill else g
            for g, x in zip(found, inputs, strict=True)
        )


def _beneath(t: Tensor) -> Tensor:
    """`t`, taken out of the levels that have no history of it and where it is the same in every sample."""
    found: Any = t
    while isinstance(found.array, Tensor) and not found.mapped and not found.requires_grad:
        found = found.backend.only(found)
    return found if found.requires_grad else t


def _levels_between(below: int, weights: Sequence[Tensor | None] | None) -> list[Any]:
    """The levels of vmap above `below` that the cotangents belong to, innermost first."""
    given = [w.backend for w in weights or () if w is not None]
    level: Any = max(given, key=lambda b: b.level, default=None)
    levels = []
    while level is not None and level.level > below:
        levels.append(level)
        level = level.below
    return levels


def _batch(w: Any, output: Any, levels: Sequence[Any], count: int, batched: bool) -> Any:
    """A cotangent for all samples of `levels`, along dimension 0, merged with its own batch if `batched`."""
    if w is None:
        return (
            None if batched else named.expand(named.ones_like(named.detach(output)), [count, *output.shape])
        )
    shape = w.shape[1:] if batched else w.shape
    for level in levels:
        w = level.front(w)
    return named.reshape(w, [count, *shape])


def _samples(g: Any, levels: Sequence[Any], sizes: Sequence[int]) -> Any:
    """The inverse of `_batch`."""
    if g is None:
        return None
    g = named.reshape(g, [*sizes, *g.shape[1:]])
    for level in reversed(levels):
        g = level.wrap(g)
    return g
