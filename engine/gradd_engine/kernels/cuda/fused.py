"""Fused kernels: what several element-wise ops compute, in one launch.

A fused kernel has parts. Each goes over the elements of a shape: it loads its inputs, computes what its lines
say, and stores what is wanted after it. Blocks are shared out among the parts, so no part may read what
another stores. The source depends on ops, types and numbers of dimensions; sizes and strides are arguments.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .expressions import HELD, STORED
from .launch import MOST_BLOCKS, OPTIONS, THREADS, WARP, DeviceKeys, signed
from .sources import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

#: most arrays of a launch: the arguments of a kernel take at most 4 KiB
MOST_ARRAYS = 48
MOST_NUMBERS = 300
#: compiled kernels that a process keeps
KEPT = 4096
#: products and sums are rounded one by one, as kernels of a single op round them
EXACT = (*OPTIONS, "--fmad=false")


class FusedArray(NamedTuple):
    """An array that a part loads from or stores to: which of the launch, and its strides in elements over the
    part's shape, 0 where it is repeated.
    """

    at: int
    strides: tuple[int, ...]


class FusedLine(NamedTuple):
    """A value: an expression of what was loaded, `x0` and so on, and of lines before it, `v0` and so on; and
    its dtype's character.
    """

    text: str
    kind: str


class FusedPart(NamedTuple):
    """Values over the elements of a shape."""

    shape: tuple[int, ...]
    loads: tuple[FusedArray, ...]
    lines: tuple[FusedLine, ...]
    #: (name of a value, where it goes)
    stores: tuple[tuple[str, FusedArray], ...]


class FusedKernel:
    """A launch. `kinds`: the dtype's character of each array; `keys`: how many random keys it takes.

    ``source`` is its text, the same for whatever differs in sizes alone.
    """

    def __init__(self, kinds: Sequence[str], parts: Sequence[FusedPart], keys: int = 0) -> None:
        self.keys = keys
        self._numbers: list[int] = [0] * (2 * keys)
        #: where each part's blocks are told, and after it the elements
        self._starts: list[int] = []
        body = [self._part(*_merged(part), kinds) for part in parts]
        given = ["Numbers n", "View<const i64> keys"]
        given += [f"View<{STORED[k]}> a{n}" for n, k in enumerate(kinds)]
        count = max(len(self._numbers), 1)
        self.source = (
            f"struct Numbers {{\n    i64 of[{count}];\n}};\n"
            f"KERNEL fused({', '.join(given)}) {{\n    i64 block = blockIdx.x;\n"
            f"{''.join(body)}}}\n"
        )
        self._pack = np.zeros(1, np.dtype([("of", np.int64, (count,))]))
        self._pack["of"][0, : len(self._numbers)] = self._numbers
        self._blocks = sum(self._numbers[at] for at in self._starts)
        self._largest = max(self._numbers[at + 1] for at in self._starts)

    @property
    def numbers(self) -> int:
        """How many it has of them."""
        return len(self._numbers)

    def _part(
        self, shape: tuple[int, ...], loads: Sequence[FusedArray], stores: Sequence[tuple[str, FusedArray]],
        lines: Sequence[FusedLine], kinds: Sequence[str],
    ) -> str:  # fmt: skip
        """The C++ of a part whose shape is merged; its numbers are added."""
        count = prod(shape)
        at = self._take(min(MOST_BLOCKS, -(-count // THREADS)), count)
        self._starts.append(at)
        places: dict[tuple[int, ...], str] = {}
        text = [
            f"    if (block < n.of[{at}]) {{",
            f"        for (i64 i = block * blockDim.x + threadIdx.x, step = n.of[{at}] * blockDim.x;"
            f" i < n.of[{at + 1}]; i += step) {{",
        ]
        arrays = [*loads, *[a for _, a in stores]]
        wanted = sorted({a.strides for a in arrays} - {_row_major(shape)})
        wanted = [s for s in wanted if any(s)]
        if wanted:
            index = "u32" if count < 1 << 31 else "i64"
            sizes = self._take(*shape)
            text.append(f"            {index} r = ({index})i;")
            for d in range(len(shape) - 1, -1, -1):
                size = f"({index})n.of[{sizes + d}]"
                text.append(f"            i64 c{d} = r{f' % {size}; r /= {size}' if d else ''};")
            for k, strides in enumerate(wanted):
                first = self._take(*strides)
                terms = [f"c{d} * n.of[{first + d}]" for d in range(len(shape))]
                text.append(f"            i64 p{k} = {' + '.join(terms)};")
                places[strides] = f"p{k}"

        def element(a: FusedArray) -> str:
            place = "i" if a.strides == _row_major(shape) else places.get(a.strides, "0")
            return f"a{a.at}[{place}]"

        for v, a in enumerate(loads):
            kind = kinds[a.at]
            text.append(f"            {HELD[kind]} x{v} = {_loaded(element(a), kind)};")
        for v, line in enumerate(lines):
            text.append(f"            {HELD[line.kind]} v{v} = {line.text};")
        for name, a in stores:
            text.append(f"            {element(a)} = {_stored(name, kinds[a.at])};")
        return "\n".join([*text, "        }", "        return;", "    }", f"    block -= n.of[{at}];", ""])

    def _take(self, *numbers: int) -> int:
        """Where numbers are that are added."""
        self._numbers += numbers
        return len(self._numbers) - len(numbers)

    def __call__(self, xp: Any, arrays: Sequence[Any], keys: Sequence[Any] = ()) -> None:
        """Start it on the current stream; nothing is done where there are no elements. Keys in the device's
        memory follow one another.
        """
        if not self._blocks:
            return
        there = None
        if keys and isinstance(keys[0], DeviceKeys):
            there = DeviceKeys(keys[0].keys, keys[0].at, len(keys)).array
        else:
            numbers = self._pack["of"][0]
            for n, key in enumerate(keys):
                numbers[2 * n : 2 * n + 2] = [signed(k) for k in key]
        given = [a if a.flags.c_contiguous else _spread(xp, a) for a in arrays]
        threads = THREADS if self._largest > WARP else WARP
        compiled(xp, self.source)((self._blocks, 1, 1), (threads, 1, 1), (self._pack, there, *given))


def _loaded(element: str, kind: str) -> str:
    return f"{element} != 0" if kind == "?" else f"wide({element})" if kind in "eE" else element


def _stored(value: str, kind: str) -> str:
    return f"narrow<{STORED[kind]}>({value})" if kind in "eE" else f"({STORED[kind]}){value}"


def _row_major(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


def _merged(
    part: FusedPart,
) -> tuple[tuple[int, ...], list[FusedArray], list[tuple[str, FusedArray]], tuple[FusedLine, ...]]:
    """A part's shape and arrays with as few dimensions as they all allow."""
    arrays = [*part.loads, *[a for _, a in part.stores]]
    kept: list[list[int]] = []  # a size, and each array's stride
    for d, size in enumerate(part.shape):
        if size == 1:
            continue
        strides = [a.strides[d] for a in arrays]
        if kept and all(before == s * size for before, s in zip(kept[-1][1:], strides, strict=True)):
            kept[-1] = [kept[-1][0] * size, *strides]
        else:
            kept.append([size, *strides])
    made = [FusedArray(a.at, tuple(k[1 + n] for k in kept)) for n, a in enumerate(arrays)]
    loads, rest = made[: len(part.loads)], made[len(part.loads) :]
    stores = [(v, a) for (v, _), a in zip(part.stores, rest, strict=True)]
    return tuple(k[0] for k in kept), loads, stores, part.lines


def _spread(xp: Any, a: Any) -> Any:
    """The memory that an array's elements are in, as a vector from the first to the last."""
    item = a.itemsize
    reach = 1 + sum((n - 1) * s for n, s in zip(a.shape, a.strides, strict=True)) // item
    return xp.ndarray((reach if a.size else 0,), a.dtype, a.data, (item,))


@lru_cache(KEPT)
def compiled(xp: Any, source: str) -> Any:
    """The kernel of a source."""
    module = xp.RawModule(code=whole(source), options=EXACT, name_expressions=["fused"], backend="nvrtc")
    return module.get_function("fused")


def whole(source: str) -> str:
    """The text that is compiled."""
    return f'{text_of("elements.cuh")}#line 1 "fused"\n{source}'
