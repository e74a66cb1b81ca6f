"""Huge but well-formed calls of every op: none takes more memory than its session may hold, or longer than
any may.

    python -m tests.hostile.costs [--cases N] [--seed S] [--only OP,OP] [--verbose]

Numbers become large, and sizes do through expanded tensors, which take no memory themselves. Each op is tried
in a process of its own with a small quota and a low bound of work; what a process took is compared with them,
and what runs on is ended by the system's timer of processor time.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from gradd_engine.backends.array import NUMPY
from gradd_engine.data.layout import Size, contiguous_strides
from gradd_engine.data.memory import Account
from gradd_engine.data.rng import RandomStream
from gradd_engine.data.state import apart
from gradd_engine.declare.declarators import REGISTRY
from gradd_engine.graph import cost
from gradd_engine.progress import counted, say
from gradd_engine.tensor.tensor import Tensor
from gradd_protocol.limits import MIB

from .valid import Call, Given, tensors, valid_calls

#: bytes of the session, and how much of them a kernel's temporaries may take beside
QUOTA, FACTOR = 64 * MIB, 3
#: elementary operations that are allowed here, and the seconds after which something else is at work
WORK, SECONDS = 1 << 30, 6
NUMBERS = (300, 10_000, 1_000_000, 10_000_000, (1 << 31) - 1, 1 << 31, 1 << 62, -(1 << 62))
SIZES = (300, 3_000, 100_000, 10_000_000, 1 << 31)
#: ends with these, and every case before it ran as it should
SLOW = "it took more than its time"


def _large(rng: np.random.Generator, v: Any) -> Any:
    if isinstance(v, (list, tuple)) and v and all(isinstance(e, int) for e in v):
        at = int(rng.integers(len(v)))
        return [*v[:at], int(rng.choice(NUMBERS)), *v[at + 1 :]]
    return int(rng.choice(NUMBERS))


def enlarge(rng: np.random.Generator, call: Call) -> Call:
    """A call like `call` with large numbers, or the sizes of its tensors made large."""
    op = REGISTRY[call.op]
    named = [p for p in op.schema.attrs if p.kind in ("int", "int[]", "Number", "any")]
    sizes = sorted({s for g in tensors(call.inputs) for s in g.shape})
    if named and (not sizes or rng.random() < 0.5):
        p = named[int(rng.integers(len(named)))]
        return replace(call, attrs={**call.attrs, p.name: _large(rng, call.attrs.get(p.name))})
    if not sizes:
        return call
    changes = {int(s): int(rng.choice(SIZES)) for s in rng.choice(sizes, 1 + int(rng.random() < 0.4))}

    def grown(x: Any) -> Any:
        if isinstance(x, Given):
            return replace(x, layout=f"sizes {[changes.get(s, s) for s in x.shape]}")
        if isinstance(x, (list, tuple)):
            return [grown(e) for e in x]
        return x

    attrs = {
        n: [changes.get(e, e) if type(e) is int else e for e in v]
        if isinstance(v, (list, tuple)) and op.params[n].kind == "int[]" and rng.random() < 0.7
        else v
        for n, v in call.attrs.items()
    }
    return replace(call, inputs=tuple(grown(x) for x in call.inputs), attrs=attrs)


def made(x: Any) -> Any:
    """The tensors of a call; one of larger sizes is expanded from its first elements."""
    if isinstance(x, (list, tuple)):
        return [made(e) for e in x]
    if not isinstance(x, Given):
        return x
    shape = Size(eval(x.layout[6:])) if x.layout.startswith("sizes") else Size(x.shape)
    base = np.array(
        x.values[tuple(slice(0, 1 if n != m else m) for n, m in zip(shape, x.shape, strict=True))]
    )
    t = NUMPY.from_array(base, x.dtype)
    strides = tuple(
        0 if n != m else s for n, m, s in zip(shape, x.shape, contiguous_strides(base.shape), strict=True)
    )
    item = base.itemsize
    array = np.lib.stride_tricks.as_strided(t.array, shape, [s * item for s in strides], writeable=False)
    return Tensor._made(NUMPY, t._storage, shape, strides, 0, x.dtype, array)


def run(call: Call) -> None:
    """Run it as a session would, in a small one."""
    account = Account(QUOTA)
    inputs = tuple(made(x) for x in call.inputs)
    new = {
        "account": account, "ledger": account, "backend": NUMPY, "generator": RandomStream(0), "grad": False,
        "depth": 1,
    }  # fmt: skip
    apart(new, REGISTRY[call.op].run, inputs, dict(call.attrs))


def _peak() -> int:
    return 1024 * int(next(w.split()[1] for w in Path("/proc/self/status").open() if w.startswith("VmHWM")))


def _try(call: Call) -> str:
    """What is wrong with a call; empty where nothing is."""
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    try:
        run(call)
    except MemoryError as error:
        return f"memory ran out: {str(error)[:80]}"
    except Exception:
        pass
    grown = _peak() - before
    return f"{grown >> 20} MiB were taken" if grown > FACTOR * QUOTA else ""


def cases(some: list[Call], name: str, count: int, seed: int) -> Iterator[Call]:
    """The calls of an op, by number."""
    for number in range(count):
        rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
        yield enlarge(rng, some[number % len(some)])


def _child(calls: list[Call], first: int, writer: int) -> None:
    def write(text: str) -> None:
        os.write(writer, text.encode())

    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number, call in enumerate(calls[first:], first):
        write(f"at {number}\n")
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        found = _try(call)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if found:
            write(f"fault {number} {found}\n")


def find(name: str, calls: list[Call]) -> Iterator[tuple[Call, str]]:
    """The calls that take too much, and what they take."""
    first = 0
    while first < len(calls):
        sys.stdout.flush()
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            with open(os.devnull, "w") as nothing:
                os.dup2(nothing.fileno(), 2)
            _child(calls, first, writer)
            os._exit(0)
        os.close(writer)
        at = first
        with open(reader) as said:
            for line in said:
                kind, number, *rest = line.split(maxsplit=2)
                at = int(number)
                if kind == "fault":
                    yield calls[at], rest[0].strip()
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return
        died = os.WTERMSIG(status)
        yield calls[at], SLOW if died == signal.SIGPROF else f"signal {died}"
        first = at + 1


def search(count: int, seed: int, only: set[str] | None = None) -> Iterator[tuple[Call, str]]:
    """All that is found, op by op."""
    warnings.simplefilter("ignore")
    NUMPY.kernels.load()
    cost.WORK = WORK
    found = valid_calls()
    names = sorted(found if only is None else only & set(found))
    for name in counted(names, "costs", len(names)):
        if found[name]:
            yield from find(name, list(cases(found[name], name, count, seed)))


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=lambda text: set(text.split(",")))
    args = parser.parse_args()
    wrong = 0
    for call, what in search(args.cases, args.seed, args.only):
        wrong += 1
        say(f"{what}: {call!r}"[:400], sys.stdout)
    print(f"{args.cases} cases of each op, {wrong} took more than they may")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
