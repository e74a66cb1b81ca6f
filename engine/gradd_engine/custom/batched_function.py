"""`autograd.Function` within vmap: its ``vmap`` staticmethod, or a rule generated from its other methods.
Source: https://pytorch.org/docs/stable/notes/extending.func.html
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from ..batching import BatchedBackend, flatten, spread, unflatten
from ..data import ambient, state
from ..schema import named
from ..tensor import Tensor
from .context import node_behind

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """The ``info`` of a ``vmap`` staticmethod: the number of samples, and vmap's ``randomness``."""

    batch_size: int
    randomness: str


def batched(cls: Any, args: tuple[Any, ...]) -> Any:
    """Run the forward of the Function `cls` on arguments that may hold all samples. Tensors below the level
    keep their own history.
    """
    own = cls.vmap is not _base(cls).vmap
    if own and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an "
            "overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap "
            f"staticmethod to avoid ambiguity. {_MORE}"
        )
    if not own and not cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and "
            f"implement the vmap staticmethod or set generate_vmap_rule=True. {_MORE}"
        )
    level: Any = max((a.backend for a in args if isinstance(a, Tensor)), key=lambda b: b.level, default=None)
    if state.vmaps and (level is None or level.level < state.vmaps[-1].level):
        level = state.vmaps[-1]
    leaves, structure = flatten(args)
    lifted = [level.lift(a) if isinstance(a, Tensor) and a.backend is not level else a for a in leaves]
    each = [0 if isinstance(a, Tensor) and a.mapped else None for a in lifted]  # type: ignore[attr-defined]
    dims = unflatten(each, structure)
    given = unflatten(
        [
            a if not isinstance(a, Tensor) else level.only(a) if d is None else level.front(a)
            for a, d in zip(lifted, each, strict=True)
        ],
        structure,
    )
    with ambient(vmaps=level.outer):
        if all(d is None for d in each):
            return _wrapped(level, cls.apply(*given), None)
        if cls.generate_vmap_rule:
            return _wrapped(level, _generated(cls, level, dims).apply(*given), 0)
        found = cls.vmap(VmapInfo(level.size, level.randomness), dims, *given)
        if not isinstance(found, tuple) or len(found) != 2:
            raise RuntimeError(
                "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree "
                f"structure compatible with the output. Got a {type(found)} instead"
            )
        return _wrapped(level, *found)


def _base(cls: Any) -> Any:
    """autograd.Function itself, which this module cannot import."""
    return cls.__mro__[-2]


def _wrapped(level: BatchedBackend, found: Any, where: Any) -> Any:
    """Physical outputs as tensors of the level; `where` is the mapped dimension of each."""
    leaves, structure = flatten(found)
    dims = spread(where, structure)
    if dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. "
            f"Expected out_dims={where} to be compatible with the structure of `output`. out_dims has "
            f"structure {flatten(where)[1]} but output has structure {structure}. {_MORE}"
        )
    out = []
    for x, d in zip(leaves, dims, strict=True):
        if not isinstance(x, Tensor):
            out.append(x)
        elif d is None:
            out.append(level.lift(x))
        else:
            out.append(level.wrap(named.movedim(x, [d], [0]) if d else x))
    return unflatten(out, structure)


class _Context:
    """The ``ctx`` that a generated rule passes to the Function's own methods: its tensors are the level's."""

    def __init__(self, ctx: Any, level: BatchedBackend) -> None:
        # A weak proxy: ctx holds this object.
        self._ctx, self._level = weakref.proxy(node_behind(ctx)), level
        self._mapped: list[bool | None] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep the physical tensors."""
        self._mapped = [
            None if t is None else t.backend is self._level and len(t.array.shape) > len(t.shape)
            for t in tensors
        ]
        self._ctx.save_for_backward(*self._physical(tensors))

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """See torch.autograd.function.FunctionCtx.mark_non_differentiable."""
        self._ctx.mark_non_differentiable(*self._physical(tensors))

    def _physical(self, tensors: Any) -> list[Any]:
        return [t.array if t is not None and t.backend is self._level else t for t in tensors]

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The kept tensors, as tensors of the level."""
        level = self._level
        return tuple(
            t if m is None else level.wrap(t) if m else level.lift(t)
            for t, m in zip(self._ctx.saved_tensors, self._mapped, strict=True)
        )


def _generated(cls: Any, level: BatchedBackend, dims: tuple[Any, ...]) -> Any:
    """`cls` on physical tensors, each of its methods mapped over the batch."""
    # Backward runs after that level has closed, so it gets its own.
    level = BatchedBackend(level.below, level.size, level.randomness, level.outer)
    inside = ambient(vmaps=(*level.outer, level))

    def samples(args: Any) -> list[Any]:
        return [
            a if not isinstance(a, Tensor) else level.lift(a) if d is None else level.wrap(a)
            for a, d in zip(args, dims, strict=True)
        ]

    class Mapped(_base(cls)):  # type: ignore[misc]
        @staticmethod
        def forward(*args: Any) -> Any:
            with inside:
                found = cls.forward(*samples(args))
            return tuple(map(level.front, found)) if isinstance(found, tuple) else level.front(found)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.of_samples = _Context(ctx, level)
            with inside:
                cls.setup_context(ctx.of_samples, tuple(samples(inputs)), _wrapped(level, output, 0))

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            with inside:
                found = cls.backward(ctx.of_samples, *(None if g is None else level.wrap(g) for g in grads))
            found = found if isinstance(found, tuple) else (found,)
            return tuple(
                None if g is None else level.front(g) if d == 0 else named.sum(level.front(g), [0])
                for g, d in zip(found, dims, strict=True)
            )

    Mapped.__name__ = Mapped.__qualname__ = f"Vmapped{cls.__name__}"
    return Mapped
