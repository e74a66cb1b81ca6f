"""Which steps of a plan become graphs: all of them, or what is between those that cannot be captured.

It is found out by trying, in a run of the plan: a segment is captured and launched, the step that it ends
before is run, and so on. A step that waits for the device raises while it is captured, before anything is
done.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from gradd_engine.data import Meta, ambient, is_dense, state

from .captured import GraphKeys, GraphSegment, StepsBetween, geometry
from .registers import Registers
from .straight import straight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.backends.array import ArrayBackend

    from .captured import GraphCapture
    from .registers import PlanStep
    from .sweep import PlanCode

#: fewest steps that launch something, for a segment to be a graph of its own
SHORTEST = 4
#: most steps of a plan that are found to be such as cannot be captured: each costs a capture
MOST_BLOCKED = 16


class GraphSteps(NamedTuple):
    """The steps of a plan that graphs may hold, and what is known of their registers."""

    steps: Sequence[PlanStep]
    #: the first step that cannot be undone
    writes_at: int
    #: whether to stop between steps if asked to
    looks: bool
    #: register -> the steps of each instruction that uses it, as (first, end)
    users: dict[int, list[tuple[int, int]]]
    #: registers of memory that steps write to
    changed: set[int]
    #: registers of what outlives the program, and their geometries
    homes: dict[int, Meta]

    @classmethod
    def after(
        cls, early: set[int], code: PlanCode, looks: bool, changed: set[int], homes: dict[int, Meta]
    ) -> GraphSteps:
        """Those of a plan that are not among its `early` ones."""
        rest = [step for n, step in enumerate(code.steps) if n not in early]
        #: by step of the plan, how many of these are before it
        before = [*accumulate((n not in early for n in range(len(code.steps))), initial=0)]
        users = {r: [(before[u.start], before[u.stop]) for u in those] for r, those in code.users.items()}
        return cls(rest, before[code.writes_at], looks, users, changed, homes)

    def used(self, first: int, end: int) -> set[int]:
        """The registers that the instructions of some steps use."""
        return {r for r, those in self.users.items() if any(a < end and first < b for a, b in those)}


class Segmenting:
    """Makes the parts of one capture. `blocked`: steps that cannot be captured, and why; found ones come to
    it.
    """

    def __init__(
        self, backend: ArrayBackend, code: GraphSteps, outer: dict[int, int], blocked: dict[int, str]
    ) -> None:
        self._backend, self._code, self._outer, self._blocked = backend, code, outer, blocked
        #: of each step whether it launches something
        self._launching = [step.name != "view" for step in code.steps]
        #: where steps that are in no graph begin, and the registers there
        self._open: tuple[int, list[Any]] | None = None
        #: what has the memory of all graphs
        self._graph: Any = None
        #: how many graphs there are
        self.graphs = 0
        #: why no more of the plan may be captured
        self.stopped = ""

    def make(self, f: Registers, capture: GraphCapture) -> None:
        """Run the steps and find the parts."""
        at, last = 0, len(self._code.steps)
        while at < last:
            end = last if self.stopped else min((n for n in self._blocked if n >= at), default=last)
            if not self.stopped and self._is_worth(at, end):
                if self._segment(f, capture, at, end):
                    at = end
                continue
            # the step that cannot be captured belongs to what is too short before it
            end = min(end + 1, last)
            self._between(f, capture, at, end)
            at = end
        self._close(f, capture, last, self._moved(capture), {})
        if self._graph is not None:
            capture.nbytes += self._graph.nbytes

    def _is_worth(self, at: int, end: int) -> bool:
        """Whether steps are many enough for a graph; a whole plan is."""
        return (at, end) == (0, len(self._code.steps)) or sum(self._launching[at:end]) >= SHORTEST

    def _segment(self, f: Registers, capture: GraphCapture, at: int, end: int) -> bool:
        """Capture steps and launch them; False, with nothing done, if one of them cannot be captured."""
        before, moved = capture.arrays, self._moved(capture)
        settled = self._settling(moved, at)
        if settled is None:
            self.stopped = "what is made between graphs is written to, and read in several ways"
            return False
        backend, xp = self._backend, self._backend.xp
        capture.arrays = [settled.get(r, a) for r, a in enumerate(before)]
        keys = GraphKeys(xp, backend.kernels.fusing)
        inner = Registers(
            capture.arrays, f.values, iter(()), keys, f.account, f.flats, f.begins, f.starts
        )  # fmt: skip
        tried = [at]

        def work() -> None:
            for n in range(at, end):
                tried[0] = n
                self._step(inner, n)
            tried[0] = end
            keys.move()

        try:
            with ambient(doubts=None if state.doubts is None else capture.doubts):
                graph = backend.capture(work, self._graph)
        except Exception as error:
            capture.arrays = before
            if tried[0] == end or len(self._blocked) == MOST_BLOCKED:
                self.stopped = f"capturing raised: {error}"
            else:
                self._blocked[tried[0]] = str(error)
            return False
        self._close(f, capture, at, moved, settled)
        part = GraphSegment(graph, keys, self._code.writes_at < end)
        part.run(f)
        capture.parts.append(part)
        capture.nbytes += keys.keys.nbytes + sum(a.nbytes for a in settled.values())
        self._graph = graph
        self.graphs += 1
        return True

    def _step(self, f: Registers, n: int) -> None:
        step = self._code.steps[n]
        step.run(f)
        for register in step.dead:
            f.arrays[register] = None

    def _between(self, f: Registers, capture: GraphCapture, at: int, end: int) -> None:
        """Run steps as they are."""
        if self._open is None:
            self._open = at, capture.arrays.copy()
        code = self._code
        theirs, f.arrays = f.arrays, capture.arrays
        try:
            for n in range(at, end):
                if code.looks and n <= code.writes_at and f.account.brim < 0:
                    f.account.look(f.account.asked)
                if n == code.writes_at:
                    f.wrote, f.account.heeds = True, False
                self._step(f, n)
        finally:
            f.arrays = theirs

    def _moved(self, capture: GraphCapture) -> dict[int, Any]:
        """What steps between graphs have made: no views of what was there when they began."""
        if self._open is None:
            return {}
        array, (_, given) = self._backend.xp.ndarray, self._open
        there = {id(a.data.mem) for a in given if isinstance(a, array)}
        return {
            r: a
            for r, a in enumerate(capture.arrays)
            if isinstance(a, array) and a is not given[r] and id(a.data.mem) not in there
        }

    def _settling(self, moved: dict[int, Any], at: int) -> dict[int, Any] | None:
        """Memory that stays for what of that is used from step `at` on; None where copies would part what is
        one memory, and is written to.
        """
        shared = Counter(id(a.data.mem) for a in moved.values())
        for r, a in moved.items():
            m = geometry(a)
            if r in self._code.changed and (shared[id(a.data.mem)] > 1 or not is_dense(m.shape, m.strides)):
                return None
        used = self._code.used(at, len(self._code.steps))
        return {r: self._backend.allocate(geometry(a)) for r, a in moved.items() if r in used}

    def _close(
        self, f: Registers, capture: GraphCapture, end: int, moved: dict[int, Any], settled: dict[int, Any]
    ) -> None:
        """Steps between graphs, if there are any, end here. Of what they have made, results that nobody needs
        any more are handed out as they are; what graphs need is copied to where they find it.
        """
        if self._open is None:
            return
        (first, given), code = self._open, self._code
        self._open = None
        used = code.used(first, end)
        staged = {r for r, _ in capture.staged}
        outer = [r for r in self._outer if r in used and r not in staged]
        # what nobody needs here need not be kept for it
        given = [a if r in used or r not in code.users else None for r, a in enumerate(given)]
        for r in outer:
            given[r] = None
        handed = [home for home in capture.results if home in moved and home not in settled]
        for home in handed:
            f.arrays[home] = moved[home]
        capture.results = {home: m for home, m in capture.results.items() if home not in handed}
        body = straight(code.steps[first:end], code.writes_at - first, code.looks)
        made, to = [moved[r] for r in settled], [*settled.values()]
        settle = self._backend.kernels.fusing.copying(self._backend.xp, made, to)
        settle(made, to)
        capture.parts.append(StepsBetween(body, given, outer, settled, settle, handed))

    def reason(self) -> str:
        """Which steps cannot be captured, why the first of them cannot, and why others were not tried."""
        if not self._blocked:
            return self.stopped
        names = dict.fromkeys(self._code.steps[n].name for n in sorted(self._blocked))
        said = f"{' and '.join(names)} cannot be captured ({self._blocked[min(self._blocked)]})"
        return f"{said}; {self.stopped}" if self.stopped else said
