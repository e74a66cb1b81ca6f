"""What of a plan is captured: its graphs, what goes in and what comes out, and the steps between graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine.data import Meta, from_numpy, state

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradd_engine.backends.array import ArrayBackend

    from .registers import Registers

#: most random steps of a graph, and kinds of checks
MOST_KEYS, MOST_CHECKS = 256, 64


class GraphKeys:
    """In place of a random stream while a graph is captured: keys that are in the device's memory, which the
    graph moves on to those of the next launch. The host sets them only where the stream is elsewhere.
    """

    def __init__(self, xp: Any, fusing: Any) -> None:
        self._fusing = fusing
        #: how far all keys move, then the keys
        self.keys = xp.zeros((1 + MOST_KEYS, 2), np.int64)
        self.drawn = 0
        #: those of the last launch, and those that the device has now
        self._last: list[tuple[int, int]] = []
        self._there: list[tuple[int, int]] = []

    def next(self) -> Any:
        """The next one."""
        if self.drawn == MOST_KEYS:
            raise RuntimeError(f"it draws more than {MOST_KEYS} times")
        self.drawn += 1
        return self._fusing.DeviceKeys(self.keys, self.drawn)

    def move(self) -> None:
        """Have the keys of the next launch: the last that is captured."""
        if self.drawn:
            keys = self.keys[1 : self.drawn + 1]
            keys += self.keys[0]

    def draw(self, stream: Any) -> None:
        """Take as many keys from a random stream as were asked for, for the next launch."""
        if not self.drawn:
            return
        drawn = [stream.next() for _ in range(self.drawn)]
        by = drawn[0][1] - self._last[0][1] if self._last else self.drawn
        if drawn != self._there:
            signed = self._fusing.signed
            rows = [(0, signed(by)), *[(signed(seed), signed(step)) for seed, step in drawn]]
            self.keys[: self.drawn + 1].set(np.array(rows, np.int64))
        self._last, self._there = drawn, [(seed, step + by) for seed, step in drawn]


class GraphDoubts:
    """In place of a session's open checks while a graph is captured: the graph itself notes what it finds of
    each kind, in one of `words`, int64 (n, 2).
    """

    def __init__(self, words: Any) -> None:
        self._words = words
        #: by kind: its word, and the number in it
        self.kept: dict[Any, tuple[Any, Any]] = {}

    def word(self, xp: Any, check: Any) -> Any:
        """See Doubts.word."""
        if check not in self.kept:
            if len(self.kept) == MOST_CHECKS:
                raise RuntimeError(f"it checks more than {MOST_CHECKS} kinds of values")
            word = self._words[len(self.kept)]
            self.kept[check] = word, word.view(np.uint64)[1]
        return self.kept[check][0]

    def used(self, check: Any) -> None:
        """See Doubts.used: a session is told after each launch."""
        assert check in self.kept

    def add(self, check: Any, number: Any) -> None:
        """See Doubts.add."""
        self.word(None, check)
        np.maximum(self.kept[check][1], number, out=self.kept[check][1])


class GraphSegment:
    """Steps of a plan as one graph. `writes`: whether what they do cannot be undone."""

    def __init__(self, graph: Any, keys: GraphKeys, writes: bool) -> None:
        self._graph, self._keys, self._writes = graph, keys, writes

    def run(self, f: Registers) -> None:
        """Launch it."""
        self._keys.draw(f.generator)
        if self._writes:
            f.wrote, f.account.heeds = True, False
        self._graph.launch()


class StepsBetween:
    """Steps of a plan that are in no graph. `given`: the registers when they begin, but for `outer` ones,
    which each run has of its own. What they make is elsewhere each time: registers that are `settled` are
    copied to memory where graphs find it, and `handed` ones are results of the plan as they are.
    """

    def __init__(
        self, body: Callable[[Registers], None], given: list[Any], outer: Sequence[int],
        settled: dict[int, Any], settle: Callable[[Sequence[Any], Sequence[Any]], None],
        handed: Sequence[int],
    ) -> None:  # fmt: skip
        self._body, self._given, self._outer = body, given, outer
        self._settled, self._settle, self._handed = settled, settle, handed

    def run(self, f: Registers) -> None:
        """Run them one by one."""
        theirs, f.arrays = f.arrays, self._given.copy()
        try:
            for r in self._outer:
                f.arrays[r] = theirs[r]
            self._body(f)
            made = f.arrays
        finally:
            f.arrays = theirs
        self._settle([made[r] for r in self._settled], [*self._settled.values()])
        for home in self._handed:
            theirs[home] = made[home]


class GraphCapture:
    """A plan's graphs, and what goes in and comes out of them. `moving`: registers whose arrays are elsewhere
    each time; `outer`: see PlanGraph; `homes`: registers of results, and their geometries.
    """

    def __init__(
        self, backend: ArrayBackend, f: Registers, moving: Sequence[int], outer: dict[int, int],
        numbers: Sequence[int], homes: dict[int, Meta],
    ) -> None:  # fmt: skip
        xp, fusing = backend.xp, backend.kernels.fusing
        self._backend, self._fusing, self._outer = backend, fusing, outer
        #: what values and addresses are fixed
        self.late = ""
        self.fixed: dict[int, int] = {}
        #: what runs, one after another; empty until the first run has found it
        self.parts: list[GraphSegment | StepsBetween] = []
        #: the registers as the graphs have them; forgotten once these are made
        self.arrays = f.arrays.copy()
        #: (register, memory of the graphs) of inputs that are copied, and what copies them
        self.staged: list[tuple[int, Any]] = []
        #: register of a run-time number -> (where the graphs read it, the array that was copied there)
        self._cells: dict[int, tuple[Any, Any]] = {}
        for r in moving:
            self.arrays[r] = backend.allocate(geometry(f.arrays[r]))
            self.staged.append((r, self.arrays[r]))
        for r in numbers:
            if isinstance(self.arrays[r], xp.ndarray):
                self.arrays[r] = f.arrays[r].copy()
                self._cells[r] = self.arrays[r], f.arrays[r]
        given = [f.arrays[r] for r, _ in self.staged]
        self._stage = fusing.copying(xp, given, [a for _, a in self.staged])
        back = [(a, f.arrays[r]) for r, a in self.staged if outer[r]]
        self._bring = fusing.copying(xp, [a for a, _ in back], [a for _, a in back])
        #: results that are copied out of the graphs' memory: their geometries, the memory, and what copies
        self.results = homes
        self._made: list[Any] = []
        self._take: Callable[[Sequence[Any], Sequence[Any]], None]
        words = xp.zeros((MOST_CHECKS, 2), np.int64)
        self.doubts = GraphDoubts(words)
        #: how many errors the session had told when the words were found to say nothing
        self._failures: int = getattr(state.doubts, "failures", 0)
        #: where windows into what is made begin
        self._starts: dict[int, int] = {}
        kept = [a for _, a in self.staged] + [cell for cell, _ in self._cells.values()]
        #: bytes that it keeps
        self.nbytes = words.nbytes + sum(a.nbytes for a in kept)
        self.launches = 0

    def run(self, f: Registers, make: Callable[[Registers, GraphCapture], None] | None = None) -> None:
        """Do what the plan's steps do. The first time `make` does, and finds the parts."""
        arrays, doubts = f.arrays, state.doubts
        taken = self._taken()
        self._stage([arrays[r] for r, _ in self.staged], [a for _, a in self.staged])
        self._renew(arrays)
        if self.doubts.kept and doubts.failures != self._failures:
            self._failures = doubts.failures
            for word, _ in self.doubts.kept.values():
                word[...] = 0
        if f.keep is not None and (make is not None or len(self.parts) > 1):
            f.keep()
        self.launches += 1
        try:
            if make is not None:
                before = {*f.starts}
                make(f, self)
                self._starts = {w: at for w, at in f.starts.items() if w not in before}
                self._settle_results(taken)
            else:
                f.starts.update(self._starts)
                for part in self.parts:
                    part.run(f)
        finally:
            # Also if something between graphs raises: what they noted before, and nobody told yet, is there.
            for check, (_, number) in self.doubts.kept.items():
                doubts.keep(check, number)
        f.wrote, f.account.heeds = True, False
        written = [(a, arrays[r]) for r, a in self.staged if self._outer[r]]
        self._bring([a for a, _ in written], [a for _, a in written])
        self._take(self._made, [taken[h] for h in self.results])
        for home in self.results:
            arrays[home] = taken[home]

    def _settle_results(self, taken: dict[int, Any]) -> None:
        self._made = [self.arrays[h] for h in self.results]
        self._take = self._fusing.copying(self._backend.xp, self._made, [taken[h] for h in self.results])
        self.arrays = []

    def _renew(self, arrays: Sequence[Any]) -> None:
        """Copy run-time numbers that have changed to where the graphs read them."""
        for r, (cell, held) in self._cells.items():
            if arrays[r] is not held:
                cell[...] = arrays[r]
                self._cells[r] = cell, arrays[r]

    def _taken(self) -> dict[int, Any]:
        """Memory of their own for results: the next launch has others in the graphs'. It is there before
        anything is written, or nothing is.
        """
        return {home: self._backend.allocate(m) for home, m in self.results.items()}


def geometry(a: Any) -> Meta:
    """An array's geometry."""
    return Meta(tuple(a.shape), from_numpy(a.dtype), tuple(s // a.itemsize for s in a.strides))
