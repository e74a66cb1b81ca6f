"""`make replay`: the suite, every op sample and random programs in the replaying mode, on all cores.

Prints the counts and every failure with a command that repeats just it; fails where there was one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from gradd_engine.progress import counted

from .bodies import Body, Replayer
from .forms import all_bodies
from .programs import Program, all_programs

ROOT = Path(__file__).parents[2]
#: where tests of the suite are that use sessions of their process
SUITE = ("tests/client", "tests/docs", "tests/examples", "tests/semantics")
SEEDS = "0,1,2"
PROGRAMS = 2000
#: `make replay` says so where it ran fewer: the count is part of what it promises
TESTS = 20_000
KINDS = ("suite", "ops", "programs")


def one_body(name: str) -> Iterator[Sequence[Body]]:
    """The body of that name."""
    if name.startswith("program/"):
        yield [Program(int(name.partition("/")[2]))]
    for bodies in all_bodies():
        yield [b for b in bodies if str(b) == name]


def replay(groups: Iterator[Sequence[Body]], seeds: Sequence[int]) -> dict[str, object]:
    """Replay bodies in this process; counts and failures."""
    with Replayer() as replayer:
        for bodies in groups:
            replayer.replay(bodies, seeds)
    return {"counts": replayer.counts, "failures": replayer.failures}


def suite(seeds: str, share: str, tally: Path) -> None:
    """Replay a share of the suite, in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    command += ["-p", "tests.replay.plugin", "--replay", seeds, "--replay-share", share]
    done = subprocess.run([*command, "--replay-tally", str(tally), *SUITE], cwd=ROOT, check=False)
    found = json.loads(tally.read_text()) if tally.exists() else {"counts": {}, "failures": []}
    if done.returncode and not found["failures"]:  # it was interrupted, say, and the rest did not run
        found["failures"].append(f"pytest ended with {done.returncode}")
    tally.write_text(json.dumps(found))


def work(kind: str, share: str, options: argparse.Namespace, tally: Path) -> None:
    """One process's part."""
    place, of = map(int, share.split("/"))
    seeds = [int(s) for s in options.seeds.split(",")]
    if kind == "suite":
        suite(options.seeds, share, tally)
        return
    groups = all_bodies(place, of) if kind == "ops" else all_programs(options.programs, place, of)
    tally.write_text(json.dumps(replay(counted(groups, f"{kind} {place + 1}/{of}"), seeds)))


def share_out(options: argparse.Namespace) -> list[tuple[str, dict[str, list[str] | dict[str, int]]]]:
    """Every kind on every core, one after the other; what each found."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds.split(","):
            running = []
            for n in range(options.jobs):
                place, of = map(int, options.share.split("/"))
                share, tally = f"{place + of * n}/{of * options.jobs}", Path(folder, f"{kind}{n}")
                command = [sys.executable, "-m", "tests.replay", "--work", kind, "--share", share]
                command += [
                    "--tally",
                    str(tally),
                    "--seeds",
                    options.seeds,
                    "--programs",
                    str(options.programs),
                ]
                running.append((subprocess.Popen(command, cwd=ROOT), tally))
            for process, tally in running:
                process.wait()
                lost = {"counts": {}, "failures": [f"a process ended with {process.returncode}"]}
                found.append((kind, json.loads(tally.read_text()) if tally.exists() else lost))
    return found


def report(found: list[tuple[str, dict[str, list[str] | dict[str, int]]]], seconds: float) -> int:
    """Print what was done; the number of failures."""
    total: Counter[str] = Counter()
    failures = []
    for kind in KINDS:
        counts: Counter[str] = Counter()
        for name, tally in found:
            if name == kind:
                counts.update(tally["counts"])
                failures += tally["failures"]
        print(f"{kind}: {dict(counts)}")
        total.update(counts)
    print(*failures, sep="\n")
    batches = total["planned"] + total["eager"]
    print(
        f"{total['tests']:,} tests, {total['replays']:,} replays of {total['repetitions']:,} repetitions and "
        f"{total['steps']:,} steps; {total['cuts']:,} cuts, {total['reads']:,} early reads; "
        f"{100 * total['planned'] / max(batches, 1):.0f} % of {batches:,} batches were planned; "
        f"{len(failures)} mismatches; {seconds:.0f} s"
    )
    return len(failures)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 where anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default=SEEDS, help="by commas; odd ones plan at first sight")
    parser.add_argument("--share", default="0/1", help="place/of: every of-th test only")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of suite, ops, programs")
    parser.add_argument("--programs", type=int, default=PROGRAMS, help="how many random programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--body", help="repeat this body only")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--tally", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.work:
        work(options.work, options.share, options, options.tally)
        return 0
    began = time.monotonic()
    if options.body:
        seeds = [int(s) for s in options.seeds.split(",")]
        found = [("ops", replay(one_body(options.body), seeds))]
    else:
        found = share_out(options)
    return 1 if report(found, time.monotonic() - began) else 0


if __name__ == "__main__":
    sys.exit(main())
