"""A session's profiler: kernels, batches planned and eager, new programs.

Nothing else in a session reads a clock, and only profiles depend on it.
"""

from __future__ import annotations

from collections import deque
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gradd_protocol.messages import Profiled
from gradd_protocol.profiles import BatchTime, KernelRun, KernelTime, Miss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_protocol.program import Program, Step

#: latest batches and misses in a profile, and latest calls of kernels
LATEST, LATEST_CALLS = 1000, 10_000


class Profiler:
    """One measurement, of the next `left` batches or until it is stopped. `synchronize` waits for the device,
    so that a kernel's time is its own.
    """

    def __init__(self, synchronize: Any, left: int | None = None) -> None:
        self.synchronize = synchronize
        self.left = left
        self._kernels: dict[tuple[str, str], list[float]] = {}
        self._batches: deque[BatchTime] = deque(maxlen=LATEST)
        self._misses: deque[Miss] = deque(maxlen=LATEST)
        self._calls: deque[KernelRun] = deque(maxlen=LATEST_CALLS)
        self._counts = {"planned": 0, "eager": 0, "hits": 0, "new_programs": 0, "bytes_in": 0, "bytes_out": 0}
        self._seconds = self._waited = self._wait = 0.0
        self._came: float | None = None
        self._last: tuple[str, Program] | None = None

    # -- kernels -------------------------------------------------------------------------------------

    def kernel(self, name: str, how: str, began: float) -> None:
        """Count a kernel's run, which is over."""
        seconds = perf_counter() - began
        self._calls.append(KernelRun(name, round(began, 7), round(seconds, 7)))
        found = self._kernels.setdefault((name, how), [0, 0.0])
        found[0] += 1
        found[1] += seconds

    def watch(self, name: str, kernel: Any, args: Any, attrs: Any) -> Any:
        """Run and time a backend's kernel outside of plans."""
        began = perf_counter()
        found = kernel(*args, **attrs)
        self.synchronize()
        self.kernel(name, "eager", began)
        return found

    # -- batches and programs ------------------------------------------------------------------------

    def waited(self, came: float, began: float) -> None:
        """The next frame waited in a queue, from when it came."""
        self._came, self._wait = came, began - came

    def begin(self) -> float:
        """A batch begins; pass the result to `batch`."""
        return perf_counter()

    def batch(
        self, began: float, position: int, program: str, steps: int, why: str, writer: int, seq: int,
        recording: float,
    ) -> None:  # fmt: skip
        """A batch ended; `why` it was eager, empty if planned; `recording`: as its writer told it."""
        seconds = perf_counter() - began
        how = "eager" if why else "planned"
        self._counts[how] += 1
        self._seconds += seconds
        self._waited += self._wait
        came = began if self._came is None else self._came
        self._batches.append(
            BatchTime(
                position, program, steps, how, why, seconds, self._wait, came, began, writer, seq, recording
            )
        )
        self._wait, self._came = 0.0, None
        if self.left is not None:
            self.left -= 1

    def bytes(self, came: int, went: int) -> None:
        """Count the bytes of a frame and its reply."""
        self._counts["bytes_in"] += came
        self._counts["bytes_out"] += went

    def known(self, id: str, program: Program) -> None:
        """A batch used a program that the session knows."""
        self._counts["hits"] += 1
        self._last = id, program

    def new(self, id: str, program: Program) -> None:
        """A batch brought a new program; find where it differs from the one before."""
        self._counts["new_programs"] += 1
        if self._last is not None:
            like, before = self._last
            at = next(
                (i for i, (a, b) in enumerate(zip(before.steps, program.steps, strict=False)) if a != b),
                min(len(before.steps), len(program.steps)),
            )
            was, found = _spelled(before.steps, at), _spelled(program.steps, at)
            self._misses.append(Miss(id, like, at, was, found))
        else:
            self._misses.append(Miss(id))
        self._last = id, program

    def report(self, batches: int = LATEST, calls: int = LATEST_CALLS) -> Profiled:
        """What was measured so far; of the latest `batches` and `calls` each of these."""
        rows = sorted(self._kernels.items(), key=lambda item: -item[1][1])
        told = list(self._batches)[-batches:]
        began = told[0].began if told else 0.0
        runs = [run for run in self._calls if run.began >= began] if batches < LATEST else list(self._calls)
        return Profiled(
            kernels=[KernelTime(name, how, int(calls), spent) for (name, how), (calls, spent) in rows],
            batches=told, misses=list(self._misses), seconds=self._seconds,
            waited=self._waited, calls=runs[-calls:], front=[], **self._counts,
        )  # fmt: skip


def _spelled(steps: Sequence[Step], at: int) -> str:
    """A step as text, or a placeholder past the end."""
    if at >= len(steps):
        return "(end)"
    step = steps[at]
    given = ", ".join([*map(str, step.inputs), *(f"{k}={v}" for k, v in step.attrs.items())])
    return f"{step.op}({given})"[:500]
