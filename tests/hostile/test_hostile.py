"""A share of `make hostile`, and that it catches what it is for: planted kernels that trust their callers."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("numba", reason="numba makes the handler of guarded memory: pip install 'gradd[jit]'")

from tests.hostile import __main__ as hostile

#: calls of each op in a run of the tests; the first one of each is valid
CASES = int(os.environ.get("GRADD_HOSTILE", "3"))
#: tries ops with something planted, and prints for each how many faults were found
TRY = """
import os
import numpy as np
from gradd_engine.backends.array import NUMPY
from gradd_engine.data import Meta
from gradd_engine.schema import REGISTRY
from tests.hostile.trial import Fault, Trial
from tests.hostile.valid import valid_calls
from tests.hostile.worker import case

# what the gradient of a likelihood once said of its arguments: nothing
REGISTRY["nll_loss_backward"].infer = lambda grad, target, weight, total_weight, shape, **how: Meta(
    tuple(shape), grad.dtype
)

def unchecked(xp, g, indices, size):
    "Adds at places that nobody looked at."
    out = np.zeros((*g.shape[:-2], *size), g.dtype)
    wide = np.lib.stride_tricks.as_strided(out.reshape(-1), (1 << 40,), (out.itemsize,))
    for at, value in zip(indices.reshape(-1).tolist(), g.reshape(-1)):
        if 0 <= at < out.size + 16:
            wide[at] += value
    return out

NUMPY.kernels.load()
NUMPY.kernels[REGISTRY["max_pool2d_backward"]] = unchecked
calls = valid_calls()
for op in ("nll_loss_backward", "max_pool2d_backward"):
    trial, found = Trial(), set()
    for number in range(120):
        try:
            trial.run(*case(calls, op, number, 0))
        except Fault as fault:
            found.add(str(fault)[:40])
    print(op, len(found), *sorted(found), sep="|", flush=True)
os._exit(0)
"""


def test_every_op_answers_hostile_calls() -> None:
    found = hostile.run(hostile.parsed(["--cases", str(CASES)]))
    assert not found.faults, "\n".join(f"{op}: {text}" for op, some in found.faults.items() for text in some)
    assert found.ops == len(hostile.REGISTRY)
    assert found.counts["cases"] == CASES * found.ops
    assert found.counts["planned"] > found.ops
    assert found.counts["refused"] > found.ops // 4


def test_kernels_that_trust_their_callers_are_caught() -> None:
    child = subprocess.run([sys.executable, "-c", TRY], capture_output=True, text=True, check=False)
    lines = [line.split("|") for line in child.stdout.splitlines()]
    # a process that died of one is caught too, and says no more
    assert child.returncode < 0 or len(lines) == 2, child.stderr
    assert all(int(count) > 0 for _, count, *_ in lines), lines
    seen = " ".join(word for line in lines for word in line[2:])
    assert child.returncode < 0 or ("written beside" in seen and "the third run" in seen), seen
