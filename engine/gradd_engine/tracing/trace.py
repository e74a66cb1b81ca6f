"""Tracing: the engine runs a program on tensors without values, and its backend records what it is asked to
do.

Forward, backward and optimizer become one flat list of kernel calls over registers. What autograd decided
(order, versions, which gradients exist) is in the tensors that the trace ends with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..data import Device, Meta
from ..graph import physical
from ..tensor import Tensor
from .numbers import Guards, Offset, TraceFailed, local, looked, place_of, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..data import DType
    from ..schema import InferCache, Op
    from ..tensor import Listener


class Block:
    """A block of memory in a trace. ``source`` is the index of the input that owns the memory, or None if the
    program allocates it.

    A window is a block inside another block, ``of``; its start is known at replay.
    """

    __slots__ = ("__weakref__", "floats", "meta", "nbytes", "number", "of", "source")

    def __init__(
        self, number: int, meta: Meta, nbytes: int, source: int | None = None, of: Block | None = None
    ) -> None:
        self.number = number
        self.meta = meta
        self.nbytes = nbytes
        self.source = source
        self.of = of
        #: an input whose offset is known only at replay
        self.floats = False


class Place(NamedTuple):
    """Where a tensor's elements are: a block and the geometry in it."""

    block: Block
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: DType


class RuntimeValue(NamedTuple):
    """A run-time value, by its position in the batch."""

    place: int


class KernelCall(NamedTuple):
    """Run ``op`` into new blocks (``outs``) or into ``target``."""

    op: Op
    args: tuple[Any, ...]
    attrs: dict[str, Any]
    metas: tuple[Meta, ...]
    outs: tuple[Block, ...]
    target: Place | None


class Window(NamedTuple):
    """Find where a view begins: infer ``op`` on ``of`` with this batch's values."""

    op: Op
    of: Place
    attrs: dict[str, Any]
    block: Block


class Copy(NamedTuple):
    """Copy elements."""

    target: Place
    source: Place


class Allocate(NamedTuple):
    """Allocate memory that something will be copied into."""

    block: Block


class Upload(NamedTuple):
    """Take the next upload of the batch."""

    block: Block
    dtype: DType


Instruction = KernelCall | Window | Copy | Allocate | Upload


class TraceBackend:
    """Records what it is asked to do. Tensors have blocks instead of memory."""

    is_meta = False
    eager = False
    level = 0
    listener: Listener | None = None
    tensor_class = Tensor
    made: Callable[..., Tensor] = Tensor._made

    def __init__(self, device: Device, guards: Guards) -> None:
        self.device = device
        self.guards = guards
        self.code: list[Instruction] = []
        self.blocks = 0
        self._window: tuple[Op, dict[str, Any]] | None = None

    # -- blocks and places -------------------------------------------------------------------------

    def block(self, meta: Meta, source: int | None = None, of: Block | None = None) -> Block:
        """A new block."""
        n = meta.dtype.itemsize
        for s in meta.shape:
            n *= s
        self.blocks += 1
        return Block(self.blocks - 1, meta, n, source, of)

    def place(self, t: Tensor) -> Place:
        """The place of `t`."""
        block: Any = t._storage
        return Place(block, tuple(t.shape), tuple(t.strides), local(t.offset), t.dtype)

    def _args(self, inputs: Any) -> tuple[Any, ...]:
        return tuple(self._arg(x) for x in inputs)

    def _arg(self, x: Any) -> Any:
        if isinstance(x, Tensor):
            return self.place(x)
        if isinstance(x, (list, tuple)):
            return [self._arg(e) for e in x]
        at = place_of(x)
        return looked(x) if at is None else RuntimeValue(at)

    def _attrs(self, attrs: dict[str, Any]) -> dict[str, Any]:
        out = {}
        for name, v in attrs.items():
            at = place_of(v)
            out[name] = looked(v) if at is None else RuntimeValue(at)
        return out

    def tensor(self, block: Block, meta: Meta) -> Tensor:
        """A tensor that fills a block."""
        storage: Any = block
        return Tensor._made(self, storage, meta.shape, meta.strides, 0, meta.dtype, None)

    # -- the interface of backends -----------------------------------------------------------------

    def infer(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """See Backend.infer. The start of a window may depend on run-time values: not guarded, but inferred
        at every replay.
        """
        assert op.infer is not None
        window = None
        if op.view:
            if not op.effects.window:
                attrs = {n: looked(v) for n, v in attrs.items()}
            elif any(place_of(v) is not None for v in attrs.values()):
                window = (op, attrs)
                attrs = {n: plain(v) for n, v in attrs.items()}
            if not op.effects.relative and (inputs[0]._storage.of is not None or inputs[0]._storage.floats):
                raise TraceFailed(f"{op.name} inside a window counts from the window")
        found = op.infer(*inputs, **attrs)
        self._window = window
        return found

    def run(
        self, op: Op, metas: Sequence[Meta], inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> list[Tensor]:
        """See Backend.run."""
        outs = tuple(self.block(m) for m in metas)
        self.code.append(KernelCall(op, self._args(inputs), self._attrs(attrs), tuple(metas), outs, None))
        return [self.tensor(b, m) for b, m in zip(outs, metas, strict=True)]

    def run_plain(self, op: Op, known: InferCache, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
        """See Backend.run_plain."""
        return self.run(op, (known.meta,), inputs, attrs)[0]

    def run_into(
        self, op: Op, target: Tensor, meta: Meta, inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> None:
        """See Backend.run_into."""
        self.code.append(
            KernelCall(op, self._args(inputs), self._attrs(attrs), (meta,), (), self.place(target))
        )

    def view(self, of: Tensor, meta: Meta) -> Tensor:
        """See Backend.view."""
        storage: Any = of._storage
        offset: int = meta.offset
        if self._window is not None:
            op, attrs = self._window
            self._window = None
            storage = self.block(meta, of=storage)
            late = self._attrs(attrs)
            self.code.append(Window(op, self.place(of), late, storage))
            offset = self._begin(offset, storage, late)
        return Tensor._made(self, storage, meta.shape, meta.strides, offset, meta.dtype, None, of._vc)

    def _begin(self, offset: int, window: Block, attrs: dict[str, Any]) -> Offset:
        """The start of a window: `offset`, if the run-time values are those of the trace."""
        places: frozenset[int] | None = frozenset(
            v.place for v in attrs.values() if isinstance(v, RuntimeValue)
        )
        if isinstance(offset, Offset):
            places = None if offset.places is None or places is None else places | offset.places
        return Offset.begin(plain(offset), window, places, self.guards)

    def empty(self, meta: Meta) -> Tensor:
        """See Backend.empty."""
        block = self.block(meta)
        self.code.append(Allocate(block))
        return self.tensor(block, meta)

    def copy_into(self, target: Tensor, source: Tensor) -> None:
        """See Backend.copy_into."""
        self.code.append(Copy(self.place(target), self.place(physical(source))))

    def from_array(self, array: Any, dtype: Any = None) -> Tensor:
        """An upload, the only kind of array a program brings."""
        meta = Meta(tuple(array.shape), dtype)
        block = self.block(meta)
        self.code.append(Upload(block, dtype))
        return self.tensor(block, meta)

    def to_numpy(self, t: Tensor) -> Any:
        """Raise TraceFailed: values are unknown during a trace."""
        raise TraceFailed("a value is needed while the program runs")


__all__ = [
    "Allocate",
    "Block",
    "Copy",
    "Guards",
    "KernelCall",
    "Place",
    "RuntimeValue",
    "TraceBackend",
    "Upload",
    "Window",
    "plain",
]
