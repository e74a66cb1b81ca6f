"""Is gradd slower here than in another clone, or at another commit? `python -m benchmarks.versus BASE`

Both sides answer the same questions, those of this clone, with the same interpreter and libraries, each time
in a process and with a daemon of its own. A pair is one run of each, next to each other in time, the other
side first in every second pair; its ratio is the time here over the time there. A figure is the median of its
ratios; with it stands the interval in which the true median lies with 90 % (order statistics: nothing is
assumed of the noise). A figure is

    worse      where the whole interval is above the bound (1.03: 3 % slower),
    doubtful   where the median is above it and the interval is not: asked again, up to --most pairs; if it
               stays so, it is worse where the whole interval is above 1, and noise where it is not,
    as before  otherwise.

The CPU time of a step (script and daemon together) is shown beside; `--by cpu` judges by it, for machines
with other work. The exit status is 1 where a figure is worse.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from . import QUESTIONS
from .bench import Row
from .daemon import ROOT
from .interpreter import run_on_best

ROOMS = ("client", "engine", "protocol", "runtime", "server")
MAIN = (
    "round_trip",
    "tiny_ops",
    "eager_engine",
    "mlp_sgd",
    "mlp_adam",
    "transformer",
    "convnet",
    "char_gpt",
    "lstm",
    "ppo",
    "recording",
)
SURE = 0.9
#: a ratio above it is worse
BOUND = 1.03


class Figure(msgspec.Struct, eq=False):
    """The ratios of one figure, a pair each; `cpu`: those of the CPU time of a step."""

    work: str
    question: str
    times: list[float] = []
    cpu: list[float] = []

    def verdict(self, by: str, bound: float, final: bool) -> str:
        """ "as before", "doubtful", "worse" or "noise", which is a doubt that stayed."""
        ratios = self.ratios(by)
        low, _ = interval(ratios)
        if statistics.median(ratios) <= bound:
            return "as before"
        if low > bound:
            return "worse"
        if not final:
            return "doubtful"
        return "worse" if low > 1 else "noise"

    def __str__(self) -> str:
        low, high = interval(self.times)
        median, verdict = statistics.median(self.times), self.verdict("time", BOUND, True)
        return f"{median:.3f} ({low:.3f} – {high:.3f}), {verdict}"

    def ratios(self, by: str) -> list[float]:
        """What is judged."""
        return self.cpu if by == "cpu" and self.cpu else self.times


def interval(ratios: list[float]) -> tuple[float, float]:
    """Where the true median lies with 90 %: anywhere, where there are fewer than five."""
    ordered, n, out = sorted(ratios), len(ratios), 0
    while 2 * sum(math.comb(n, k) for k in range(out + 1)) / 2**n <= 1 - SURE:
        out += 1
    return (ordered[out - 1], ordered[n - out]) if out else (0.0, math.inf)


def figures(rows: list[Row]) -> dict[str, tuple[float, float | None]]:
    """Time of each row, less is better, and the CPU time of a step."""
    found = {}
    for row in rows:
        value = row.took if row.took is not None else row.value
        if value:
            cpu = sum(median for median, _, _ in row.cpu.values())
            found[row.work] = (1 / value if row.at_least else value, cpu or None)
    return found


def environment(tree: Path) -> dict[str, str]:
    """Where the packages of `tree` go before any that are installed, here and in the daemon."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(tree / room) for room in ROOMS)}


def ask(question: str, tree: Path, effort: str) -> list[Row] | None:
    """The rows of a question put to the packages of `tree`, or None where it cannot be put to them."""
    command = [sys.executable, "-m", f"benchmarks.{question}", "--json", f"--effort={effort}", "--no-torch"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(tree), stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        return None
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=list[Row])


@contextmanager
def tree_of(base: str) -> Iterator[Path]:
    """The folder of a clone, or one with the packages as of a commit; all kernels are compiled."""
    if Path(base).is_dir():
        _compile(Path(base).resolve())
        yield Path(base).resolve()
        return
    with tempfile.TemporaryDirectory(prefix="gradd-base-") as folder:
        packed = Path(folder) / "packages.tar"
        archived = subprocess.run(["git", "archive", "-o", packed, base, *ROOMS], cwd=ROOT, check=False)
        if archived.returncode:
            raise SystemExit(f"{base} is neither a folder nor a commit")
        subprocess.run(["tar", "-xf", packed, "-C", folder], check=True)
        _compile(Path(folder))
        yield Path(folder)


def _compile(base: Path) -> None:
    """Before anything is measured."""
    for tree in (ROOT, base):
        command = [sys.executable, "-m", "gradd_engine.kernels"]
        subprocess.run(command, env=environment(tree), check=True, stdout=subprocess.DEVNULL)


def pair(question: str, base: Path, effort: str, here_first: bool, found: dict[str, Figure]) -> None:
    """One more ratio of each figure of the question."""
    rows = {tree: ask(question, tree, effort) for tree in ((ROOT, base) if here_first else (base, ROOT))}
    mine, theirs = rows[ROOT], rows[base]
    if mine is None:
        raise SystemExit(f"benchmarks/{question}.py failed here")
    if theirs is None:
        print(f"{question}: left out, it does not run there", file=sys.stderr)
        return
    before = figures(theirs)
    for work, (time, cpu) in figures(mine).items():
        if work not in before:
            continue
        there, cpu_there = before[work]
        figure = found.setdefault(work, Figure(work, question))
        figure.times.append(time / there)
        if cpu and cpu_there:
            figure.cpu.append(cpu / cpu_there)


def report(found: dict[str, Figure], by: str, bound: float) -> str:
    """All figures as a table."""
    lines = []
    for figure in found.values():
        ratios = figure.ratios(by)
        low, high = interval(ratios)
        cpu = f"{statistics.median(figure.cpu):5.3f}" if figure.cpu else "    –"
        lines.append(
            f"{statistics.median(ratios):5.3f}  {low:5.3f} – {high:5.3f}"
            f"  {min(ratios):5.3f} – {max(ratios):5.3f}  {len(ratios):5}  {cpu}"
            f"  {figure.verdict(by, bound, True):9}  {figure.work}"
        )
    head = "ratio   surely within    min – max      pairs    CPU  verdict    work"
    return "\n".join([head, *lines])


def main() -> int:
    """Ask in pairs, ask what is doubtful again, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("base", metavar="BASE", help="a folder with another clone, or a commit")
    parser.add_argument("--questions", nargs="+", choices=QUESTIONS, default=MAIN)
    parser.add_argument("--all", action="store_true", help="ask all questions")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--most", type=int, default=13, help="most pairs of what is doubtful")
    parser.add_argument("--bound", type=float, default=BOUND)
    parser.add_argument("--by", choices=("time", "cpu"), default="time")
    parser.add_argument("--effort", choices=("full", "quick", "smoke"), default="quick")
    options = parser.parse_args()
    print(run_on_best(), file=sys.stderr)
    found: dict[str, Figure] = {}
    with tree_of(options.base) as base:
        asked = list(QUESTIONS if options.all else options.questions)
        for n in range(max(options.pairs, options.most)):
            for question in asked:
                pair(question, base, options.effort, n % 2 == 0, found)
            print(f"{n + 1} pairs of {', '.join(asked)}", file=sys.stderr)
            if n + 1 >= options.pairs:
                verdicts = {f: f.verdict(options.by, options.bound, False) for f in found.values()}
                asked = sorted({f.question for f, verdict in verdicts.items() if verdict == "doubtful"})
            if not asked:
                break
    print(report(found, options.by, options.bound))
    return int(any(f.verdict(options.by, options.bound, True) == "worse" for f in found.values()))


if __name__ == "__main__":
    raise SystemExit(main())
