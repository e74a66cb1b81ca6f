"""The peers beside torch eager, each where it can be imported: torch's fused optimizers, torch.compile,
jax.jit and HIPS autograd. They do the same work as gradd's side, on one thread.
"""

from __future__ import annotations

import importlib.util
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from .bench import Bench
from .jaxed import FORWARD, LOSS, OPTIMIZER
from .training import Task, data, script

#: seconds that torch.compile may take
PATIENCE = 90

Peers = dict[str, Callable[[], Any]]


class Late(BaseException):
    """Time is over. No Exception, for torch goes on compiling after those."""


def _imported(bench: Bench, name: str) -> ModuleType | None:
    """A module by its name; None where it is not installed or the bench asks for no such peers."""
    if not bench.beside or importlib.util.find_spec(name) is None:
        return None
    return importlib.import_module(name)


def forward(bench: Bench, function: Callable[[Any], Any], size: int) -> Peers:
    """`function` of `size` ones, its value fetched. autograd records it, for a gradient that nobody wants."""
    found: Peers = {}
    ones = np.ones(size, np.float32)
    if jax := _imported(bench, "jax"):
        jitted = jax.jit(function)
        found["jax.jit"] = lambda: np.asarray(jitted(ones))
    if autograd := _imported(bench, "autograd"):
        recorded = autograd.make_vjp(function)
        found["autograd"] = lambda: recorded(ones)[1]
    return found


def backward(
    bench: Bench, function: Callable[[Any, Callable[[Any], Any]], Any], size: int, steps: int, every: int
) -> Peers:
    """`steps` gradients of the sum of `function(ones, tanh)`, each `every`th fetched."""
    found: Peers = {}
    ones = np.ones(size, np.float32)

    def repeated(gradient: Callable[[Any], Any], x: Any) -> None:
        for n in range(steps):
            dx = gradient(x)
            if (n + 1) % every == 0:
                np.asarray(dx)

    if jax := _imported(bench, "jax"):
        tanh = jax.numpy.tanh
        gradient = jax.jit(jax.grad(lambda x: function(x, tanh).sum()))
        found["jax.jit"] = partial(repeated, gradient, jax.numpy.asarray(ones))
    if autograd := _imported(bench, "autograd"):
        wrapped = importlib.import_module("autograd.numpy")
        gradient = autograd.grad(lambda x: wrapped.sum(function(x, wrapped.tanh)))
        found["autograd"] = partial(repeated, gradient, ones)
    return found


def training(
    bench: Bench, task: Task, start: Sequence[Any], steps: int, every: int, between: bool, upload: bool
) -> Peers:
    """What `script` runs, by the others. jax begins at the parameters `start`; it has no place for a look
    between forward and backward, which are one program there.
    """
    found: Peers = {}
    if bench.beside and bench.torch is not None:
        fused = replace(task, optimizer=partial(task.optimizer, fused=True))
        found["fused"] = script(bench.torch, fused, steps, every, between, upload)
        compiled = _compiled(bench, task, steps, every, between, upload)
        if compiled is not None:
            found["torch.compile"] = compiled
    if not between and (jax := _imported(bench, "jax")):
        found["jax.jit"] = jax_script(jax, task, start, steps, every, upload)
    return found


def _compiled(
    bench: Bench, task: Task, steps: int, every: int, between: bool, upload: bool
) -> Callable[[], None] | None:
    """The script with a compiled model, warm; None without a C++ compiler, where compiling fails or takes
    longer than `PATIENCE`, and in anything but a full run.
    """
    if bench.effort != "full" or bench.torch is None or shutil.which("g++") is None:
        return None
    torch = bench.torch
    run = script(
        torch, replace(task, model=lambda lib: lib.compile(task.model(lib))), steps, every, between, upload
    )
    try:
        torch.compiler.reset()  # else the shapes of an earlier task make it compile for shapes that vary
        with within(PATIENCE):
            run()
    except (
        Exception,
        Late,
    ) as error:  # whatever a compiler may raise, the other peers are still worth measuring
        print(f"torch.compile left out: {type(error).__name__}: {error}"[:300], file=sys.stderr)
        return None
    return run


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Late in the body after `seconds` (main thread only)."""

    def late(signum: int, frame: FrameType | None) -> None:
        raise Late(f"over {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def jax_script(
    jax: Any, task: Task, start: Sequence[Any], steps: int, every: int, upload: bool
) -> Callable[[], float]:
    """`script` with the whole step (slice, forward, backward, update) as one jitted program, which may reuse
    the memory of the parameters it replaces. Returns the last loss that was read.
    """
    inputs, targets = data(task)
    model, loss_of = FORWARD[task.model], LOSS[task.loss]
    begin, update = OPTIMIZER[task.optimizer]

    def step(state: Any, x: Any, y: Any) -> Any:
        loss, gradients = jax.value_and_grad(lambda p: loss_of(jax, model(jax, p, x), y))(state[0])
        return update(jax, state, gradients), loss

    def sliced(state: Any, x_all: Any, y_all: Any, first: Any) -> Any:
        x, y = (jax.lax.dynamic_slice_in_dim(a, first, task.batch) for a in (x_all, y_all))
        return step(state, x, y)

    once = jax.jit(step if upload else sliced, donate_argnums=0)
    x_all, y_all = jax.numpy.asarray(inputs), jax.numpy.asarray(targets)
    state = begin(jax, [jax.numpy.asarray(p) for p in start])

    def run() -> float:
        nonlocal state
        read = 0.0
        for n in range(steps):
            first = n % 16 * task.batch
            if upload:
                rows = slice(first, first + task.batch)
                state, loss = once(state, inputs[rows], targets[rows])
            else:
                state, loss = once(state, x_all, y_all, first)
            if (n + 1) % every == 0:
                read = float(loss)
        return read

    return run
