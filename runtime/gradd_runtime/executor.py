"""Runs bound programs on numbers, eagerly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradd_engine.data import Mode, OutOfQuota, set_mode
from gradd_engine.data.state import state
from gradd_engine.graph import TooMuchWork
from gradd_engine.ops.index.dynamic import ShapeDependsOnValuesError
from gradd_protocol.problems import Problem, ProtocolError, problem
from gradd_protocol.program import GradOf, Value

from .binding import Bound, Call, invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from gradd_engine.tensor import Backend, Tensor


@dataclass(slots=True)
class Run:
    """A program under way: `slots` filled so far (of a plan: those that were wanted), `applied` steps that
    stand, the problem that stopped it.
    """

    slots: Any
    applied: int = 0
    problem: Problem | None = None
    bytes: int = 0
    produced: int = field(default=0)


def class_of(error: BaseException) -> str:
    """The name of an exception's class, of those that PyTorch has."""
    private = isinstance(error, ShapeDependsOnValuesError)
    return RuntimeError.__name__ if private else type(error).__name__


def over_quota(error: OutOfQuota | MemoryError, **members: Any) -> Problem:
    """The problem of what the session has no bytes for."""
    if isinstance(error, OutOfQuota):
        members |= {"requested": error.requested, "used": error.used, "limit": error.limit}
    return problem("quota-exceeded", str(error) or "out of memory", exception="RuntimeError", **members)


def op_failed(error: BaseException, step: int, applied: int) -> Problem:
    """The problem of a step that raised: PyTorch's class and message."""
    if isinstance(error, ProtocolError):
        return error.problem
    if isinstance(error, (OutOfQuota, MemoryError)):
        return over_quota(error, step=step, applied=applied)
    if isinstance(error, TooMuchWork):
        return problem(
            "work-exceeded",
            str(error),
            exception="RuntimeError",
            step=step,
            applied=applied,
            requested=min(error.requested, (1 << 63) - 1),
            limit=error.limit,
        )
    return problem(
        "op-failed",
        str(error),
        exception=class_of(error),
        step=step,
        applied=applied,
        node=getattr(error, "visited", None),
    )


def run(
    bound: Bound,
    backend: Backend,
    tensors: Sequence[Tensor],
    values: Sequence[Any],
    uploads: Sequence[Any],
    produced: Callable[[int, Any], None],
    wanted: Container[int],
) -> Run:
    """Run every step in order; a step that raises stops the program and earlier steps stand.

    `produced(slot, tensor)` is called as each output comes to be. A slot that no later step reads is emptied,
    unless it is `wanted`: what nobody holds makes room for what comes.
    """
    it = Run(list(tensors))
    ends = bound.ends
    late, data = iter(values), iter(uploads)
    before = (state.grad, state.inference, state.backend)
    state.backend = backend
    mode: Mode | None = None
    try:
        for i, call in enumerate(bound.calls):
            if call.grad is not mode:
                mode = call.grad
                set_mode(mode)
            try:
                results = call_step(call, it.slots, late, data, backend)
            except Exception as error:
                if call.raises and not isinstance(error, ProtocolError):
                    results = [None] * call.outputs
                else:
                    it.problem = op_failed(error, i, i)
                    break
            if call.outputs and len(results) != call.outputs:
                name = call.op.name if call.op else "upload"
                it.problem = invalid(
                    i, f"{name}() has {len(results)} outputs, {call.outputs} names were given", applied=i
                ).problem
                break
            if call.outputs:
                for k, r in enumerate(results):
                    it.slots.append(r)
                    produced(call.first + k, r)
            results, r = [], None
            for k in ends[i]:
                if k not in wanted:
                    it.slots[k] = None
            it.applied = i + 1
    finally:
        state.grad, state.inference, state.backend = before
    return it


def call_step(call: Call, slots: list[Any], values: Any, uploads: Any, backend: Backend) -> list[Any]:
    """Run one step on the slots filled so far; its results."""
    if call.op is None:
        t = backend.from_array(next(uploads), call.attrs["dtype"])
        t._requires_grad = call.attrs["requires_grad"]
        return [t]
    inputs = tuple([fill(x, slots, values) for x in call.inputs])
    out = call.op.run(inputs, call.attributes(values))
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
