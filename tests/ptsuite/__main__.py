"""Runs PyTorch's tests under gradd and compares with what passes under real torch (`make ptsuite`).

Prints the counts of each file, names the tests that fail and are not in `tests.ptsuite.failing`, and fails
where there are any, or where fewer pass than are recorded. What real torch passes is kept beside the results,
and not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.ptsuite.failing import AT_LEAST, REASONS
from tests.ptsuite.rules import not_ours
from tests.ptsuite.worker import ENDS, TAKES

#: relative to the folder given
FILES = (
    "test_autograd.py",
    "autograd/test_functional.py",
    "autograd/test_complex.py",
    "functorch/test_eager_transforms.py",
)
ROOT = Path(__file__).parents[2]


def _process(file: Path, of: str, results: Path, args: argparse.Namespace) -> tuple[bool, str, bool]:
    """Run one process; whether it came to its end, the test that it was in, whether it hung there."""
    command = [sys.executable, "-m", "tests.ptsuite.worker", str(file), "--of", of, "--results", str(results)]
    command += ["--url", args.url, "--only", args.only, "--seconds", str(args.seconds)]
    errors = results.with_suffix(".stderr").open("a")
    with errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, cwd=ROOT) as worker:
        assert worker.stdout is not None
        os.set_blocking(worker.stdout.fileno(), False)
        said, test, last = b"", "", time.monotonic()
        with selectors.DefaultSelector() as watch:
            watch.register(worker.stdout, selectors.EVENT_READ)
            while True:
                if watch.select(timeout=1.0):
                    more = worker.stdout.read()
                    if more == b"":
                        break
                    *lines, said = (said + (more or b"")).split(b"\n")
                    for line in lines:
                        last, word = time.monotonic(), line.decode().partition(" ")
                        test = word[2] if word[0] == TAKES else test
                        if word[0] == ENDS:
                            return True, "", False
                if time.monotonic() - last > (3 * args.seconds if test else 300):
                    worker.kill()
                    return False, test, True
    return False, test, False


def _read(results: Path) -> dict[str, dict[str, Any]]:
    if not results.exists():
        return {}
    return {record["test"]: record for record in map(json.loads, results.open())}


def _results(name: str, of: str, args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """What came of each test of a file."""
    results: Path = args.results / f"{Path(name).stem}.{of}.jsonl"
    if of == "gradd" and not args.resume:
        results.unlink(missing_ok=True)
    while True:
        ended, test, hung = _process(args.folder / name, of, results, args)
        if ended:
            return _read(results)
        if not test:
            sys.exit(f"{name} cannot be read under {of}: see {results.with_suffix('.stderr')}")
        if test not in _read(results):
            with results.open("a") as log:
                log.write(
                    json.dumps({"test": test, "outcome": "hang" if hung else "crash", "why": ""}) + "\n"
                )


def _count(name: str, args: argparse.Namespace) -> tuple[int, list[dict[str, Any]]]:
    """Print what came of a file; how many of its tests pass, and those that fail."""
    theirs, ours = (_results(name, of, args) for of in ("torch", "gradd"))
    aside: Counter[str] = Counter()
    passed, failed = 0, []
    for test, record in sorted(ours.items()):
        reason = not_ours(args.folder / name, test, theirs.get(test), record)
        if reason:
            aside[reason] += 1
        elif record["outcome"] == "pass":
            passed += 1
        else:
            failed.append(record)
    print(f"{name}: {len(ours)} tests, {passed + len(failed)} applicable, {passed} pass", flush=True)
    if args.verbose:
        for reason, count in aside.most_common():
            print(f"  {count:4} not counted: {reason}")
    for record in failed:
        known = REASONS.get(record["test"])
        if args.verbose or known is None:
            print(f"  {record['test']}: {record['outcome']}, {known or 'not in tests/ptsuite/failing.py'}")
            print(f"      {record.get('line', '')}\n      {record['why'][:300]!r}")
    return passed, failed


def main() -> None:
    """Run every file, or those asked for, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="PyTorch's folder test")
    parser.add_argument("--url", default="local:", help="a daemon's address (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "ptsuite")
    parser.add_argument("--file", action="append", choices=FILES, help="only this one")
    parser.add_argument("--only", default="", help="a pattern of Class.test")
    parser.add_argument("--seconds", type=float, default=20.0, help="what a test may take (%(default)s)")
    parser.add_argument("--resume", action="store_true", help="keep the results that there are")
    parser.add_argument("--verbose", action="store_true", help="every failure, and what is not counted")
    args = parser.parse_args()
    args.folder, args.results = args.folder.resolve(), args.results.resolve()
    args.results.mkdir(parents=True, exist_ok=True)
    passed, failed = 0, []
    for name in args.file or FILES:
        count, records = _count(name, args)
        passed += count
        failed += records
    print(f"{passed} of {passed + len(failed)} pass")
    new = [record["test"] for record in failed if record["test"] not in REASONS]
    if new:
        sys.exit(f"{len(new)} fail without a reason in tests/ptsuite/failing.py")
    if not (args.file or args.only) and passed < AT_LEAST:
        sys.exit(f"fewer than the {AT_LEAST} that are recorded")


if __name__ == "__main__":
    main()
