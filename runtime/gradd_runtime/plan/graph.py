"""A plan on a device as one CUDA graph: a step is one launch, whatever its kernels.

A graph finds memory where it was when it was captured. Inputs whose addresses change are copied to memory of
the graph first, and results are copied out of it, in one launch for many. Random keys and run-time numbers
are read from memory. Where a graph cannot hold a step (it waits for the device), what is before and after it
become graphs of their own; memory that is written to and is elsewhere each time leaves the plan as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .captured import GraphCapture
from .segments import Segmenting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradd_engine.backends.array import ArrayBackend

    from .registers import PlanStep, Registers
    from .segments import GraphSteps

#: most captures in a row that are launched less often than one is worth: what a graph has fixed may change
CAPTURES, WORTH = 3, 16


class PlanGraph:
    """Runs a plan's steps: `early` ones, which find inputs in memory, then the `body`, which does what `code`
    says, by graphs if it can.

    `outer`: registers that the body gets from inputs and early steps, and if it writes to their memory, how
    many of them share it; `numbers`: registers of run-time numbers; `late`: places of other values.
    """

    def __init__(
        self, backend: ArrayBackend, early: Sequence[PlanStep], body: Callable[[Registers], None],
        code: GraphSteps, outer: dict[int, int], numbers: Sequence[int], late: Sequence[int],
    ) -> None:  # fmt: skip
        self._backend, self._early, self._body, self._code = backend, early, body, code
        self._outer, self._numbers, self._late = outer, numbers, late
        self._captured: GraphCapture | None = None
        self._moving: set[int] = set()
        self._before: dict[int, int] | None = None
        self._captures = 0
        #: steps that cannot be captured, and why
        self._blocked: dict[int, str] = {}
        #: why there is no graph, once that is settled
        self.why = ""
        #: in how many graphs it runs, and why it is not one; empty where it is
        self.parted = ""

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
        if known is not None:
            known.run(f)
            return
        if before is not None:
            self._moving.update(r for r, at in now.items() if before.get(r) != at)
            known = self._begun(f)
        if known is None:
            self._run_body(f)
        else:
            known.late, known.fixed = late, {r: at for r, at in now.items() if r not in self._moving}
            self._capture(f, known)

    @property
    def nbytes(self) -> int:
        """Bytes that its graphs keep."""
        return 0 if self._captured is None else self._captured.nbytes

    def give_up(self, why: str) -> None:
        """Run without a graph from now on."""
        self._captured, self.why, self.parted = None, why, ""

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

    def _begun(self, f: Registers) -> GraphCapture | None:
        """A capture without its graphs; None, with nothing done, where there can be none yet, or at all."""
        if any(self._outer[r] > 1 for r in self._moving):
            self.give_up("it writes to memory that is elsewhere each time, and reads it in several ways")
        elif self._captures == CAPTURES:
            self.give_up("addresses or numbers that a graph has fixed change again and again")
        else:
            self._captures += 1
            try:
                moving = sorted(self._moving)
                return GraphCapture(
                    self._backend, f, moving, self._outer, self._numbers, self._code.homes
                )  # fmt: skip
            except Exception as error:
                self.give_up(f"capturing raised: {error}")
        return None

    def _capture(self, f: Registers, known: GraphCapture) -> None:
        """Do what the body does, and have graphs of it for the next time."""
        made = Segmenting(self._backend, self._code, self._outer, self._blocked)
        known.run(f, made.make)
        if not made.graphs:
            self.give_up(made.reason())
            return
        self._captured = known
        self.parted = f"as {made.graphs}, since {made.reason()}" if len(known.parts) > 1 else ""
