"""What a client can tell itself: parts of a tensor whose values it has, and the truths and integers that
recorded steps make of such values.

Integers and comparisons come out the same on every device, so a script that branches on them does not wait:
``loss < best`` after ``loss.item()``, the ends ``i + 8`` of a slice that begins at ``i``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine.backends import NUMPY
from gradd_engine.data import INT, dtypes
from gradd_engine.schema import REGISTRY

from .steps import Exact, RuntimeSlot

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradd_engine.schema import Op
    from gradd_engine.tensor import Tensor

    from .builder import Builder
    from .steps import Recorded

    Known = Callable[[Any], np.ndarray[Any, Any] | None]

#: how many of the latest steps are looked at
_STEPS = 16
#: bytes of the largest result
_BYTES = 1 << 12


def covers(whole: Tensor, t: Tensor) -> bool:
    """Whether the values of `t` are among those of `whole`, whose memory it shares."""
    if t.dtype is not whole.dtype or t._conj or whole._conj or not t.numel():
        return False
    return whole.offset <= t.offset and t.offset + _extent(t) <= whole.offset + _extent(whole)


def part_of(whole: Tensor, values: np.ndarray[Any, Any], t: Tensor) -> np.ndarray[Any, Any]:
    """The values of `t`, from those of a tensor that covers it."""
    flat = np.empty(_extent(whole), values.dtype)
    _strided(flat, whole, 0)[...] = values
    return _strided(flat, t, t.offset - whole.offset).copy()


def _extent(t: Tensor) -> int:
    """The elements between the first and the last one in memory, both included."""
    return 1 + sum((n - 1) * s for n, s in zip(t._shape, t.strides, strict=True))


def _strided(flat: np.ndarray[Any, Any], t: Tensor, first: int) -> np.ndarray[Any, Any]:
    size = flat.itemsize
    return np.lib.stride_tricks.as_strided(flat[first:], tuple(t.shape), tuple(s * size for s in t.strides))


def deduce(built: Builder, t: Any, known: Known) -> np.ndarray[Any, Any] | None:
    """The values of `t`, if one of the latest steps of `built` made it of values that `known` gives, and no
    step wrote to anything since; else None.
    """
    slot = t._out[1] if t._out is not None and t._out[0] is built else None
    if slot is None:
        return None
    if t._dtype.category > INT and slot == len(built.outputs) - 1:  # most of what is read: the latest result
        op = REGISTRY.get(built.steps[-1].op)
        if op is None or not op.view:
            return None
    if t._conj or t.nbytes > _BYTES:
        return None
    try:
        found = _Deduction(built, known).output(slot)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        return None  # then the server is asked, and says what is wrong
    return None if found is None else np.array(found.array, order="C")


class _Deduction:
    """Runs the steps behind an output, from the last one back to values that are known."""

    def __init__(self, built: Builder, known: Known) -> None:
        self._built, self._known = built, known
        #: the step looked at last, its first output and its first run-time value
        self._step, self._slot, self._value = len(built.steps), len(built.outputs), len(built.values)
        self._places: dict[int, tuple[int, int, int]] = {}

    def _place(self, slot: int) -> tuple[int, int, int] | None:
        """The step that makes `slot`, its first output and its first run-time value; None if it is too far
        back.
        """
        steps = self._built.steps
        end = max(self._built.settled, len(steps) - _STEPS)
        while slot < self._slot and self._step > end:
            self._step -= 1
            step = steps[self._step]
            self._slot -= step.outputs
            self._value -= step.late()
            for k in range(step.outputs):
                self._places[self._slot + k] = (self._step, self._slot, self._value)
        return self._places.get(slot)

    def output(self, slot: int) -> Any:
        """The tensor in an output slot, on NumPy's backend; None if it cannot be told."""
        place = self._place(slot)
        if place is None:
            return None
        at, first, value = place
        step = self._built.steps[at]
        op = REGISTRY.get(step.op)
        if op is None or step.raises or not _tells(op):
            return None
        values = iter(self._built.values[value : value + step.late()])
        inputs: list[Any] = []
        for a in step.args:
            x = next(values) if isinstance(a, RuntimeSlot) else self._input(a)
            if x is None:
                return None
            inputs.append(x)
        attrs = _attributes(op, step, values)
        found = NUMPY.infer(op, tuple(inputs), attrs)
        meta = found[slot - first] if op.many else found
        if op.view:
            return NUMPY.view(inputs[0], meta)
        if meta.dtype.category > INT or meta.nbytes > _BYTES:
            return None
        return NUMPY.run(op, (meta,), tuple(inputs), attrs)[0]

    def _input(self, a: Any) -> Any:
        if type(a) is not int:
            return None
        if a < 0:
            t: Any = self._built.tensors[-a - 1]
        else:
            ref = self._built.outputs[a]
            t = None if ref is None else ref()
        # Views and copies follow the strides of what they are of, and the array has those of its rows.
        values = None if t is None or not t.is_contiguous() else self._known(t)
        if values is not None:
            return NUMPY.from_array(values, t.dtype)
        return self.output(a) if a >= 0 else None


def _tells(op: Op) -> bool:
    """Whether the op's results follow from its inputs alone, and are the same wherever it runs."""
    if op.base is not None or op.writes or op.random or op.stateful or op.conjugates or op.infer is None:
        return False
    if op.view:
        return op.effects.relative
    return op.elementwise and op.kernel.impl is not None and op.effects.raises is False and not op.many


def _attributes(op: Op, step: Recorded, values: Any) -> dict[str, Any]:
    """All attributes of a step; late ones from `values`."""
    found = {p.name: p.default for p in op.schema.attrs}
    for name, v in step.attrs:
        kind = op.params[name].kind
        found[name] = next(values) if isinstance(v, RuntimeSlot) else _plain(v, kind)
    return found


def _plain(v: Any, kind: str) -> Any:
    if isinstance(v, Exact):
        return v.value
    if isinstance(v, tuple):
        return [_plain(e, "") for e in v]
    return dtypes.by_name(v) if kind == "dtype" and v is not None else v
