"""Admission: a dry run on shapes before any step runs (rule 11 of docs/rest.md)."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from gradd_engine.backends.meta import MetaBackend
from gradd_engine.backward import give_history
from gradd_engine.data import Meta, ambient, set_mode
from gradd_engine.data.state import state
from gradd_engine.declare import flat_tensors
from gradd_engine.ops.index.dynamic import ShapeDependsOnValuesError
from gradd_protocol.problems import Problem, problem
from gradd_protocol.program import GradOf

from .executor import fill
from .problems import invalid, op_failed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradd_engine.tensor import Tensor

    from .binding import Bound, BoundStep


class _Unknown:
    """A result that depends on values; what is computed from it is not checked."""


UNKNOWN: Any = _Unknown()
#: admitted programs that a session remembers
ADMITTED = 4096


class Admitted:
    """Programs that were admitted with inputs of some geometry, which are not checked again."""

    def __init__(self) -> None:
        self._known: OrderedDict[Any, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()

    def refusal(self, bound: Bound, tensors: Sequence[Tensor], values: Sequence[Any]) -> Problem | None:
        """See `admit`. A program with run-time values is checked every time."""
        geometry = (
            bound.id,
            tuple(
                (
                    t.shape, t.strides, t.offset, t.dtype, t._conj, t.requires_grad, t._requires_grad,
                    t._fn is None, t._base is None,
                )
                for t in tensors
            ),
        )  # fmt: skip
        if geometry in self._known and not bound.values:
            return None
        found = admit(bound, tensors, values)
        if found is None:
            self._known[geometry] = None
            if len(self._known) > ADMITTED:
                self._known.popitem(last=False)
        return found


def admit(bound: Bound, tensors: Sequence[Tensor], values: Sequence[Any]) -> Problem | None:
    """The problem of the first step that would fail, as far as shapes and dtypes tell.

    Checks names, arity, attributes, shapes, dtypes, and gradients for a non-scalar backward. Only running
    finds errors that depend on values, graphs, versions, writability or memory.
    """
    meta = MetaBackend()
    slots: list[Any] = [_mirror(meta, t) for t in tensors]
    late = iter(values)
    with ambient(grad=True, inference=None, backend=meta, generator=None, account=None):
        for i, step in enumerate(bound.steps):
            set_mode(step.grad)
            inputs = [slots[x] if x.__class__ is int else _peek(x, slots, late) for x in step.inputs]
            attrs = step.attributes(late)
            try:
                results = _dry(step, inputs, attrs, meta)
            except ShapeDependsOnValuesError:
                results = UNKNOWN
            except Exception as error:
                found = op_failed(error, i, 0)
                if found.slug != "op-failed":
                    return found
                return problem("invalid-op", found.detail, exception=found.exception, step=i, applied=0)
            if results is UNKNOWN:
                slots.extend([UNKNOWN] * step.outputs)
                continue
            if step.outputs and len(results) != step.outputs:
                name = step.op.name if step.op else "upload"
                return invalid(
                    i, f"{name}() has {len(results)} outputs, {step.outputs} names were given", applied=0
                ).problem
            if step.outputs:
                slots.extend(results)
    return None


def _dry(step: BoundStep, inputs: list[Any], attrs: dict[str, Any], meta: MetaBackend) -> Any:
    """The results of a step on shapes; UNKNOWN if they depend on values."""
    op = step.op
    if op is None:
        t = meta.empty(Meta(attrs["shape"], attrs["dtype"]))
        t._requires_grad = attrs["requires_grad"]
        return [t]
    effects = op.effects
    if op.plain and not effects.dynamic and not step.raises:
        for x in inputs:
            if x is UNKNOWN:
                return UNKNOWN
        return [op.run(tuple(inputs), attrs)]
    if effects.dynamic or step.raises or any(_unknown(x) for x in inputs):
        return UNKNOWN
    if effects.stateful and effects.dry_run is not True:
        # Without its own dry run, only a graph, a running pass or a forward-mode level can tell.
        found = None if effects.dry_run is False else effects.dry_run(*inputs, **attrs)
        return UNKNOWN if found is None else found
    if op.base is None and (effects.unversioned or not op.writes):
        out = op.run(tuple(inputs), attrs)
    else:
        with ambient(grad=False):
            out = op.run(tuple(inputs), attrs)
        if state.grad and any(t.requires_grad for t in flat_tensors(inputs)):
            give_history(inputs[0])
    return [] if out is None else list(out) if isinstance(out, tuple) else [out]


def _mirror(backend: MetaBackend, t: Tensor) -> Any:
    """A meta tensor with the geometry of `t`, with or without a history."""
    out = backend.empty(Meta(tuple(t.shape), t.dtype, tuple(t.strides)))
    out.offset, out._storage, out._conj = t.offset, t._storage, t._conj
    if t._leaf:
        out._requires_grad = t._requires_grad  # its own flag; that of its base comes from there
    else:
        give_history(out)
    if t._base is not None:
        # So that a view's flag is not taken for its base's.
        out._base = _mirror(backend, t._base)
        out._base._vc, out._view_version = out._vc, out._vc.n
    return out


def _peek(x: Any, slots: list[Any], values: Iterator[Any]) -> Any:
    if x.__class__ is int:
        return slots[x]
    if isinstance(x, GradOf):
        return UNKNOWN
    if isinstance(x, list):
        return [_peek(e, slots, values) for e in x]
    return fill(x, slots, values)


def _unknown(x: Any) -> bool:
    return any(_unknown(e) for e in x) if isinstance(x, list) else x is UNKNOWN
