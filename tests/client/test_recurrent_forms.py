"""Random recurrent layers in three forms: one op for all steps, the ops of each step, and PyTorch.

`GRADD_RECURRENT` says how many are compared, 24 unless said.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gradd
import numpy as np
import pytest
from gradd_engine.kernels import CELLS
from gradd_engine.ops.nn import recurrent

#: how many PyTorch is asked about
ASKED = 24
MANY = int(os.environ.get("GRADD_RECURRENT", ASKED))
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
HIDDEN, FEATURES = 3, 2


@dataclass
class Case:
    """One layer, what of its results is used, and what wants a gradient."""

    kind: str
    layers: int
    ways: int
    batch_first: bool
    biased: bool
    dtype: str
    sizes: list[int]
    packed: bool
    used: list[int]
    wanted: list[int]
    second: bool
    arrays: list[Any] = field(repr=False)

    @property
    def states(self) -> int:
        """How many states it has."""
        return 2 if self.kind == "lstm" else 1

    def call(self, lib: Any, tensors: list[Any]) -> list[Any]:
        """Its results."""
        x, *more = tensors
        hx = more[: self.states]
        state = hx if self.kind == "lstm" else hx[0]
        params, how = more[self.states :], (self.biased, self.layers, 0.0, True, self.ways == 2)
        run = getattr(lib, self.kind)
        if not self.packed:
            return list(run(x, state, params, *how, self.batch_first))
        if lib is gradd:
            return list(run(x, state, params, *how, False, batch_sizes=self.sizes))
        return list(run(x, lib.tensor(self.sizes), state, params, *how))

    def run(self, lib: Any) -> list[Any]:
        """Results, first and (where asked for) second gradients as arrays; zeros where there is none."""
        tensors = [lib.tensor(a) for a in self.arrays]
        leaves = [tensors[i].requires_grad_() for i in self.wanted]
        results = self.call(lib, tensors)
        total = sum((results[i] * results[i] + 0.5 * results[i]).sum() for i in self.used)
        first = lib.autograd.grad(total, leaves, create_graph=self.second, allow_unused=True)
        found = [*results, *first]
        if self.second:
            slope = sum((g * g).sum() for g in first if g is not None)
            if slope.requires_grad:
                found += lib.autograd.grad(slope, leaves, allow_unused=True)
        shapes = [*(None for _ in results), *(t.shape for t in leaves), *(t.shape for t in leaves)]
        return [
            np.zeros(tuple(shape)) if t is None else t.detach().numpy()
            for t, shape in zip(found, shapes, strict=False)
        ]


def case(number: int) -> Case:
    """The case of that number."""
    rng = np.random.default_rng([number, 20])
    some = rng.integers
    kind = list(GATES)[number % 4]
    layers, ways, biased = int(some(1, 3)), int(some(1, 3)), bool(some(2))
    packed, batch_first = bool(some(3) == 0), bool(some(2))
    dtype = "float32" if some(2) else "float64"
    steps, batch = int(some(1, 6)), int(some(1, 4))
    sizes = sorted(some(1, batch + 1, steps - 1).tolist(), reverse=True) if packed else [batch] * (steps - 1)
    sizes = [batch, *sizes]
    first = batch_first and not packed
    shape: tuple[int, ...] = (batch, steps) if first else (steps, batch)
    states = 2 if kind == "lstm" else 1
    shapes: list[tuple[int, ...]] = [(sum(sizes), FEATURES) if packed else (*shape, FEATURES)]
    shapes += [(layers * ways, batch, HIDDEN)] * states
    width = GATES[kind] * HIDDEN
    for layer in range(layers):
        for _ in range(ways):
            shapes += [(width, HIDDEN * ways if layer else FEATURES), (width, HIDDEN)]
            shapes += [(width,), (width,)] if biased else []
    arrays = [rng.uniform(-1, 1, s).astype(dtype) for s in shapes]
    used = [i for i in range(1 + states) if some(2)] or [int(some(1 + states))]
    wanted = [i for i in range(len(arrays)) if some(2)] or [int(some(len(arrays)))]
    return Case(
        kind, layers, ways, batch_first, biased, dtype, sizes, packed, used, wanted, bool(some(2)), arrays
    )


def close(one: Case, found: list[Any], expected: list[Any]) -> None:
    """Equal but for rounding."""
    tolerance = 1e-9 if one.dtype == "float64" else 2e-4
    assert len(found) == len(expected)
    for at, (a, b) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance / 10, err_msg=f"{at} of {one}")


def in_one_op(one: Case) -> list[Any]:
    """What the case gives as the sessions run it, often enough to be planned; each time the same bits."""
    with gradd.connect("local:"):
        found = one.run(gradd)
        for _ in range(3):
            for a, b in zip(found, one.run(gradd), strict=True):
                np.testing.assert_array_equal(a, b)
    return found


def step_by_step(one: Case) -> list[Any]:
    """What the ops of each step give."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recurrent, "takes", lambda *given: False)
        with gradd.connect("local:"):
            return one.run(gradd)


@pytest.mark.parametrize("number", range(MANY))
def test_one_op_gives_what_the_ops_of_each_step_give(number: int) -> None:
    one = case(number)
    close(one, in_one_op(one), step_by_step(one))


@pytest.mark.parametrize("number", range(ASKED))
def test_one_op_gives_what_pytorch_gives(oracle: Callable[..., Any], number: int) -> None:
    one = case(number)
    close(one, in_one_op(one), oracle(one.run))


def _mixed(cell: Any) -> Any:
    """What is kept of a sample is another one's."""

    def forward(*given: Any) -> None:
        cell.forward(*given)
        given[-1][...] = given[-1][::-1].copy()

    return cell._replace(forward=forward)


def _deaf(cell: Any) -> Any:
    """Gradients of the state that a step made, and so of its output, are dropped."""

    def backward(*given: Any) -> None:
        given[5][0][...] = 0
        cell.backward(*given)

    return cell._replace(backward=backward)


def _first_order(cell: Any) -> Any:
    """Gradients of what is kept are dropped: second derivatives alone have them."""

    def backward(*given: Any) -> None:
        cell.backward(*given[:4], None, *given[5:])

    return cell._replace(backward=backward)


@pytest.mark.parametrize("fault", [_mixed, _deaf, _first_order])
@pytest.mark.parametrize("kind", GATES)
def test_a_fault_is_seen(monkeypatch: pytest.MonkeyPatch, fault: Callable[[Any], Any], kind: str) -> None:
    table = _cells()
    monkeypatch.setitem(table, kind, fault(table[kind]))
    # gradients of what is kept come to the plain cells
    monkeypatch.setitem(CELLS, kind, fault(CELLS[kind]))
    some = (c for c in map(case, range(ASKED)) if c.kind == kind)
    assert any(_differs(one) for one in some)


def _cells() -> Any:
    """The cells that run: the compiled ones where there are any."""
    if importlib.util.find_spec("numba") is None or os.environ.get("GRADD_KERNELS") == "numpy":
        return CELLS
    return importlib.import_module("gradd_engine.kernels.jit_recurrent").COMPILED


def _differs(one: Case) -> bool:
    try:
        close(one, in_one_op(one), step_by_step(one))
    except AssertionError:
        return True
    return False
