"""Lowers a trace to a list of calls, which only read and write registers (arrays).

Casting, layout and ownership use the array backend's functions, so results are bitwise those of eager runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine.data import Meta, from_numpy
from gradd_engine.tensor import flat_bytes
from gradd_engine.tracing import (
    Allocate,
    Block,
    Copy,
    Instruction,
    KernelCall,
    Place,
    RuntimeValue,
    Upload,
    Window,
    local,
    root,
)

from .blocks import FusedCall, cannot_raise
from .fuse import BlockMemory
from .registers import PlanStep, Registers

if TYPE_CHECKING:
    from gradd_engine.backends.array import ArrayBackend
    from gradd_engine.schema import Param
    from gradd_engine.tensor import Tensor


class Plain:
    """A kernel of arrays and constants with one result. If its first result has the right layout, so have
    all: whatever the layout depends on is part of the plan's key.
    """

    __slots__ = (
        "_lawful", "attrs", "direct", "fetch", "impl", "meta", "out", "pure", "trusted", "wanted", "xp"
    )  # fmt: skip

    def __init__(
        self, impl: Any, xp: Any, wanted: tuple[int, ...], attrs: dict[str, Any], out: int, meta: Any,
        lawful: Any, direct: Any, pure: bool,
    ) -> None:  # fmt: skip
        self.impl, self.xp, self.wanted, self.attrs, self.out = impl, xp, wanted, attrs, out
        self.meta, self._lawful = meta, lawful
        #: it never raises, and writes to none of its inputs
        self.pure = pure
        #: the kernel as a function of arrays alone, if it is one
        self.direct = direct
        self.fetch = _fetcher(list(wanted))
        self.trusted = False

    def __call__(self, f: Registers) -> None:
        """Run it, and give the result the right layout."""
        args = self.fetch(f.arrays)
        a = self.impl(self.xp, *args, **self.attrs)
        f.arrays[self.out] = made = self._lawful(a, self.meta, args)
        self.trusted = made is a


class Geometry:
    """The geometry of the tensor that a window is in, for `infer`."""

    __slots__ = ("dtype", "offset", "shape", "strides")

    def __init__(self, shape: Any, strides: Any, offset: int, dtype: Any) -> None:
        self.shape, self.strides, self.offset, self.dtype = shape, strides, offset, dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)


class Lowering:
    """Assigns registers to places and turns instructions into calls. `inputs`: the traced inputs, in order;
    `changed`: numbers of the blocks that are written to.
    """

    def __init__(
        self, backend: ArrayBackend, same: dict[int, Block], inputs: Sequence[Tensor], changed: set[int]
    ) -> None:
        self.backend = backend
        self._changed = changed
        #: block without memory of its own -> the block whose memory it takes over
        self._same = same
        self.registers: dict[Place, int] = {}
        #: the registers when a replay starts: constants
        self.template: list[Any] = []
        #: (register, input): registers that hold an input's array
        self.loads: list[tuple[int, int]] = []
        #: (register, index in the values, dtype to compute in): registers that hold a run-time value
        self.numbers: list[tuple[int, int, Any]] = []
        #: input block whose memory has views -> the input
        self.sources: dict[int, int] = {}
        self.steps: list[tuple[Callable[[Registers], None], str]] = []
        #: steps that find inputs in memory, and do nothing else
        self.early: set[int] = set()
        #: register of an input, or of a view of one, or of an upload -> its block
        self.outer: dict[int, Block] = {}
        #: places of values that kernels get as attributes, or that say where views of what is made begin
        self.late: set[int] = set()
        self._own = {
            Place(t._storage, tuple(t.shape), tuple(t.strides), local(t.offset), t.dtype): i  # type: ignore[arg-type]
            for i, t in reversed(list(enumerate(inputs)))
        }
        self._touched: set[int] = set()
        #: register -> the last step that uses it, and the steps of each instruction that does
        self.last_use: dict[int, int] = {}
        self.users: dict[int, list[range]] = {}

    def _new(self, value: Any = None) -> int:
        self.template.append(value)
        return len(self.template) - 1

    def register(self, place: Place) -> int:
        """The register of a place; for a part of a block, adds a step that creates the view."""
        if place.block.number in self._same:
            place = place._replace(block=self._same[place.block.number])
        found = self.registers.get(place)
        if found is None:
            found = self.registers[place] = self._new()
            source = self._own.get(place)
            if source is not None:
                self.loads.append((found, source))
                self.outer[found] = root(place.block)
            elif not self._is_whole(place):
                view = self._view(place, found)
                if root(place.block).source is not None:
                    self._early(found, root(place.block))
                self._step(view, "view")
        self._touched.add(found)
        return found

    def _early(self, register: int, block: Block) -> None:
        """The next step gives a register to what an input, or an upload, has in memory."""
        self.early.add(len(self.steps))
        self.outer[register] = block

    def _step(self, run: Callable[[Registers], None], name: str) -> None:
        self.steps.append((run, name))

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
        """The register of a whole block."""
        m = block.meta
        return self.register(Place(block, tuple(m.shape), tuple(m.strides), 0, m.dtype))

    def lower(self, i: Instruction | FusedCall) -> None:
        """Append the calls of one instruction."""
        first = len(self.steps)
        if isinstance(i, FusedCall):
            names = (c.op.name if isinstance(c, KernelCall) else "copy" for c in i.calls)
            self._step(self._fused(i), "+".join(names))
        elif isinstance(i, KernelCall):
            self._step(self._kernel(i), i.op.name)
        elif isinstance(i, Window):
            if root(i.of.block).source is None:
                self.late.update(v.place for v in i.attrs.values() if isinstance(v, RuntimeValue))
            else:
                self.early.add(len(self.steps))
            self._step(self._window(i), "view")
        elif isinstance(i, Copy):
            self._step(self._copy(i), "copy")
        elif isinstance(i, Allocate):
            self._step(self._allocate(i), "allocate")
        else:
            upload = self._upload(i)
            self._early(self.home(i.block), i.block)
            self._step(upload, "upload")
        self.last_use.update(dict.fromkeys(self._touched, len(self.steps) - 1))
        for register in self._touched:
            self.users.setdefault(register, []).append(range(first, len(self.steps)))
        self._touched.clear()

    def schedule(self, kept: set[int]) -> list[PlanStep]:
        """The steps, each with the registers that are not used after it, except `kept` ones."""
        ends: dict[int, list[int]] = {}
        for register, at in self.last_use.items():
            if register not in kept:
                ends.setdefault(at, []).append(register)
        return [PlanStep(run, name, tuple(ends.get(n, ()))) for n, (run, name) in enumerate(self.steps)]

    def written_to(self) -> set[int]:
        """The registers of memory that the plan writes to."""
        memory = BlockMemory((), self._same, set())
        changed = {memory.root(self._same.get(k, k)) for k in self._changed}
        return {r for place, r in self.registers.items() if memory.root(place.block) in changed}

    # -- steps ---------------------------------------------------------------------------------------

    def _view(self, place: Place, register: int) -> Callable[[Registers], None]:
        backend, block = self.backend, place.block
        axes = None if block.source is not None or block.of is not None else _axes(place)
        if axes is not None:
            whole = self.home(block)

            def turn(f: Registers) -> None:
                f.arrays[register] = f.arrays[whole].transpose(axes)

            return turn
        windows = []
        while block.of is not None:
            windows.append(block.number)
            block = block.of
        home = self.home(block) if block.source is None else None
        number, floats = block.number, block.floats
        if block.source is not None:
            self.sources[number] = block.source
        shape, dtype, strides, begin = place.shape, place.dtype, place.strides, place.offset

        def view(f: Registers) -> None:
            offset = begin + f.begins[number] if floats else begin
            for w in windows:
                offset += f.starts[w]
            # Only inputs' memory is remembered, so that the program's own blocks can be freed.
            flat = f.flats[number] if home is None else flat_bytes(f.arrays[home])
            f.arrays[register] = backend.strided(flat, Meta(shape, dtype, strides, offset))

        return view

    def _window(self, i: Window) -> Callable[[Registers], None]:
        number, of = i.block.number, i.of
        attrs = dict(i.attrs)
        infer = i.op.infer
        assert infer is not None
        geometry: Any = Geometry(of.shape, of.strides, 0, of.dtype)
        late = {n: v.place for n, v in attrs.items() if isinstance(v, RuntimeValue)}

        def window(f: Registers) -> None:
            for n, at in late.items():
                attrs[n] = f.values[at]
            found: int = infer(geometry, **attrs).offset
            f.starts[number] = of.offset + found

        return window

    def _copy(self, i: Copy) -> Callable[[Registers], None]:
        target, source = self.register(i.target), self.register(i.source)

        def copy(f: Registers) -> None:
            f.arrays[target][...] = f.arrays[source]

        return copy

    def _allocate(self, i: Allocate) -> Callable[[Registers], None]:
        home, backend, meta = self.home(i.block), self.backend, i.block.meta

        def allocate(f: Registers) -> None:
            f.arrays[home] = backend.allocate(meta)

        return allocate

    def _upload(self, i: Upload) -> Callable[[Registers], None]:
        home, backend, dtype = self.home(i.block), self.backend, i.dtype
        # Leave the upload unchanged for an eager run, in case the replay raises.
        convert = backend.xp.array if i.block.number in self._changed else backend.xp.asarray

        def upload(f: Registers) -> None:
            f.arrays[home] = convert(next(f.uploads), dtype=dtype.np, order="C")

        return upload

    def _kernel(self, i: KernelCall) -> Callable[[Registers], None]:
        backend, op = self.backend, i.op
        compute = i.metas[0].compute if i.metas else None
        wanted = []
        for at, a in enumerate(i.args):
            given = backend.is_given(op, at)
            wanted.append(self._argument(a, None if given else compute, given))
        attrs = dict(i.attrs)
        if op.needs_meta:
            attrs["meta"] = i.metas[0]
        late = {n: v.place for n, v in attrs.items() if isinstance(v, RuntimeValue)}
        self.late.update(late.values())
        outs = [self.home(b) for b in i.outs]
        target: int = -1 if i.target is None else self.register(i.target)
        cast_to: Any = None if i.target is None else i.target.dtype
        metas, many, random, impl, xp = i.metas, op.many, op.random, backend.kernels[op], backend.xp
        fetch = _fetcher(wanted)
        lists = any(isinstance(w, list) for w in wanted)
        out: int = outs[0] if outs else -1
        meta: Any = metas[0] if metas else None
        lawful = backend.lawful

        def call(f: Registers, args: Any) -> Any:
            if late or random:
                for n, at in late.items():
                    attrs[n] = f.values[at]
                if random:
                    attrs["key"] = f.generator.next()
            return impl(xp, *args, **attrs)

        def into(f: Registers) -> None:
            found = call(f, fetch(f.arrays))
            f.arrays[target][...] = backend.cast(found, cast_to)

        def many_outs(f: Registers) -> None:
            args = fetch(f.arrays)
            given = _flat(args) if lists else args
            for register, a, m in zip(outs, call(f, args), metas, strict=True):
                f.arrays[register] = lawful(a, m, given)

        def one_out(f: Registers) -> None:
            arrays = f.arrays
            args = fetch(arrays)
            a = call(f, args)
            arrays[out] = lawful(a, meta, _flat(args) if lists else args)

        if i.target is not None:
            return into
        if many:
            return many_outs
        if late or random or lists:
            return one_out
        direct = None
        ufunc = op.kernel.ufunc
        if ufunc and impl is op.impl and all(_is_default(op.params[n], v) for n, v in attrs.items()):
            direct = getattr(xp, op.kernel.ufunc)
        pure = cannot_raise(i) and not any(op.written)
        return Plain(impl, xp, tuple(wanted), attrs, out, meta, lawful, direct, pure)

    def _fused(self, i: FusedCall) -> Callable[[Registers], None]:
        backend, kernel = self.backend, i.kernel
        made = [(self.home(b), b.meta) for b in i.made]
        wanted = []
        for a in i.arrays:
            if isinstance(a, Place):
                wanted.append(self.register(a))
            else:
                wanted.append(self._new())
                self.numbers.append((wanted[-1], a.of.place, from_numpy(np.dtype(a.kind))))
        xp, keys = backend.xp, range(kernel.keys)

        def fused(f: Registers) -> None:
            arrays = f.arrays
            for register, meta in made:
                arrays[register] = backend.allocate(meta)
            kernel(xp, [arrays[w] for w in wanted], [f.generator.next() for _ in keys])

        return fused

    def _argument(self, a: Any, compute: Any, raw: bool) -> Any:
        """The register of an argument, or a list of them. A cast is a separate step."""
        backend = self.backend
        if isinstance(a, Place):
            register = self.register(a)
            if raw or not backend.needs_cast(a.dtype, compute):
                return register
            dtype, made = a.dtype, self._new()

            def cast(f: Registers) -> None:
                f.arrays[made] = backend.argument(f.arrays[register], dtype, compute)

            self._step(cast, "cast")
            self._touched.add(made)
            return made
        if isinstance(a, list):
            return [self._argument(e, compute, raw) for e in a]
        if isinstance(a, RuntimeValue):
            self.numbers.append((self._new(), a.place, compute))
            return self.numbers[-1][0]
        return self._new(self.number(a, compute))

    def number(self, x: Any, compute: Any) -> Any:
        """A number for a kernel, as a 0-d array, which is faster in NumPy than a scalar."""
        found = self.backend.number(x, compute)
        return self.backend.xp.asarray(found) if isinstance(found, np.generic) else found


def _is_default(p: Param, v: Any) -> bool:
    return type(v) is type(p.default) and v == p.default


def _axes(place: Place) -> tuple[int, ...] | None:
    """The permutation of a whole block that gives the place; None for other views."""
    meta = place.block.meta
    if place.offset or place.dtype is not meta.dtype or sorted(place.shape) != sorted(meta.shape):
        return None
    left = list(range(len(meta.shape)))
    axes = []
    for size, stride in zip(place.shape, place.strides, strict=True):
        found = next((k for k in left if meta.shape[k] == size and meta.strides[k] == stride), None)
        if found is None:
            return None
        left.remove(found)
        axes.append(found)
    return tuple(axes)


def _fetcher(wanted: list[Any]) -> Callable[[list[Any]], Any]:
    """A function that gets a kernel's arguments from the registers."""
    if any(isinstance(w, list) for w in wanted):
        return lambda arrays: [_filled(w, arrays) for w in wanted]
    if len(wanted) > 1:
        return itemgetter(*wanted)
    if not wanted:
        return lambda arrays: ()
    (only,) = wanted
    return lambda arrays: (arrays[only],)


def _filled(w: Any, arrays: list[Any]) -> Any:
    return [_filled(e, arrays) for e in w] if isinstance(w, list) else arrays[w]


def _flat(args: Any) -> list[Any]:
    return [x for a in args for x in (_flat(a) if isinstance(a, list) else (a,))]
