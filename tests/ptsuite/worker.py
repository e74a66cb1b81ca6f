"""One process of tests: `python -m tests.ptsuite.worker FILE --of gradd --results FILE.jsonl`.

Writes a line a test; tests that have one are passed over, so that a new process goes on behind one that died.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import signal
import traceback
import unittest
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

#: what a process says, a word a line, of the test that it takes up and of its end
TAKES, ENDS = "TAKES", "ENDS"


class TooLong(BaseException):
    """A test took longer than it may."""


def _too_long(*_: Any) -> None:
    raise TooLong


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class _Outcome(unittest.TestResult):
    """What came of one test: the first thing that was said of it counts."""

    def __init__(self) -> None:
        super().__init__()
        self.outcome, self.why, self.error = "", "", None

    def _say(self, outcome: str, why: str = "", error: BaseException | None = None) -> None:
        if not self.outcome:
            self.outcome, self.why, self.error = outcome, why, error

    def addError(self, test: Any, err: Any) -> None:
        self._say("timeout" if isinstance(err[1], TooLong) else "error", error=err[1])

    def addFailure(self, test: Any, err: Any) -> None:
        self._say("fail", error=err[1])

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._say("fail", error=err[1])

    def addSkip(self, test: Any, reason: str) -> None:
        self._say("skip", reason)

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._say("fail", "it succeeds where a failure is expected")

    def record(self, name: str, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {"test": name, "outcome": self.outcome or "pass", "why": self.why}
        if self.error is not None:
            lines = [f for f in traceback.extract_tb(self.error.__traceback__) if f.filename == str(path)]
            found["line"] = f"{lines[-1].lineno}: {lines[-1].line}" if lines else ""
            found["why"] = f"{type(self.error).__name__}: {self.error}"[:1500]
        return found


def _tests(suite: Any) -> Iterator[unittest.TestCase]:
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from _tests(one)
        else:
            yield one


def _run(test: unittest.TestCase, seconds: float) -> _Outcome:
    outcome = _Outcome()
    try:
        with _at_most(seconds), warnings.catch_warnings():
            test.run(outcome)
    except TooLong as error:
        outcome._say("timeout", error=error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        outcome._say("error", error=error)
    return outcome


def _session_lives() -> bool:
    """Whether the session still answers after a failure."""
    import gradd

    with suppress(BaseException), _at_most(10):
        x = gradd.tensor([1.0, 2.0], dtype=gradd.float64, requires_grad=True)
        (x * x).sum().backward()
        return bool(x.grad.tolist() == [2.0, 4.0])
    return False


def main() -> None:
    """Run the tests of one file, one after the other."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--of", choices=("gradd", "torch"), required=True)
    parser.add_argument("--url", default="local:")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, required=True)
    args = parser.parse_args()
    os.environ["PYTORCH_PRINT_REPRO_ON_FAILURE"] = "0"

    import torch

    torch.set_num_threads(1)
    ours = args.of == "gradd"
    tested: Any = torch
    if ours:
        import gradd

        gradd.connect(args.url)
        tested = gradd
    from tests.ptsuite.shim import load

    path = args.file.resolve()
    module = load(path, ours)
    done = {json.loads(line)["test"] for line in args.results.open()} if args.results.exists() else set()
    signal.signal(signal.SIGALRM, _too_long)
    with args.results.open("a", buffering=1) as results:
        for test in _tests(unittest.defaultTestLoader.loadTestsFromModule(module)):
            name = ".".join(test.id().split(".")[-2:])
            if name in done or not re.search(args.only, name):
                continue
            print(TAKES, name, flush=True)
            outcome = _run(test, args.seconds)
            record = outcome.record(name, path)
            failed = record["outcome"] in ("error", "fail", "timeout")
            lost = ours and failed and (record["outcome"] == "timeout" or not _session_lives())
            results.write(json.dumps(record | ({"session": "lost"} if lost else {})) + "\n")
            if lost:
                os._exit(3)
            tested.set_default_dtype(tested.float32)
            tested.set_grad_enabled(True)
            del outcome
            gc.collect()
    print(ENDS, flush=True)
    os._exit(0)  # threads and hooks that a test left behind have no say in it


if __name__ == "__main__":
    main()
