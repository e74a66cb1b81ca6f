"""A process that tries calls one after the other, and says on its output which one it is at.

    python -m tests.hostile.worker SEED CASES [--only OP,OP] < lines of "op first_case"

Each line asks for the cases of one op from a number on. The answers: ``at OP CASE``, ``fault OP CASE TEXT``,
``done OP COUNTS``. A parent that hears nothing for too long ends the process and starts another behind the
case it was at.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import sys
import warnings
import zlib

import numpy as np
from gradd_engine.backends.array import NUMPY

from .mutations import tamed, vary
from .trial import Fault, Trial
from .valid import Call, valid_calls


def case(calls: dict[str, list[Call]], op: str, number: int, seed: int) -> tuple[Call, Call]:
    """The call of that number, and one that only its geometry is shared with. Every fifth is valid."""
    some = calls[op]
    rng = np.random.default_rng([seed, zlib.crc32(op.encode()), number])
    valid = some[number // 5 % len(some)] if number % 5 == 0 else some[number % len(some)]
    call = valid if number % 5 == 0 else vary(rng, valid)
    return call, tamed(rng, call, valid)


def main(seed: int, cases: int) -> None:
    """See above."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    NUMPY.kernels.load()
    calls = valid_calls()
    trial = Trial()
    gc.collect()
    gc.freeze()
    print("ready", json.dumps({op: len(some) for op, some in calls.items()}), flush=True)
    for line in sys.stdin:
        op, first = line.split()
        if not calls.get(op):
            print("fault", op, 0, json.dumps(["there is no valid call", ""]), flush=True)
            print("done", op, "{}", flush=True)
            continue
        trial.counts = dict.fromkeys(trial.counts, 0)
        for number in range(int(first), cases):
            print("at", op, number, flush=True)
            call, mild = case(calls, op, number, seed)
            try:
                trial.run(call, mild, after_write=number % 2 == 1)
            except Fault as fault:
                print("fault", op, number, json.dumps([str(fault), repr(call)]), flush=True)
            except Exception as error:
                text = f"the trial itself failed: {type(error).__name__}: {error}"
                print("fault", op, number, json.dumps([text, repr(call)]), flush=True)
                trial = Trial(trial.counts)
        gc.collect()
        print("done", op, json.dumps(trial.counts), flush=True)
    sys.stdout.flush()
    os._exit(0)  # arrays of the guarded handler outlive it


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
