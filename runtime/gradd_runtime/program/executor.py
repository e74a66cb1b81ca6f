"""Runs bound programs eagerly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from gradd_engine.data import Halted, Mode, set_mode
from gradd_engine.data.state import state
from gradd_engine.tensor import locate, next_priority
from gradd_protocol.problems import ProtocolError
from gradd_protocol.program import GradOf, Value

from .binding import read
from .problems import halted, invalid, op_failed

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from gradd_engine.data import Account
    from gradd_engine.tensor import Backend, Tensor
    from gradd_protocol.problems import Problem

    from .binding import Bound, BoundStep


class Run(msgspec.Struct, eq=False):
    """A run of a program: the `slots` filled so far (in a plan: the wanted ones), how many steps were
    `applied`, the problem that stopped it.
    """

    slots: Any
    applied: int = 0
    problem: Problem | None = None


def run(
    bound: Bound,
    backend: Backend,
    tensors: Sequence[Tensor],
    values: Sequence[Any],
    uploads: Sequence[Any],
    produced: Callable[[int, Any], None],
    wanted: Container[int],
    account: Account | None = None,
) -> Run:
    """Run every step in order. A step that raises stops the program; earlier steps keep their effects. So do
    those before a stop that the `account` raises.

    Calls `produced(slot, tensor)` for each output. A slot that no later step reads is emptied, unless it is
    `wanted`, to make room.
    """
    it = Run(list(tensors))
    ends = bound.ends
    late, data = iter(values), iter(uploads)
    places = bound.places
    before = (state.grad, state.inference, state.backend)
    state.backend = backend
    mode: Mode | None = None
    try:
        for i, step in enumerate(bound.steps):
            if step.grad is not mode:
                mode = step.grad
                set_mode(mode)
            since = next_priority() if places else 0
            try:
                if account is not None and account.brim < 0 and i:
                    account.look(-i)
                results = run_step(step, it.slots, late, data, backend)
            except Halted as stop:
                it.problem = halted(stop, i, i)
                break
            except Exception as error:
                if step.raises and not isinstance(error, ProtocolError):
                    results = [None] * step.outputs
                else:
                    it.problem = op_failed(error, i, i)
                    break
            if step.outputs and len(results) != step.outputs:
                name = step.op.name if step.op else "upload"
                it.problem = invalid(
                    i, f"{name}() has {len(results)} outputs, {step.outputs} names were given", applied=i
                ).problem
                break
            if step.outputs:
                for k, r in enumerate(results):
                    it.slots.append(r)
                    produced(step.first + k, r)
            if places:
                for r in results or [it.slots[k] for k in read(step.inputs)]:
                    if r is not None:
                        locate(r, places[i], since)
            results, r = [], None
            for k in ends[i]:
                if k not in wanted:
                    it.slots[k] = None
            it.applied = i + 1
    finally:
        state.grad, state.inference, state.backend = before
    return it


def run_step(step: BoundStep, slots: list[Any], values: Any, uploads: Any, backend: Backend) -> list[Any]:
    """Run one step on the slots filled so far; returns its results."""
    if step.op is None:
        t = backend.from_array(next(uploads), step.attrs["dtype"])
        t._requires_grad = step.attrs["requires_grad"]
        return [t]
    inputs = tuple([fill(x, slots, values) for x in step.inputs])
    out = step.op.run(inputs, step.attributes(values))
    if out is None:
        return []
    return list(out) if isinstance(out, tuple) else [out]


def fill(x: Any, slots: list[Any], values: Any) -> Any:
    if x.__class__ is int:
        return slots[x]
    if isinstance(x, Value):
        return next(values)
    if isinstance(x, GradOf):
        t = slots[x.of]
        return None if t is None else t._grad
    if isinstance(x, list):
        return [fill(e, slots, values) for e in x]
    return x
