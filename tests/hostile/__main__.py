"""Every op, called in ways that it was never meant to be.

    python -m tests.hostile [--cases 200] [--seed 0] [--workers CORES] [--ops add,sub] [--bounds]

Workers try the calls (`worker`, `trial`); this process watches them: one that is silent for too long, grows
too much or dies is ended and its case reported. Exit status 1 where anything was found.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from queue import Empty, Queue

from gradd_engine import assembly as _declared
from gradd_engine.declare.declarators import REGISTRY
from gradd_engine.progress import Line, say

assert _declared.__all__, "importing the families declares them"
#: seconds of a processor for one case, twice what an op may work; bytes that a worker may grow by
PATIENCE, GROWTH = 150.0, 1 << 30
#: seconds without a word, however busy the machine is
SILENCE = 600.0
#: seconds until a worker has compiled what it needs and read the samples
START = 600.0


@dataclass
class Found:
    """What all workers came upon."""

    counts: Counter[str] = field(default_factory=Counter)
    ops: int = 0
    faults: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    valid: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fault(self, op: str, number: int, text: str, call: str) -> None:
        with self.lock:
            self.faults[op].append(f"case {number}: {text}\n        {call}")
            say(f"{op}: {self.faults[op][-1]}", sys.stdout)


class Worker:
    """One child; restarted behind a case that it does not survive."""

    def __init__(self, options: argparse.Namespace, found: Found, queue: Queue[str]) -> None:
        self._options, self._found, self._queue = options, found, queue

    def _start(self) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.worker", str(self._options.seed), str(self._options.cases)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self._options.environment,
        )  # fmt: skip
        self._lines: Queue[str | None] = Queue()
        self._died: list[str] = []
        child, lines, died = self.child, self._lines, self._died

        def read() -> None:
            assert child.stdout is not None
            for line in child.stdout:
                lines.put(line)
            lines.put(None)

        def listen() -> None:
            assert child.stderr is not None
            for line in child.stderr:
                died.append(line)
                del died[:-40]

        self._readers = [threading.Thread(target=each, daemon=True) for each in (read, listen)]
        for reader in self._readers:
            reader.start()
        ready = self._next(START)
        if ready is None:
            raise RuntimeError(f"a worker did not start: {''.join(self._died)}")
        self._found.valid = json.loads(ready.split(" ", 1)[1])
        self._base = self._resident()

    def _next(self, seconds: float) -> str | None:
        return self._lines.get(timeout=seconds)

    def _resident(self) -> int:
        try:
            with open(f"/proc/{self.child.pid}/statm") as f:
                return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            return 0

    def _worked(self) -> float:
        """Seconds of a processor that the child has had."""
        try:
            with open(f"/proc/{self.child.pid}/stat") as f:
                words = f.read().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def _end(self) -> None:
        self.child.kill()
        self._close()

    def _close(self) -> None:
        """Let the child end, and what it said be read."""
        assert self.child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.close()
        self.child.wait()
        for reader in self._readers:
            reader.join()
        for pipe in (self.child.stdout, self.child.stderr):
            assert pipe is not None
            pipe.close()

    def run(self) -> None:
        """Take ops from the queue until there is none."""
        self._start()
        while True:
            try:
                op = self._queue.get_nowait()
            except Empty:
                break
            self._op(op)
            with self._found.lock:
                self._found.ops += 1
        self._close()

    def _op(self, op: str) -> None:
        at = 0
        while at < self._options.cases:
            self._say(f"{op} {at}\n")
            lost = self._watch(op, at)
            if lost is None:
                return
            number, why = lost
            self._found.fault(op, number, why, "")
            self._end()
            self._start()
            at = number + 1

    def _say(self, text: str) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(text)
        self.child.stdin.flush()

    def _watch(self, op: str, at: int) -> tuple[int, str] | None:
        """None when the op is done; else the case that was not survived, and why."""
        waited, beat, began = 0.0, 0.25, self._worked()
        while True:
            try:
                line = self._next(beat)
            except Empty:
                waited += beat
                grown = self._resident() - self._base
                if grown > GROWTH:
                    return at, f"cost: {grown >> 20} MiB more"
                if self._worked() - began >= PATIENCE or waited >= SILENCE:
                    return at, f"cost: more than {PATIENCE:.0f} s"
                continue
            waited, began = 0.0, self._worked()
            if line is None:
                return at, f"the process died ({self.child.wait()}): {''.join(self._died[-12:])}"
            word, name, rest = line.rstrip("\n").split(" ", 2)
            if word == "at":
                at = int(rest)
            elif word == "fault":
                number, text = rest.split(" ", 1)
                self._found.fault(name, int(number), *json.loads(text))
            elif word == "done":
                with self._found.lock:
                    self._found.counts.update(json.loads(rest))
                return None


def run(options: argparse.Namespace) -> Found:
    """All cases of all ops asked for."""
    found, queue = Found(), Queue[str]()
    for op in options.ops or sorted(REGISTRY):
        queue.put(op)
    workers = [Worker(options, found, queue) for _ in range(options.workers)]
    failed: list[BaseException] = []

    def work(worker: Worker) -> None:
        try:
            worker.run()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(w,)) for w in workers]
    total = queue.qsize()
    for t in threads:
        t.start()
    with Line() as line:
        for t in threads:
            while t.is_alive():
                t.join(1.0)
                line.tick(lambda seconds: f"hostile: {found.ops} of {total} ops, {seconds:.0f} s")
    if failed:
        raise failed[0]
    return found


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile")
    parser.add_argument("--cases", type=int, default=200, help="calls of each op")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--ops", type=lambda text: text.split(","), default=None)
    parser.add_argument("--bounds", action="store_true", help="the compiled kernels, checking every index")
    options = parser.parse_args(arguments)
    options.environment = dict(os.environ)
    return options


def report(found: Found) -> str:
    """Counts, and how much was found."""
    c = found.counts
    bad = sum(map(len, found.faults.values()))
    return (
        f"hostile: {found.ops} ops, {c['cases']} cases: {c['refused']} refused, {c['computed']} computed, "
        f"{c['planned']} of them planned; {bad} found"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; the exit status."""
    options = parsed(arguments)
    if not options.bounds:
        found = run(options)
    else:
        from gradd_engine.kernels.library import NATIVE

        options.ops = options.ops or sorted(n for n in REGISTRY if n.removesuffix("_") in NATIVE)
        with tempfile.TemporaryDirectory() as cache:
            options.environment |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": cache}
            found = run(options)
    print(report(found))
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
