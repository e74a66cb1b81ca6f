"""One op call on tensors of a vmap level, and the table of batching rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..data import Meta, ambient, is_dense, numel
from ..schema import named
from ..tensor import Tensor, detached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..schema import Op

    RuleFn = Callable[["MappedCall"], Any]

#: rules by op name
RULES: dict[str, RuleFn] = {}


def rule(*names: str) -> Callable[[RuleFn], RuleFn]:
    """Register a function from a `MappedCall` to the physical outputs: a tensor, or one per output."""

    def register(fn: RuleFn) -> RuleFn:
        RULES.update(dict.fromkeys(names, fn))
        return fn

    return register


def by_sample(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register ``fn(*inputs, **attributes)``, which writes the ops `names` in other ops on samples."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        RULES.update(dict.fromkeys(names, lambda call: call.composed(fn)))
        return fn

    return register


class MapLevel(Protocol):
    """The part of a vmap level that rules use."""

    size: int
    randomness: str
    outer: tuple[Any, ...]
    draws: list[Any] | None
    drawn: int

    def beneath(self) -> ambient:
        """A context that computes on physical tensors."""

    def front(self, t: Tensor) -> Any:
        """The physical tensor with the batch as dimension 0."""

    def lift(self, t: Any) -> Any:
        """A tensor of the level, the same for every sample."""

    def wrap(self, physical: Any) -> Any:
        """A tensor of the level whose samples are along dimension 0 of a physical one."""


class MappedCall:
    """One op call on tensors of a level: ``inputs`` are the level's, ``metas`` a sample's outputs."""

    __slots__ = ("attrs", "inputs", "level", "mapped", "metas", "op", "tensors")

    def __init__(
        self,
        level: MapLevel,
        op: Op,
        metas: tuple[Meta, ...],
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
    ) -> None:
        self.level, self.op, self.metas, self.inputs, self.attrs = level, op, metas, inputs, attrs
        self.tensors = list(_flat(inputs))
        #: whether samples differ
        self.mapped = any(t.mapped for t in self.tensors)

    @property
    def size(self) -> int:
        """The number of samples."""
        return self.level.size

    def ambient(self) -> ambient:
        """A context for ops without tensor inputs: below the level."""
        return self.level.beneath()

    def below(self, inputs: Sequence[Any], **changes: Any) -> Any:
        """Run the op on physical tensors, with its attributes updated by `changes`."""
        with self.ambient():
            return self.op.run(tuple(inputs), {**self.attrs, **changes} if changes else self.attrs)

    def outputs(self, found: Any) -> list[Any]:
        """The outputs of the op's call as a list."""
        return list(found) if self.op.many else [found]

    def physical(self, x: Any) -> Any:
        """`x` with the level's tensors replaced by their physical ones."""
        if isinstance(x, Tensor):
            return x.array
        return [self.physical(e) for e in x] if type(x) is list or type(x) is tuple else x

    def front(self, x: Any) -> Any:
        """The physical tensor with the batch as dimension 0, expanded if samples do not differ."""
        if isinstance(x, Tensor):
            return self.level.front(x)
        return [self.front(e) for e in x] if type(x) is list or type(x) is tuple else x

    def padded(self, x: Any, ndim: int) -> Any:
        """The physical tensor, shaped to broadcast with samples of `ndim` dimensions."""
        if not isinstance(x, Tensor):
            return x
        lead = ndim - x.ndim
        if not x.mapped or lead <= 0:  # type: ignore[attr-defined]
            return x.array
        return named.view(x.array, [self.size, *[1] * lead, *x.shape])

    def sample(self, x: Any, i: int) -> Any:
        """`x` as sample `i` sees it."""
        if isinstance(x, Tensor):
            return named.select(x.array, 0, i) if x.mapped else x.array  # type: ignore[attr-defined]
        return [self.sample(e, i) for e in x] if type(x) is list or type(x) is tuple else x

    def nothing(self) -> list[Any]:
        """Zeros as inputs of a sample, for a batch without samples."""

        def zero(x: Any) -> Any:
            if isinstance(x, Tensor):
                with self.ambient():
                    return named.zeros(list(x.shape), dtype=x.dtype)
            return [zero(e) for e in x] if type(x) is list or type(x) is tuple else x

        return [zero(x) for x in self.inputs]

    def composed(self, fn: Callable[..., Any]) -> Any:
        """The physical results of a function of samples, run on this level without the inputs' history."""
        with ambient(backend=self.level, vmaps=(*self.level.outer, self.level)):
            found = fn(*[_bare(x) for x in self.inputs], **self.attrs)
        return [self.front(o) for o in found] if self.op.many else self.front(found)

    def fitted(self, p: Any, meta: Meta) -> Any:
        """A physical result in the shape and dtype required of a sample; each sample gets dense memory of its
        own, so that its views can be written to.
        """
        shape = (self.size, *meta.shape)
        if tuple(p.shape) != shape:
            p = named.reshape(p, list(shape))
        if p.dtype is not meta.dtype:
            p = named.to_copy(p, meta.dtype)
        if is_dense(meta.shape, p.strides[1:]) and (p.strides[0] or self.size < 2):
            return p
        return named.to_layout(p, [max(numel(meta.shape), 1), *meta.strides])


def _flat(inputs: Any) -> Iterator[Any]:
    for x in inputs:
        if isinstance(x, Tensor):
            yield x
        elif type(x) is list or type(x) is tuple:
            yield from _flat(x)


def _bare(x: Any) -> Any:
    if isinstance(x, Tensor):
        return detached(x)
    return [_bare(e) for e in x] if type(x) is list or type(x) is tuple else x
