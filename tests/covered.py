"""Which lines of each package the tests ran: ``python -m tests.covered``, after a run under coverage.

Prints the share of each package, and the files below 95 %. ``--bar 95`` fails where a package is below it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("client", "engine", "protocol", "runtime", "server")
#: percent of its lines: files below it are listed
LOW = 95.0
#: tests over the samples of all ops, whose ids begin with the op; at so many of an op's cases coverage looks
SAMPLED, MOST_CASES = ("tests/ops/test_ops.py::", "tests/ops/test_saved.py::"), 2


class Lines(NamedTuple):
    """How many lines could be run, and how many were."""

    all: int
    run: int

    @property
    def share(self) -> float:
        """In percent; nothing is run as a whole."""
        return 100.0 * self.run / self.all if self.all else 100.0


def looked_at(test: str, cases: Counter[str]) -> bool:
    """Whether coverage looks at a test, by its id: not at an op's further samples, nearly all of which run
    the same lines. `cases` counts those that were asked for.
    """
    name, _, case = test.partition("[")
    if not test.startswith(SAMPLED):
        return True
    op = f"{name}[{case.rstrip(']').partition('-')[0]}"
    cases[op] += 1
    return cases[op] <= MOST_CASES


def by_package(files: dict[str, Lines]) -> dict[str, Lines]:
    """The sums of the files (``client/gradd/...``) of each package."""
    found = dict.fromkeys(PACKAGES, Lines(0, 0))
    for path, lines in files.items():
        room = Path(path).parts[0]
        found[room] = Lines(found[room].all + lines.all, found[room].run + lines.run)
    return found


def report(files: dict[str, Lines]) -> str:
    """What is printed: a line each package, and the files that are low, the lowest first."""
    low = sorted((lines.share, path) for path, lines in files.items() if lines.share < LOW)
    text = [
        f"{room:10} {lines.share:6.1f} % of {lines.all} lines" for room, lines in by_package(files).items()
    ]
    text += [f"files below {LOW:.0f} %: {len(low)}", *(f"  {share:5.1f} %  {path}" for share, path in low)]
    return "\n".join(text)


def below(files: dict[str, Lines], bar: float) -> list[str]:
    """The packages below that share, those that were not measured included."""
    return [room for room, lines in by_package(files).items() if not lines.all or lines.share < bar]


def measured() -> dict[str, Lines]:
    """What coverage knows of each file."""
    coverage = [sys.executable, "-m", "coverage"]
    found = subprocess.run([*coverage, "json", "-q", "-o", "-"], capture_output=True, check=True).stdout
    files = json.loads(found)["files"]
    return {
        path: Lines(file["summary"]["num_statements"], file["summary"]["covered_lines"])
        for path, file in files.items()
    }


def main() -> int:
    """Print the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.covered")
    parser.add_argument("--bar", type=float, default=0.0, help="percent that every package must have")
    bar = parser.parse_args().bar
    files = measured()
    print(report(files))
    lacking = below(files, bar)
    if lacking:
        print(f"below {bar:g} %: {', '.join(lacking)}", file=sys.stderr)
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
