"""A plan on a device as one CUDA graph: a step is one launch, whatever its kernels.

A graph finds memory where it was when it was captured. Inputs whose addresses change are copied to memory of
the graph first, and results are copied out of it, in one launch for many. Random keys and run-time numbers
are read from memory. What a graph cannot hold (kernels that wait for the device, memory that is written to
and is elsewhere each time) leaves the plan as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine.data import Meta, ambient, from_numpy, state

from .registers import Registers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradd_engine.backends.array import ArrayBackend

    from .registers import PlanStep

#: most random steps of a graph, and kinds of checks
MOST_KEYS, MOST_CHECKS = 256, 64
#: most captures in a row that are launched less often than one is worth: what a graph has fixed may change
CAPTURES, WORTH = 3, 16


class GraphKeys:
    """In place of a random stream while a graph is captured: keys that are in the device's memory."""

    def __init__(self, fusing: Any, keys: Any) -> None:
        self._fusing, self._keys = fusing, keys
        self.drawn = 0

    def next(self) -> Any:
        """The next one."""
        if self.drawn == MOST_KEYS:
            raise RuntimeError(f"it draws more than {MOST_KEYS} times")
        self.drawn += 1
        return self._fusing.DeviceKeys(self._keys, self.drawn - 1)


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


class GraphCapture:
    """A graph, and what goes in and comes out of it."""

    def __init__(self, graph: Any, late: str, fixed: dict[int, int]) -> None:
        self.graph, self.late, self.fixed = graph, late, fixed
        #: (register, memory of the graph) of inputs that are copied, and what copies them
        self.staged: list[tuple[int, Any]] = []
        self.stage: Callable[[Sequence[Any], Sequence[Any]], None]
        #: copies those that were written to back to the inputs
        self.bring: Callable[[Sequence[Any], Sequence[Any]], None]
        #: register of a run-time number -> (where the graph reads it, the array that was copied there)
        self.cells: dict[int, tuple[Any, Any]] = {}
        self.keys: Any = None
        self.drawn = 0
        #: (register, memory of the graph, geometry) of results, and what copies them
        self.results: list[tuple[int, Any, Meta]] = []
        self.take: Callable[[Sequence[Any], Sequence[Any]], None]
        self.doubts: dict[Any, tuple[Any, Any]] = {}
        #: bytes that it keeps
        self.nbytes = 0
        self.launches = 0
        #: how many errors the session had told when they were found to say nothing
        self.failures = 0
        #: where windows into what it makes begin
        self.starts: dict[int, int] = {}


class PlanGraph:
    """Runs a plan's steps: `early` ones, which find inputs in memory, then the `body`, by a graph if it can.

    `outer`: registers that the body gets from inputs and early steps, and if it writes to their memory, how
    many of them share it; `numbers`: registers of run-time numbers; `late`: places of other values; `homes`:
    registers of what outlives the program.
    """

    def __init__(
        self, backend: ArrayBackend, early: Sequence[PlanStep], body: Callable[[Registers], None],
        outer: dict[int, int], numbers: Sequence[int], late: Sequence[int], homes: Sequence[int],
    ) -> None:  # fmt: skip
        self._backend, self._early, self._body = backend, early, body
        self._outer, self._numbers, self._late, self._homes = outer, numbers, late, homes
        self._captured: GraphCapture | None = None
        self._moving: set[int] = set()
        self._before: dict[int, int] | None = None
        self._captures = 0
        #: why there is no graph, once that is settled
        self.why = ""

    def run(self, f: Registers) -> None:
        """Do what the plan's steps do."""
        for step in self._early:
            step.run(f)
        if self.why:
            self._run_body(f)
            return
        now, late = self._addresses(f.arrays), self._values(f)
        known = self._captured
        if known is not None and (known.late != late or any(now[r] != at for r, at in known.fixed.items())):
            self._captures *= known.launches < WORTH
            known = self._captured = None
        before, self._before = self._before, now
        if known is None and before is not None:
            self._moving.update(r for r, at in now.items() if before.get(r) != at)
            known = self._captured = self._capture(f, late, now)
        if known is None:
            self._run_body(f)
        else:
            self._launch(f, known)

    @property
    def nbytes(self) -> int:
        """Bytes that its graph keeps."""
        return 0 if self._captured is None else self._captured.nbytes

    def give_up(self, why: str) -> None:
        """Run without a graph from now on."""
        self._captured, self.why = None, why

    def _run_body(self, f: Registers) -> None:
        if f.keep is not None:
            f.keep()
        self._body(f)

    def _addresses(self, arrays: Sequence[Any]) -> dict[int, int]:
        """Where what the body gets is now."""
        return {r: int(arrays[r].data.ptr) for r in self._outer if arrays[r] is not None}

    def _values(self, f: Registers) -> str:
        """What a graph has fixed beside addresses: values that kernels get as they are."""
        array = self._backend.xp.ndarray
        plain = [f.arrays[r] for r in self._numbers if not isinstance(f.arrays[r], array)]
        return repr(([f.values[at] for at in self._late], plain))

    def _capture(self, f: Registers, late: str, now: dict[int, int]) -> GraphCapture | None:
        """A graph of the body, which has not run; None where there can be none yet, or at all."""
        if any(self._outer[r] > 1 for r in self._moving):
            self.why = "it writes to memory that is elsewhere each time, and reads it in several ways"
        elif self._captures == CAPTURES:
            self.why = "addresses or numbers that a graph has fixed change again and again"
        else:
            self._captures += 1
            try:
                return self._captured_now(f, late, now)
            except Exception as error:
                self.why = f"capturing raised: {error}"
        return None

    def _captured_now(self, f: Registers, late: str, now: dict[int, int]) -> GraphCapture:
        backend, xp, fusing = self._backend, self._backend.xp, self._backend.kernels.fusing
        arrays = f.arrays.copy()
        staged, cells = [], {}
        for r in sorted(self._moving):
            arrays[r] = backend.allocate(_meta(arrays[r]))
            staged.append((r, arrays[r]))
        for r in self._numbers:
            if isinstance(arrays[r], xp.ndarray):
                arrays[r] = arrays[r].copy()
                cells[r] = arrays[r], f.arrays[r]
        keys = xp.zeros((MOST_KEYS, 2), np.int64)
        drawing = GraphKeys(fusing, keys)
        words = xp.zeros((MOST_CHECKS, 2), np.int64)
        doubts = GraphDoubts(words)
        inner = Registers(arrays, f.values, iter(()), drawing, f.account, f.flats, f.begins, {**f.starts})
        with ambient(doubts=None if state.doubts is None else doubts):
            graph = backend.capture(lambda: self._body(inner))
        made = GraphCapture(graph, late, {r: at for r, at in now.items() if r not in self._moving})
        made.staged, made.cells, made.drawn = staged, cells, drawing.drawn
        made.keys = keys if drawing.drawn else None
        made.doubts, made.failures = doubts.kept, getattr(state.doubts, "failures", 0)
        kept = [a for _, a in staged] + [cell for cell, _ in cells.values()]
        made.nbytes = graph.nbytes + keys.nbytes + words.nbytes + sum(a.nbytes for a in kept)
        made.stage = fusing.copying(xp, [f.arrays[r] for r, _ in staged], [a for _, a in staged])
        back = [(a, f.arrays[r]) for r, a in staged if self._outer[r]]
        made.bring = fusing.copying(xp, [a for a, _ in back], [a for _, a in back])
        made.results = [(h, arrays[h], _meta(arrays[h])) for h in self._homes]
        out = [backend.allocate(m) for _, _, m in made.results]
        made.take = fusing.copying(xp, [a for _, a, _ in made.results], out)
        made.starts = {w: at for w, at in inner.starts.items() if w not in f.starts}
        return made

    def _launch(self, f: Registers, known: GraphCapture) -> None:
        arrays = f.arrays
        known.stage([arrays[r] for r, _ in known.staged], [a for _, a in known.staged])
        written = [(a, arrays[r]) for r, a in known.staged if self._outer[r]]
        self._renew(arrays, known)
        self._draw(f.generator, known)
        doubts = state.doubts
        if known.doubts and doubts.failures != known.failures:
            known.failures = doubts.failures
            for word, _ in known.doubts.values():
                word[...] = 0
        taken = self._taken(known)
        f.wrote, f.account.heeds = True, False
        known.launches += 1
        known.graph.launch()
        known.bring([a for a, _ in written], [a for _, a in written])
        known.take([a for _, a, _ in known.results], taken)
        for (home, _, _), a in zip(known.results, taken, strict=True):
            arrays[home] = a
        f.starts.update(known.starts)
        for check, (_, number) in known.doubts.items():
            doubts.keep(check, number)

    def _renew(self, arrays: Sequence[Any], known: GraphCapture) -> None:
        """Copy run-time numbers that have changed to where the graph reads them."""
        for r, (cell, held) in known.cells.items():
            if arrays[r] is not held:
                cell[...] = arrays[r]
                known.cells[r] = cell, arrays[r]

    def _draw(self, stream: Any, known: GraphCapture) -> None:
        """Give the graph its random keys."""
        if known.drawn:
            signed = self._backend.kernels.fusing.signed
            drawn = [[*map(signed, stream.next())] for _ in range(known.drawn)]
            known.keys[: known.drawn].set(np.array(drawn, np.int64))

    def _taken(self, known: GraphCapture) -> list[Any]:
        """Memory of their own for results: the next launch has others in the graph's. It is there before
        anything is written, or nothing is.
        """
        return [self._backend.allocate(m) for _, _, m in known.results]


def _meta(a: Any) -> Meta:
    """An array's geometry."""
    return Meta(tuple(a.shape), from_numpy(a.dtype), tuple(s // a.itemsize for s in a.strides))
