"""The peers that the benchmarks run beside gradd do the same work: they come to the same loss."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# In a process of its own: jax warns of every fork after it was imported.
SAME_LOSS = """
import sys
import gradd, jax
from benchmarks.peers import jax_script
from benchmarks.training import data
from benchmarks import convnet, mlp_adam, mlp_sgd, transformer

task = {"sgd": mlp_sgd, "adam": mlp_adam, "transformer": transformer, "convnet": convnet}[sys.argv[1]].TASK
with gradd.connect("local:"):
    gradd.manual_seed(0)
    model = task.model(gradd)
    optimizer = task.optimizer(gradd, model.parameters())
    start = [p.detach().numpy() for p in model.parameters()]
    run = jax_script(jax, task, start, 3, 1, sys.argv[2] == "upload")
    inputs, targets = map(gradd.from_numpy, data(task))
    for n in range(3):
        rows = slice(n * task.batch, (n + 1) * task.batch)
        optimizer.zero_grad()
        loss = task.loss(gradd, model(inputs[rows]), targets[rows])
        loss.backward()
        optimizer.step()
    mine, peer = loss.item(), run()
    print(mine, peer)
    assert abs(mine - peer) < 1e-4 * abs(mine)
"""


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
@pytest.mark.parametrize(
    ("task", "how"),
    [("sgd", "sliced"), ("adam", "upload"), ("transformer", "sliced"), ("convnet", "sliced")],
)
def test_jax_trains_alike(task: str, how: str) -> None:
    command = [sys.executable, "-c", SAME_LOSS, task, how]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
