"""What every question needs: rows, measuring two sides in turn, and a command line."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import msgspec

from .daemon import cpu_seconds, serving

US = 1e6
MS = 1e3
#: median and quartiles
Spread = tuple[float, float, float]
#: whose CPU time is measured
PROCESSES = ("client", "front", "engine")


class Curve(msgspec.Struct):
    """A picture: what a step costs (µs) along something, by process. `name` is that of its file."""

    name: str
    title: str
    along: str
    points: dict[str, list[tuple[float, float]]]


class Row(msgspec.Struct, kw_only=True):
    """One figure. `value` is in `unit` ("" for a ratio), `low` and `high` its quartiles over the rounds; None
    where it was not measured, and `note` says why. `cpu` is that of a step in µs, by process: its median and
    quartiles over the rounds.
    """

    work: str
    #: the file that asked
    question: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    bar: float | None = None
    at_least: bool = False
    mine: str = ""
    peer: str = ""
    cpu: dict[str, Spread] = {}
    note: str = ""
    #: what gradd took in ms, where `value` is a ratio
    took: float | None = None
    #: what the other peers took, each by its name
    others: str = ""
    #: where the time goes, from a profile of this run
    where: str = ""
    #: how it compares with another commit, if asked
    against: str = ""
    #: how it came to that figure
    curve: Curve | None = None

    def met(self) -> bool | None:
        """Whether the bar is met; None where there is no bar or no figure."""
        if self.value is None or self.bar is None:
            return None
        return self.value >= self.bar if self.at_least else self.value <= self.bar


@dataclass
class Timing:
    """Seconds a step of each round on all sides, and CPU seconds a step of my processes."""

    mine: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)
    cpu: dict[str, list[float]] = field(default_factory=dict)
    others: dict[str, list[float]] = field(default_factory=dict)

    def ratio(self, work: str, bar: float | None = None) -> Row:
        """The row of my time over the peer's, both of the same round."""
        ratios = [m / p for m, p in zip(self.mine, self.peer, strict=False)]
        row = self.time(work, None, MS, "ms")
        row.took = row.value
        row.mine = f"{row.value:.3f} ms" if row.value is not None else ""
        row.peer = f"{MS * statistics.median(self.peer):.3f} ms" if self.peer else ""
        row.unit, row.bar = "", bar
        row.value, row.low, row.high = spread(ratios) if ratios else (None, None, None)
        if not ratios:
            row.note = "no peer"
        return row

    def time(self, work: str, bar: float | None, scale: float, unit: str) -> Row:
        """The row of my time alone, in `unit` (`scale` of them make a second)."""
        value, low, high = spread([scale * s for s in self.mine])
        peer = f"{scale * statistics.median(self.peer):.1f} {unit}" if self.peer else ""
        return Row(
            work=work, value=value, low=low, high=high, unit=unit, bar=bar, peer=peer,
            cpu={process: spread([US * s for s in each]) for process, each in self.cpu.items()},
            others=", ".join(
                f"{name} {_digits(scale * statistics.median(s))} {unit}" for name, s in self.others.items()
            ),
        )  # fmt: skip


def _digits(value: float) -> str:
    """Three digits, and never an exponent for what is large."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def spread(values: list[float]) -> Spread:
    """Median and quartiles."""
    ordered = sorted(values)
    n = len(ordered)
    return statistics.median(ordered), ordered[n // 4], ordered[(3 * n) // 4 - (n > 1 and n % 4 == 0)]


@dataclass
class Bench:
    """Where to measure, how much, and against whom. `pid` is the daemon's, None for `local:`."""

    url: str
    pid: int | None
    torch: ModuleType | None
    effort: str = "full"
    #: whether to measure the peers beside torch eager too, where they are installed
    beside: bool = False

    def pick(self, full: int, quick: int, smoke: int = 1) -> int:
        """A count by effort."""
        return {"full": full, "quick": quick, "smoke": smoke}[self.effort]

    @property
    def peer(self) -> Any:
        """torch, or None."""
        return self.torch

    def interleave(
        self, mine: Callable[[], Any], peer: Callable[[], Any] | None, steps: int, rounds: int | None = None,
        warm: int = 2, others: Mapping[str, Callable[[], Any]] | None = None,
    ) -> Timing:  # fmt: skip
        """Call all in turn, another one beginning each round. Each call makes `steps` steps and waits for the
        last."""
        found = Timing(others={name: [] for name in others or ()})
        sides = [(mine, found.mine)]
        if peer is not None:
            sides.append((peer, found.peer))
        sides += [(work, found.others[name]) for name, work in (others or {}).items()]
        for _ in range(warm if self.effort != "smoke" else 1):
            for work, _ in sides:
                work()
        rounds = rounds or self.pick(21, 7)
        for n in range(rounds):
            first = n % len(sides)
            for work, seconds in sides[first:] + sides[:first]:
                before = cpu_seconds(self.pid)
                seconds.append(seconds_of(work) / steps)
                if work is mine:
                    for process, used in cpu_seconds(self.pid).items():
                        found.cpu.setdefault(process, []).append((used - before[process]) / steps)
        return found


def seconds_of(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def single_threaded_torch() -> ModuleType | None:
    """torch with one thread, where it is installed."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    return torch


#: one thread, here and in every process that is started from here; numpy and jax read it on import
_ONE_THREAD = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}


#: where the environment pins OpenBLAS to the kernels of another processor, gradd would be measured with
#: these, and torch with those of this one
_PINS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def main(question: Callable[[Bench], list[Row]], strict: bool = False) -> None:
    """The command line of a question's file. Prints the rows, as text or as one JSON line. `strict`: as text,
    exit with 1 if a bar is not met.
    """
    parser = argparse.ArgumentParser(description=sys.modules[question.__module__].__doc__)
    parser.add_argument("--url", help="a daemon, or local:; by default one is started")
    parser.add_argument("--effort", choices=("full", "quick", "smoke"), default="full")
    parser.add_argument(
        "--no-torch", action="store_true", help="leave out torch and the other peers but raw TCP"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not _ONE_THREAD.items() <= os.environ.items() or any(pin in os.environ for pin in _PINS):
        kept = {name: value for name, value in os.environ.items() if name not in _PINS}
        os.execve(sys.executable, sys.orig_argv, {**kept, **_ONE_THREAD})
    torch = None if options.no_torch else single_threaded_torch()
    here = nullcontext((options.url, None)) if options.url else serving()
    with here as (url, pid):
        os.environ["GRADD_URL"] = url
        beside = options.effort != "smoke" and not options.no_torch
        rows = question(Bench(url, pid, torch, options.effort, beside))
    if options.json:
        print(msgspec.json.encode(rows).decode())
    else:
        from .report import table

        print(table(rows))
        if strict and any(row.met() is False for row in rows):
            sys.exit(1)
