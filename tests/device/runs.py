"""Samples of ops on the CuPy backend beside NumPy's: ``python -m tests.device.runs [words of keys]``.

As a program it runs all of them and prints what failed by line of the engine, and who waited for the device.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np
from gradd_engine.backends.array import NumpyBackend
from gradd_engine.backends.cupy import CupyBackend
from gradd_engine.backward.grad_op import grad_op
from gradd_engine.data import Doubts
from gradd_engine.data.state import ambient
from gradd_engine.declare.declarators import REGISTRY
from gradd_engine.tensor.tensor import Tensor

from tests import standin
from tests.cuda import host
from tests.ops import table
from tests.ops.table import Sample
from tests.ops.test_ops import SAMPLES, Case

#: dtypes beside float64 whose gradients are taken
DIFFERENTIATED = (None, "float32", "complex64", "bfloat16")
#: what numbers may differ by, where NumPy computes them on both sides
NEAR = 1e-5
#: the same for results of 16 bits, of ops that add in float32 in another order than NumPy's kernels do: where
#: a sum is between two numbers either is right, and they are a unit in the last place apart
OTHER_ORDER = {"nn.functional.avg_pool2d": 2.0**-7}


@dataclass(frozen=True)
class Run:
    """One call of one sample: in a dtype (None: as it is written) and a layout."""

    key: str
    number: int
    sample: Sample = field(repr=False)
    dtype: str | None
    layout: str

    def __str__(self) -> str:
        return f"{self.key}-{self.number}-{self.dtype or 'own'}-{self.layout}"


def runs() -> Iterator[Run]:
    """All of them."""
    for key, some in SAMPLES.items():
        for number, sample in enumerate(some):
            for dtype in (None, *sample.only):
                for layout in table.LAYOUTS if sample.layouts and dtype is None else table.LAYOUTS[:1]:
                    yield Run(key, number, sample, dtype, layout)


def backend() -> CupyBackend:
    """The CuPy backend on the stand-in; without device kernels where no compiler makes host code of them."""
    with standin.installed():
        made = CupyBackend()
    if host.MISSING is not None:
        with mock.patch.dict(os.environ, {"GRADD_CUDA_KERNELS": "0"}):
            made.kernels.load()
    return made


def plain() -> NumpyBackend:
    """NumPy's without compiled kernels, which CuPy has none of either."""
    made = NumpyBackend()
    with mock.patch.dict(os.environ, {"GRADD_KERNELS": "numpy"}):
        made.kernels.load()
    return made


PLAIN = plain()


@contextmanager
def waiting(on: CupyBackend) -> Iterator[dict[str, set[tuple[str, str]]]]:
    """The ops whose kernels wait for the device in the block, and for what at which lines."""
    seen: dict[str, set[tuple[str, str]]] = defaultdict(set)

    def watch(name: str, kernel: Callable[..., Any], args: Any, attrs: dict[str, Any]) -> Any:
        before = standin.WAITS.copy()
        try:
            return kernel(*args, **attrs)
        finally:
            if more := standin.WAITS - before:
                seen[name].update(more)

    with on.watched(watch):
        yield seen


def may_wait(name: str) -> bool:
    """Whether an op declares that it may wait for the device."""
    effects = REGISTRY[name].effects
    return effects.waits or effects.dynamic


def _values(x: Any) -> Any:
    return x.backend.to_numpy(x) if isinstance(x, Tensor) else x


def found(run: Run, on: Any) -> list[Any]:
    """The outputs on a backend, and the gradients of the leaves for seeded weights."""
    case = Case(run.key, run.number, run.sample, run.dtype)
    differentiated = run.sample.first and run.dtype in DIFFERENTIATED
    doubts = Doubts()
    with ambient(backend=on, doubts=doubts):
        tensors = case.our_tensors(run.layout, grad=differentiated, backend=on)
        outs = table.flat(case.ours(tensors))
        given = [_values(o) for o in outs]
        doubts.settle()
        ends = [o for o in outs if isinstance(o, Tensor) and o.requires_grad]
        leaves = [t for t in tensors if t.requires_grad]
        if not differentiated or not ends or not leaves:
            return given
        rng = np.random.default_rng(1)
        weights = [on.from_array(rng.standard_normal(o.shape).astype(o.dtype.np)) for o in ends]
        grads = grad_op(ends, leaves, weights, allow_unused=True)
        found = [*given, *map(_values, grads)]
        doubts.settle()
        return found


def difference(
    run: Run, got: list[Any], want: list[Any], near: float = NEAR, half: float = NEAR
) -> str | None:
    """What differs, in words; numbers by more than `near`, of 16 bits by more than `half`."""
    if len(got) != len(want):
        return f"{len(got)} results instead of {len(want)}"
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        if g is None or w is None or not hasattr(w, "shape"):
            same = g is w or (g == w) or not run.sample.values or (g != g and w != w)
            if not same:
                return f"result {i}: {g!r} instead of {w!r}"
            continue
        if (g.shape, g.dtype) != (w.shape, w.dtype):
            return f"result {i}: {g.dtype} {g.shape} instead of {w.dtype} {w.shape}"
        wide = complex if w.dtype.kind == "c" else float if w.dtype.kind in "fV" else w.dtype
        close = near
        if w.dtype.itemsize == 2 and wide is float:
            close = max(half, OTHER_ORDER.get(run.key, 0.0))
        if run.sample.values and not np.allclose(
            g.astype(wide), w.astype(wide), rtol=close, atol=close, equal_nan=True
        ):
            return f"result {i}: other values"
    return None


def complaint(run: Run, on: CupyBackend, near: float = NEAR, half: float = NEAR) -> str | None:
    """What CuPy does otherwise than NumPy in a run, beginning with where; None if nothing."""
    refusal: Exception | None = None
    want: list[Any] = []
    try:
        want = found(run, PLAIN)
    except Exception as error:
        refusal = error
    try:
        got = found(run, on)
    except Exception as error:
        if refusal is not None and isinstance(error, type(refusal)):
            return None
        return f"{_place(error)} {type(error).__name__}: {str(error)[:200]}"
    if refusal is not None:
        return f"? does not refuse what NumPy does: {type(refusal).__name__}: {str(refusal)[:80]}"
    return difference(run, got, want, near, half)


def _place(error: Exception) -> str:
    """The innermost line of the engine."""
    cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
    own = [f for f in traceback.extract_tb(cause.__traceback__) if standin.ENGINE in f.filename]
    return f"{own[-1].filename.rpartition(standin.ENGINE)[2]}:{own[-1].lineno}" if own else "?"


def main(words: list[str]) -> int:
    """Print what all runs, or those whose key has one of the words, came to; how many failed, and ops that
    wait without saying so.
    """
    on, equal = backend(), 0
    failed: dict[str, list[Run]] = defaultdict(list)
    with waiting(on) as waits:
        for run in runs():
            if words and not any(word in run.key for word in words):
                continue
            said = complaint(run, on)
            if said is None:
                equal += 1
            else:
                failed[said].append(run)
    print(f"{equal} runs equal, {sum(map(len, failed.values()))} not, in {len(failed)} ways")
    for said, those in sorted(failed.items(), key=lambda pair: -len(pair[1])):
        print(f"{len(those):5d}  {said}  | {', '.join(sorted({run.key for run in those})[:8])} | {those[0]}")
    silent = [name for name in waits if not may_wait(name)]
    print(f"ops that wait for the device: {len(waits)}, {len(silent)} of them undeclared")
    for name, seen in sorted(waits.items()):
        at = ", ".join(f"{line} {what}" for what, line in sorted(seen))
        print(f"{'!' if name in silent else ' '} {name}: {at}")
    return len(failed) + len(silent)


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
