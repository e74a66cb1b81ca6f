"""What a training step costs on a GPU: gradd's beside that of torch eager, torch.compile and torch with the
step as a CUDA graph.

``python -m benchmarks.gpu mlp`` measures one of the works and prints an object of JSON: by side, the seconds
of a step in each round. `make gpu` measures all, and writes a page of the device.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any

import gradd

from .bench import seconds_of
from .beside import COMPARED
from .daemon import serving
from .gpu_works import WORKS, GpuWork
from .peers import Late, within

#: one round: so many steps, the last of which is waited for
Round = Callable[[], None]
FETCHED = "a + b on 4 floats that are there, fetched"
#: in a round
FETCHES = 50
MOST_ROUNDS, FEWEST_ROUNDS = 31, 3
#: rounds of a side before it is measured: plans are made, and kernels compiled
WARM = 3
#: of the time for a work, what compiling may take
COMPILING = 0.5


def on_device(torch: Any, home: str) -> Any:
    """torch, whose arrays from NumPy, ranges and ones are on a device: a default device costs time in every
    call.
    """
    found: Any = ModuleType("torch")
    found.__dict__.update(torch.__dict__)
    found.home = home
    found.arange, found.ones = (partial(each, device=home) for each in (torch.arange, torch.ones))
    found.from_numpy = lambda array: torch.from_numpy(array).to(home)
    return found


class Trained:
    """A work on one side: its model, its batches, and a step."""

    def __init__(
        self, lib: Any, work: GpuWork, turn: Callable[[Any], Any] = lambda model: model, **options: Any
    ) -> None:
        lib.manual_seed(0)
        model = work.model(lib)
        if home := getattr(lib, "home", ""):
            model = model.to(home)
        self.optimizer = work.optimizer(lib, model.parameters(), **options)
        self._lib, self._work, self._model = lib, work, turn(model)
        self._inputs, self._targets = map(lib.from_numpy, work.batches())
        self._many = len(self._inputs) // work.batch

    def batch(self, n: int) -> tuple[Any, Any]:
        """The `n`th, over and over."""
        at = n % self._many * self._work.batch
        rows = slice(at, at + self._work.batch)
        return self._inputs[rows], self._targets[rows]

    def train(self, x: Any, y: Any) -> Any:
        """One step; its loss, unread."""
        self.optimizer.zero_grad()
        loss = self._work.loss(self._lib, self._model, x, y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def losses(self, steps: int = COMPARED) -> list[float]:
        """Those of the next steps, each read."""
        return [self.train(*self.batch(n)).item() for n in range(steps)]

    def round(self, step: Callable[[Any, Any], Any] | None = None) -> Round:
        """What makes the steps of a round, by `train` or by `step`."""
        step, work = step or self.train, self._work

        def run() -> None:
            for n in range(work.steps):
                loss = step(*self.batch(n))
                if (n + 1) % work.every == 0 or n + 1 == work.steps:
                    loss.item()

        return run


def graphed(torch: Any, work: GpuWork) -> Round:
    """torch with the step as a CUDA graph: a batch is copied to where the graph reads it."""
    side = Trained(torch, work, **work.graphed)
    x, y = (part.clone() for part in side.batch(0))
    other = torch.cuda.Stream()
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(other):
        for _ in range(WARM):
            side.train(x, y)
    torch.cuda.current_stream().wait_stream(other)
    graph = torch.cuda.CUDAGraph()
    side.optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = side.train(x, y)

    def step(*batch: Any) -> Any:
        x.copy_(batch[0])
        y.copy_(batch[1])
        graph.replay()
        return loss

    return side.round(step)


def compiled(torch: Any, work: GpuWork, seconds: float) -> Round:
    """torch with a compiled model. Raises whatever a compiler may, or Late."""
    torch.compiler.reset()
    run = Trained(torch, work, torch.compile).round()
    with within(seconds):
        run()
    return run


def _fetched(lib: Any) -> Round:
    a, b = lib.ones(4), lib.ones(4)

    def run() -> None:
        for _ in range(FETCHES):
            (a + b).tolist()

    return run


def compare(work: GpuWork, torch: Any) -> None:
    """SystemExit where the first losses are not torch's, or not finite."""
    mine = Trained(gradd, work).losses()
    theirs = mine if torch is None else Trained(torch, work).losses()
    pairs = zip(mine, theirs, strict=True)
    if not all(math.isclose(a, b, rel_tol=work.near) and math.isfinite(a) for a, b in pairs):
        raise SystemExit(f"{work.title}: the losses of gradd are {mine}, those of torch {theirs}")


def sides(work: GpuWork, torch: Any, seconds: float) -> tuple[dict[str, Round], list[str]]:
    """What is measured, warm, and who is left out and why."""
    compare(work, torch)
    found: dict[str, Round] = {"gradd": Trained(gradd, work).round()}
    notes = []
    if torch is None:
        return found, ["torch is not installed"]
    peers: dict[str, Callable[[], Round]] = {"torch eager": lambda: Trained(torch, work).round()}
    if torch.cuda.is_available():
        peers["torch.compile"] = lambda: compiled(torch, work, COMPILING * seconds)
        peers["torch, CUDA graph"] = lambda: graphed(torch, work)
    for name, make in peers.items():
        try:
            found[name] = make()
        except (Exception, Late) as error:  # whatever one may raise, the others are still worth measuring
            notes.append(f"{name} left out: {type(error).__name__}: {' '.join(str(error).split())[:200]}")
    return found, notes


def rounds(found: dict[str, Round], steps: int, seconds: float) -> dict[str, list[float]]:
    """Seconds a step of each side's rounds, which are run in turn, another side beginning each time."""
    for _ in range(WARM):
        for run in found.values():
            run()
    taken: dict[str, list[float]] = {name: [] for name in found}
    end, order = time.monotonic() + seconds, list(found)
    for n in range(MOST_ROUNDS):
        if n >= FEWEST_ROUNDS and time.monotonic() > end:
            break
        first = n % len(order)
        for name in order[first:] + order[:first]:
            taken[name].append(seconds_of(found[name]) / steps)
    return taken


def measure(name: str, torch: Any, seconds: float, work: GpuWork | None = None) -> dict[str, Any]:
    """One work's figures, in sessions of the current `GRADD_URL`."""
    began = time.monotonic()
    with gradd.connect(os.environ.get("GRADD_URL", "local:")):
        if name == "fetch":
            title, steps = FETCHED, FETCHES
            notes: list[str] = []
            found = {"gradd": _fetched(gradd)} | ({"torch eager": _fetched(torch)} if torch else {})
        else:
            work = work or WORKS[name]
            title, steps = work.title, work.steps
            found, notes = sides(work, torch, seconds)
        taken = rounds(found, steps, seconds - (time.monotonic() - began))
    return {"work": title, "seconds": taken, "notes": notes, "clock": clock()}


def clock() -> str:
    """The multiprocessors' clock now, where NVIDIA's tool is there to say."""
    command = ["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.split("\n")[0].strip()


def torch_on_cuda() -> Any:
    """torch, on a GPU; None where it is not installed or finds none."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    return on_device(torch, "cuda") if torch.cuda.is_available() else None


def versions(torch: Any) -> dict[str, str]:
    """Of what computed."""
    import numpy

    found = {"Python": platform.python_version(), "NumPy": numpy.__version__}
    return found | ({"torch": torch.__version__} if torch else {})


@contextmanager
def sessions_on_cuda() -> Iterator[str]:
    """Sessions on the GPU for as long as this block, and where they are: a daemon's, where its packages are
    installed, else this process's.
    """
    if all(importlib.util.find_spec(name) for name in ("fastapi", "uvicorn", "httptools")):
        with serving("--device=cuda") as (url, _):
            os.environ["GRADD_URL"] = url
            yield "a daemon on this machine"
        return
    from gradd._transports import local
    from gradd_runtime.process import InlinePlacement

    local._placement = InlinePlacement("cuda")
    os.environ["GRADD_URL"] = "local:"
    yield "in the process that measures, since the server's packages are not installed"


def main(arguments: list[str]) -> None:
    """Measure a work and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("work", choices=("fetch", *WORKS))
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("GRADD_GPU_SECONDS", "60")))
    given = parser.parse_args(arguments)
    torch = torch_on_cuda()
    with sessions_on_cuda() as where:
        found = measure(given.work, torch, given.seconds)
    print(json.dumps({**found, "where": where, "versions": versions(torch)}))


if __name__ == "__main__":
    main(sys.argv[1:])
