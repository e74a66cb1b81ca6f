"""From a trace to a list of calls: each reads and writes registers (arrays), nothing else.

Casting, layout and ownership are the array backend's own functions, so a plan's bits are the eager run's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine.layout import Meta

from .trace import Allocate, Block, Copy, Instruction, Kernel, Late, Place, Upload, Window

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradd_engine.backends.array import ArrayBackend


class Frame:
    """One replay: registers, run-time values, uploads, and where windows begin."""

    __slots__ = ("arrays", "begins", "flats", "generator", "starts", "uploads", "values")

    def __init__(self, size: int, values: Any, uploads: Any, generator: Any) -> None:
        #: register -> array
        self.arrays: list[Any] = [None] * size
        #: input block -> its memory as bytes
        self.flats: dict[int, Any] = {}
        #: input block that floats -> where in its memory it begins
        self.begins: dict[int, int] = {}
        #: window block -> offset in the block it is in
        self.starts: dict[int, int] = {}
        self.values = values
        self.uploads = iter(uploads)
        self.generator = generator


class Geometry:
    """What `infer` of a window needs to know of the tensor it is in."""

    __slots__ = ("dtype", "offset", "shape", "strides")

    def __init__(self, shape: Any, strides: Any, offset: int, dtype: Any) -> None:
        self.shape, self.strides, self.offset, self.dtype = shape, strides, offset, dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)


class Lowering:
    """Gives registers to places and turns instructions into calls."""

    def __init__(self, backend: ArrayBackend, same: dict[int, Block]) -> None:
        self.backend = backend
        #: blocks that need no memory of their own -> the block whose memory they take over
        self._same = same
        self.registers: dict[Place, int] = {}
        self.steps: list[Callable[[Frame], None]] = []
        self._touched: set[int] = set()
        #: register -> the last step that uses it
        self.last_use: dict[int, int] = {}

    def register(self, place: Place) -> int:
        """The register of a place; a place inside a block gets a step that makes the view."""
        if place.block.number in self._same:
            place = place._replace(block=self._same[place.block.number])
        found = self.registers.get(place)
        if found is None:
            found = self.registers[place] = len(self.registers)
            if not self._is_whole(place):
                self.steps.append(self._view(place, found))
        self._touched.add(found)
        return found

    @staticmethod
    def _is_whole(place: Place) -> bool:
        meta = place.block.meta
        return (
            place.block.of is None
            and place.block.source is None
            and place.offset == 0
            and place.dtype is meta.dtype
            and place.shape == tuple(meta.shape)
            and place.strides == tuple(meta.strides)
        )

    def home(self, block: Block) -> int:
        """The register of a block of its own, as a whole."""
        m = block.meta
        return self.register(Place(block, tuple(m.shape), tuple(m.strides), 0, m.dtype))

    def lower(self, i: Instruction) -> None:
        """Append the calls of one instruction."""
        if isinstance(i, Kernel):
            self.steps.append(self._kernel(i))
        elif isinstance(i, Window):
            self.steps.append(self._window(i))
        elif isinstance(i, Copy):
            self.steps.append(self._copy(i))
        elif isinstance(i, Allocate):
            self.steps.append(self._allocate(i))
        else:
            self.steps.append(self._upload(i))
        self.last_use.update(dict.fromkeys(self._touched, len(self.steps) - 1))
        self._touched.clear()

    def schedule(self, kept: set[int]) -> list[tuple[Callable[[Frame], None], tuple[int, ...]]]:
        """The steps, each with the registers that nobody uses after it (`kept` ones are never let go)."""
        ends: dict[int, list[int]] = {}
        for register, at in self.last_use.items():
            if register not in kept:
                ends.setdefault(at, []).append(register)
        return [(step, tuple(ends.get(n, ()))) for n, step in enumerate(self.steps)]

    # -- steps ---------------------------------------------------------------------------------------

    def _view(self, place: Place, register: int) -> Callable[[Frame], None]:
        backend, block = self.backend, place.block
        root = block
        windows = []
        while root.of is not None:
            windows.append(root.number)
            root = root.of
        home = self.home(root) if root.source is None else None
        number, floats = root.number, root.floats
        meta = Meta(place.shape, place.dtype, place.strides)

        def view(f: Frame) -> None:
            offset = place.offset + f.begins[number] if floats else place.offset
            for w in windows:
                offset += f.starts[w]
            # Only inputs' memory is remembered: a block of the program must be able to die.
            flat = f.flats[number] if home is None else flat_of(f.arrays[home])
            f.arrays[register] = backend.strided(flat, Meta(meta.shape, meta.dtype, meta.strides, offset))

        return view

    def _window(self, i: Window) -> Callable[[Frame], None]:
        number, of = i.block.number, i.of
        attrs = dict(i.attrs)
        infer = i.op.infer
        assert infer is not None
        geometry: Any = Geometry(of.shape, of.strides, 0, of.dtype)
        late = {n: v.place for n, v in attrs.items() if isinstance(v, Late)}

        def window(f: Frame) -> None:
            for n, at in late.items():
                attrs[n] = f.values[at]
            found: int = infer(geometry, **attrs).offset
            f.starts[number] = of.offset + found

        return window

    def _copy(self, i: Copy) -> Callable[[Frame], None]:
        target, source = self.register(i.target), self.register(i.source)

        def copy(f: Frame) -> None:
            f.arrays[target][...] = f.arrays[source]

        return copy

    def _allocate(self, i: Allocate) -> Callable[[Frame], None]:
        home, backend, meta = self.home(i.block), self.backend, i.block.meta

        def allocate(f: Frame) -> None:
            f.arrays[home] = backend.allocate(meta)

        return allocate

    def _upload(self, i: Upload) -> Callable[[Frame], None]:
        home, backend, dtype = self.home(i.block), self.backend, i.dtype

        def upload(f: Frame) -> None:
            f.arrays[home] = backend.xp.asarray(next(f.uploads), dtype=dtype.np, order="C")

        return upload

    def _kernel(self, i: Kernel) -> Callable[[Frame], None]:
        backend, op = self.backend, i.op
        compute = i.metas[0].compute if i.metas else None
        fetch = [
            self._argument(a, None if written else compute, written)
            for a, written in zip(i.args, op.written, strict=True)
        ]
        attrs = dict(i.attrs)
        if op.needs_meta:
            attrs["meta"] = i.metas[0]
        late = {n: v.place for n, v in attrs.items() if isinstance(v, Late)}
        outs = [self.home(b) for b in i.outs]
        target = None if i.target is None else self.register(i.target)
        cast_to: Any = None if i.target is None else i.target.dtype
        metas, many, random, impl, xp = i.metas, op.many, op.random, op.impl, backend.xp

        def kernel(f: Frame) -> None:
            args = [get(f) for get in fetch]
            for n, at in late.items():
                attrs[n] = f.values[at]
            if random:
                attrs["key"] = f.generator.next()
            found = impl(xp, *args, **attrs)
            if target is not None:
                f.arrays[target][...] = backend.cast(found, cast_to)
            elif many:
                for register, a, meta in zip(outs, found, metas, strict=True):
                    f.arrays[register] = backend.lawful(a, meta, args)
            else:
                f.arrays[outs[0]] = backend.lawful(found, metas[0], args)

        return kernel

    def _argument(self, a: Any, compute: Any, raw: bool) -> Callable[[Frame], Any]:
        backend = self.backend
        if isinstance(a, Place):
            register = self.register(a)
            if raw or not backend.needs_cast(a.dtype, compute):
                return lambda f: f.arrays[register]
            dtype = a.dtype
            return lambda f: backend.argument(f.arrays[register], dtype, compute)
        if isinstance(a, list):
            getters = [self._argument(e, compute, raw) for e in a]
            return lambda f: [get(f) for get in getters]
        if isinstance(a, Late):
            at = a.place
            return lambda f: backend.number(f.values[at], compute)
        constant = backend.number(a, compute)
        return lambda f: constant


def flat_of(array: Any) -> Any:
    """The memory of a dense array as bytes, in address order."""
    if not array.flags.c_contiguous:
        array = array.transpose(sorted(range(array.ndim), key=lambda i: (-array.strides[i], -array.shape[i])))
    return array.reshape(-1).view(np.uint8)
