"""A share of `make hostile`, and that it catches what it is for: planted kernels that trust their callers."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("numba", reason="numba makes the handler of guarded memory: pip install 'gradd[jit]'")

from tests.hostile import __main__ as hostile

#: calls of each op in a run of the tests; the first ones of each are valid
CASES = int(os.environ.get("GRADD_HOSTILE", "4"))
#: tries one op with something planted, and prints how many faults were found
TRY = """
import gc, os, sys
import numpy as np
from gradd_engine.backends.numpy import NUMPY
from gradd_engine.layout import Meta
from gradd_engine.op import REGISTRY
from tests.hostile.trial import Fault, Trial
from tests.hostile.valid import valid_calls
from tests.hostile.worker import case

NUMPY.kernels.load()
calls, found = valid_calls(), 0
op = REGISTRY[{op!r}]
{plant}
trial = Trial()
for number in range({cases}):
    try:
        trial.run(*case(calls, op.name, number, 0))
    except Fault as fault:
        found += 1
print("faults", found, "planned", trial.counts["planned"], flush=True)
os._exit(0)
"""
#: what the gradient of a likelihood once said of its arguments: nothing
TRUSTING = """
op.infer = lambda grad, target, weight, total_weight, shape, reduction, ignore_index: Meta(
    tuple(shape), grad.dtype
)
"""
#: adds at places that nobody looked at
UNCHECKED = """
def unchecked(xp, g, indices, size):
    out = np.zeros((*g.shape[:-2], *size), g.dtype)
    wide = np.lib.stride_tricks.as_strided(out.reshape(-1), (1 << 40,), (out.itemsize,))
    for at, value in zip(indices.reshape(-1).tolist(), g.reshape(-1)):
        if 0 <= at < out.size + 16:
            wide[at] += value
    return out

NUMPY.kernels[op] = unchecked
"""


def tried(op: str, plant: str = "", cases: int = 120) -> tuple[int, int]:
    """Faults found and plans run; a process that died found one."""
    text = TRY.format(op=op, plant=plant, cases=cases)
    child = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    words = child.stdout.split()
    if child.returncode < 0 or not words:
        assert child.returncode < 0, child.stderr
        return 1, 0
    return int(words[1]), int(words[3])


def test_every_op_answers_hostile_calls() -> None:
    found = hostile.run(hostile.parsed(["--cases", str(CASES)]))
    assert not found.faults, "\n".join(f"{op}: {text}" for op, some in found.faults.items() for text in some)
    assert found.ops == len(hostile.REGISTRY)
    assert found.counts["cases"] == CASES * found.ops
    assert found.counts["planned"] > found.ops
    assert found.counts["refused"] > found.ops // 4


@pytest.mark.parametrize(
    ("op", "plant"), [("nll_loss_backward", TRUSTING), ("max_pool2d_backward", UNCHECKED)]
)
def test_a_kernel_that_trusts_its_caller_is_caught(op: str, plant: str) -> None:
    assert tried(op, plant)[0] > 0
    found, planned = tried(op)
    assert (found, planned > 10) == (0, True)
