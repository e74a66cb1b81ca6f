"""All questions, each in a process of its own with a daemon of its own. Prints the table.

With less effort than full those about models are left out, but for two, unless `--questions` names them.

`--against BASE` asks each question of another commit (or clone) too, in pairs as `benchmarks.versus` does; a
column says how they compare, and the exit status is 1 where a figure is worse.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import msgspec

from . import QUESTIONS, QUICK
from .bench import Row
from .daemon import ROOT
from .interpreter import run_on_best
from .report import document, table, write
from .versus import BOUND, Figure, pair, tree_of


def ask(question: str, effort: str, document: str | None = None) -> list[Row]:
    """The rows of a question, with its peers. That about ops writes a page of its own beside `document`."""
    command = [sys.executable, "-m", f"benchmarks.{question}", "--json", f"--effort={effort}"]
    page = None if document is None else Path(document).absolute()
    own = {} if page is None else {"GRADD_BENCH_OPS": str(page.with_name(f"{page.stem}-ops.md"))}
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False, env={**os.environ, **own}
    )
    if done.returncode:
        raise SystemExit(f"benchmarks/{question}.py failed")
    rows = msgspec.json.decode(done.stdout.splitlines()[-1], type=list[Row])
    for row in rows:
        row.question = question
    return rows


def compare(question: str, rows: list[Row], base: Path, effort: str, pairs: int) -> bool:
    """Write into the rows how they compare with those of `base`; whether one is worse."""
    found: dict[str, Figure] = {}
    for n in range(pairs):
        pair(question, base, effort, n % 2 == 0, found)
    for row in rows:
        if row.work in found:
            row.against = str(found[row.work])
    return any(figure.verdict("time", BOUND, True) == "worse" for figure in found.values())


def main() -> int:
    """Ask every question in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--effort", choices=("full", "quick", "smoke"), default="full")
    parser.add_argument("--questions", nargs="+", choices=QUESTIONS)
    parser.add_argument("--write", metavar="FILE", help="write the document, and its pictures")
    parser.add_argument("--against", metavar="BASE", help="a commit, or a folder with another clone")
    parser.add_argument("--pairs", type=int, default=5, help="of each question, with --against")
    options = parser.parse_args()
    questions = options.questions or (QUESTIONS if options.effort == "full" else QUICK)
    interpreter = run_on_best()
    print(interpreter, file=sys.stderr)
    rows: list[Row] = []
    worse = False
    before = os.getloadavg()[0]
    with tree_of(options.against) if options.against else nullcontext() as base:
        for question in questions:
            began = time.monotonic()
            answered = ask(question, options.effort, options.write)
            if base is not None:
                worse |= compare(question, answered, base, options.effort, options.pairs)
            rows += answered
            print(f"{question}: {time.monotonic() - began:.1f} s", file=sys.stderr)
    print(interpreter, table(rows), sep="\n\n")
    if options.write:
        write(Path(options.write), document(rows, (before, os.getloadavg()[0]), str(interpreter)), rows)
    return int(worse)


if __name__ == "__main__":
    raise SystemExit(main())
