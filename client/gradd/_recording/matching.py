"""Whether an op is called as it was: with the tensors of the same slots, alike, and the same parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.declare import flat_tensors
from gradd_engine.schema import GREATEST, LEAST
from gradd_engine.tensor import Tensor

from .._program import LATE, Grad, RuntimeSlot
from .repeats import alike, fresh, plain

if TYPE_CHECKING:
    from gradd_engine.schema import Op

    from .._mirror import MirrorBackend
    from .._program import Builder
    from .repeats import OutputForm, Repeat


class Matching:
    """Of one batch. What it takes goes to the batch, whether the op is the same or not."""

    def __init__(self, recorder: object, backend: MirrorBackend, building: Builder) -> None:
        self._recorder, self._backend, self._building = recorder, backend, building
        #: the slots whose tensors are known to be as they were
        self.sure: set[Any] = set()

    def takes(self, repeat: Repeat, args: Any, inputs: Any, geometry: Any) -> bool:
        """Whether these are the inputs that the op had. Numbers among them go to the batch's values."""
        building = self._building
        at = -1
        for arg in args:
            at += 1
            x = inputs[at]
            kind = arg.__class__
            if kind is int or kind is Grad:
                if kind is Grad:
                    if not self._is_gradient(arg.of, x):
                        return False
                elif arg >= 0:
                    ref = building.outputs[arg]
                    if ref is None or ref() is not x:
                        return False
                elif -arg > len(building.tensors):
                    if not self._enters(x):
                        return False
                elif building.tensors[-arg - 1] is not x or x is None:
                    return False
                if kind is Grad or arg not in self.sure:
                    if not same(x, geometry[at], kind is int and arg < 0):
                        return False
                    self.sure.add(arg)
            elif arg is None:
                if x is not None:
                    return False
            elif kind is tuple:
                if x.__class__ not in (list, tuple) or len(x) != len(arg):
                    return False
                if not self.takes(repeat, arg, x, geometry[at]):
                    return False
            else:
                if LATE.get(x.__class__) != arg or (x.__class__ is int and not LEAST <= x <= GREATEST):
                    return False
                if repeat.exact and not alike(x, geometry[at]):
                    return False
                building.values.append(x)
        return True

    def _enters(self, x: Any) -> bool:
        """A tensor of an earlier batch becomes an input of this one."""
        if getattr(x, "backend", None) is not self._backend or x._out is not None:
            return False
        building, id = self._building, x._id
        if (
            id is None
            or id in building.slots
            or x._storage.recorder is not self._recorder
            or x._lost is not None
        ):
            return False
        building.input(id, x)
        return True

    def _is_gradient(self, slot: int, x: Any) -> bool:
        """Whether this is the gradient, without a slot of its own, of the tensor in a slot."""
        building = self._building
        owner = getattr(x, "_owner", None)
        holder = None if owner is None else owner()
        if holder is None or holder._gradient is not x or x._id is not None or x._out is not None:
            return False
        if slot >= 0:
            ref = building.outputs[slot]
            return ref is not None and ref() is holder
        if -slot > len(building.tensors):
            return self._enters(holder)
        return building.tensors[-slot - 1] is holder

    def told(self, repeat: Repeat, attrs: dict[str, Any]) -> bool:
        """Whether the other parameters make the same step."""
        for each in repeat.attrs:
            value = attrs[each.name]
            if value is not each.value and not each.again(value, repeat.exact):
                return False
            if each.late:
                self._building.values.append(value)
        return True


def same(x: Any, geometry: Any, earlier: bool) -> bool:
    """Whether an op makes of this tensor what it made of the one before; `earlier`: it is an input of the
    batch.
    """
    return (
        geometry is not None
        and x._dtype is geometry.dtype
        and x._shape == geometry.shape
        and x.strides == geometry.strides
        and x._requires_grad is geometry.leaf
        and x._vc.inference is geometry.inference
        and (x._fn is not None) is geometry.node
        # a view whose base was written to gets a new node from the op
        and (x._base is None or x._fn is None or x._view_version == x._vc.n)
        and plain(x)
        and (not earlier or fresh(x))
    )


def alone(inputs: tuple[Any, ...]) -> bool:
    """Whether what an op in place writes to shares no memory with what it reads."""
    target = inputs[0]._storage
    return not any(t._storage is target for t in flat_tensors(inputs[1:]))


def like(repeat: Repeat, inputs: tuple[Any, ...]) -> bool:
    """Whether the tensors among inputs are like those that the op had, wherever they come from."""
    for arg, x, geometry in zip(repeat.args, inputs, repeat.geometry, strict=True):
        if arg.__class__ is int:
            if not isinstance(x, Tensor) or not same(x, geometry, True):
                return False
        elif arg is not None and not isinstance(arg, RuntimeSlot):
            return False
    return True


def in_slots(slots: tuple[int, ...], building: Builder) -> dict[int, Any]:
    """The tensors in these slots, None for those that are gone."""
    found: dict[int, Any] = {}
    for slot in slots:
        ref = building.outputs[slot] if slot >= 0 else None
        found[slot] = building.tensors[-slot - 1] if slot < 0 else None if ref is None else ref()
    return found


def fine(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
    """Whether it takes these values. Where it does not, it runs and says so."""
    try:
        op.check_values(*inputs, **attrs)  # type: ignore[misc]
    except Exception:
        return False
    return True


def began(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], window: OutputForm) -> int | None:
    """Where in memory a window begins, if it is the one remembered but for that."""
    try:
        meta = op.infer(*inputs, **attrs)  # type: ignore[misc]
    except Exception:
        return None
    if tuple(meta.shape) != tuple(window.shape) or tuple(meta.strides) != tuple(window.strides):
        return None
    found: int = meta.offset
    return found
