"""The kernels of the 60 commonest ops beside torch's, at three sizes, with one thread and with two.

A case is run once by the engine, and the kernels that it calls are noted with their arguments; what is
measured is these calls in a row, as a plan makes them, without recording and autograd. Torch is measured as
it is called, forward without autograd, backward through it: at the small size this is mostly overhead.

GRADD_BENCH_OPS=FILE writes the table of every op there, as `python -m benchmarks --write` does of itself.
"""

from __future__ import annotations

import datetime
import gc
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from gradd_engine import ops as families
from gradd_engine.backends.array import NUMPY
from gradd_engine.data import ambient
from gradd_engine.data.rng import RandomStream
from gradd_engine.declare import functions
from gradd_engine.kernels import threads

from .bench import Bench, Row, main
from .op_cases import CASES, SIZES, Case
from .report import folded, machine

assert families.__all__, "importing the families declares them"

BAR = 1.5
THREADS = (1, 2)
#: seconds a round lasts at least, in calls of one side
_LEAST = 1e-3
#: seconds after which no further round begins, if there were two
_MOST = 0.15
_PAGE = """\
# Benchmarks of single ops

Written by `make bench`, and by `GRADD_BENCH_OPS=docs/benchmarks-ops.md python -m benchmarks.ops` alone.

{date}, {machine}.

What the kernels of gradd's engine take beside torch eager's, with one thread and with two, at three sizes:
about {sizes} elements of float32 in the main operand. A figure is gradd's time over torch's, each of the best
of rounds in turn (below 1 gradd is faster); with one thread it is CPU time, with two what a clock says, which
other work on the machine disturbs. After the figures with one thread stands gradd's time. Of gradd the calls
of the kernels are measured, as a plan makes them; of torch its own calls, whose dispatch and, backward,
autograd are most of the time at the small size. Bold is what is above {bar}.

{table}
"""


class Figure(NamedTuple):
    """Seconds of one case at one size, by number of threads; `peer` is empty without torch."""

    name: str
    size: str
    mine: dict[int, float]
    peer: dict[int, float]

    def ratio(self, count: int) -> float | None:
        """My time over the peer's."""
        return self.mine[count] / self.peer[count] if self.peer else None


class _Names:
    """The engine's functions under torch's names: ``cat``, ``functional.relu``."""

    def __init__(self, space: str = "") -> None:
        self._space, self._all = space, functions()

    def __getattr__(self, name: str) -> Any:
        return self._all[self._space, name]


class Engine(_Names):
    """The engine as a library, as a case takes it."""

    functional = _Names("nn.functional")


class Torch:
    """Torch as a library, as a case takes it."""

    def __init__(self, torch: Any) -> None:
        self._torch, self.functional = torch, torch.nn.functional

    def __getattr__(self, name: str) -> Any:
        return getattr(self._torch, name)


def use_threads(count: int, torch: Any) -> None:
    """Let kernels, BLAS and torch use `count` threads."""
    threads.set_threads(count)
    blas = threads.blas_symbol("openblas_set_num_threads")
    if blas is not None:
        blas(count)
    if torch is not None:
        torch.set_num_threads(count)


Work = Callable[[], Any]


def _replayed(run: Work) -> tuple[Work, Any]:
    """The kernels that `run` calls, to call again, and its result."""
    calls: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []

    def note(name: str, kernel: Callable[..., Any], args: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        calls.append((kernel, args, dict(attrs)))
        return kernel(*args, **attrs)

    with NUMPY.watched(note):
        found = run()

    def again() -> None:
        for kernel, args, attrs in calls:
            kernel(*args, **attrs)

    return again, found


def mine(case: Case, arrays: list[Any], backward: bool) -> Work:
    """The engine's kernels for a case."""
    tensors = [NUMPY.from_array(a.copy()) for a in arrays]
    lib = Engine()
    if not backward:
        return _replayed(lambda: case.call(lib, *tensors))[0]
    for at in case.grads:
        tensors[at].requires_grad = True
    out = case.call(lib, *tensors)
    slope = lib.ones_like(out)
    return _replayed(lambda: out.backward(slope))[0]


def peers(case: Case, arrays: list[Any], backward: bool, torch: Any) -> Work:
    """Torch's call for a case."""
    tensors = [torch.from_numpy(a.copy()) for a in arrays]
    lib = Torch(torch)
    if not backward:

        def forward() -> Any:
            with torch.no_grad():
                return case.call(lib, *tensors)

        return forward
    for at in case.grads:
        tensors[at].requires_grad_()
    wanted = [tensors[at] for at in case.grads]
    out = case.call(lib, *tensors)
    slope = torch.ones_like(out)
    return lambda: torch.autograd.grad(out, wanted, slope, retain_graph=True)


def _timed(work: Work, calls: int, clock: Callable[[], float] = time.thread_time) -> float:
    began = clock()
    for _ in range(calls):
        work()
    return (clock() - began) / calls


def measure(sides: list[Work], rounds: int, clock: Callable[[], float]) -> list[float]:
    """Seconds of a call of each in the best of rounds in turn: the others had other work beside them."""
    calls = [max(1, int(_LEAST / max(_timed(work, 1, clock), 1e-7))) for work in sides]
    found: list[list[float]] = [[] for _ in sides]
    began = time.monotonic()
    for n in range(rounds):
        if n > 1 and time.monotonic() - began > _MOST:
            break
        for work, count, seconds in zip(sides, calls, found, strict=True):
            seconds.append(_timed(work, count, clock))
    return [min(seconds) for seconds in found]


def figures(bench: Bench, cases: tuple[Case, ...] = CASES) -> list[Figure]:
    """Every case at every size, forward and backward."""
    found = []
    sizes = dict(list(SIZES.items())[: bench.pick(3, 3, 1)])
    for case in cases:
        for size, n in sizes.items():
            for backward in (False, True) if case.grads else (False,):
                found.append(_figure(bench, case, size, n, backward))
                gc.collect()
    return found


def _figure(bench: Bench, case: Case, size: str, n: int, backward: bool) -> Figure:
    arrays = case.arrays(n, np.random.default_rng(0))
    with ambient(backend=NUMPY, generator=RandomStream(0)), np.errstate(all="ignore"):
        sides = [mine(case, arrays, backward)]
        if bench.torch is not None:
            sides.append(peers(case, arrays, backward, bench.torch))
        by_count: dict[int, list[float]] = {}
        for count in THREADS:
            use_threads(count, bench.torch)
            for work in sides:
                work()
            # CPU time, which other work on the machine does not change, is that of one thread
            clock = time.thread_time if count == 1 else time.perf_counter
            by_count[count] = measure(sides, bench.pick(7, 3), clock)
    use_threads(1, bench.torch)
    took = [{count: each[at] for count, each in by_count.items()} for at in range(len(sides))]
    return Figure(case.name + (", backward" if backward else ""), size, took[0], took[1] if took[1:] else {})


def rows(found: list[Figure]) -> list[Row]:
    """How many of a size are above the bar, and the worst."""
    out = []
    for size in dict.fromkeys(each.size for each in found):
        of_size = [each for each in found if each.size == size]
        row = Row(work=f"kernels of the commonest ops above {BAR} times torch's, {size}", bar=0)
        out.append(row)
        ratios = [(each.ratio(count), each.name, count) for each in of_size for count in THREADS]
        known = [(ratio, name, count) for ratio, name, count in ratios if ratio is not None]
        if not known:
            row.note = "no peer"
            continue
        row.value = len({name for ratio, name, _ in known if ratio > BAR})
        ratio, name, count = max(known)
        row.mine, row.peer = f"of {len(of_size)}", f"worst {ratio:.2f}: {name}, threads: {count}"
    return out


def _time(seconds: float) -> str:
    for scale, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _cell(ratio: float | None) -> str:
    if ratio is None:
        return "–"
    return f"**{ratio:.2f}**" if ratio > BAR else f"{ratio:.2f}"


def document(found: list[Figure]) -> str:
    """The page with the table."""
    by_name: dict[str, dict[str, Figure]] = {}
    for each in found:
        by_name.setdefault(each.name, {})[each.size] = each
    sizes = list(dict.fromkeys(each.size for each in found))
    head = ["op"]
    for size in sizes:
        head += [f"{size}, 1 thread", "gradd", *(f"{count} threads" for count in THREADS[1:])]
    lines = [head]
    for name, of_name in by_name.items():
        line = [name]
        for size in sizes:
            each = of_name[size]
            first, *more = (_cell(each.ratio(count)) for count in THREADS)
            line += [first, _time(each.mine[1]), *more]
        lines.append(line)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines]
    text.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    page = _PAGE.format(
        date=f"{datetime.date.today():%d %B %Y}", machine=machine(), bar=BAR, table="\n".join(text),
        sizes=", ".join(f"{n:,}" for n in SIZES.values()),
    )  # fmt: skip
    return folded(page)


def question(bench: Bench) -> list[Row]:
    """A row a size."""
    found = figures(bench)
    file = os.environ.get("GRADD_BENCH_OPS")
    if file:
        with open(file, "w") as page:
            page.write(document(found))
    return rows(found)


if __name__ == "__main__":
    main(question)
