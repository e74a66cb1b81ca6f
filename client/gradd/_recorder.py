"""Records one thread's operations of one session, and decides where a batch ends (docs/design.md, section 1).

A batch ends by what the script does, never by time: a value is needed (a), an optimizer stepped (b), the
first node-creating op after a pass that freed its graph (c), flush, naming, close (d), 4,096 steps (e).
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

import gradd_engine
import gradd_protocol
from gradd_engine.dispatch import written
from gradd_engine.dtypes import float32
from gradd_engine.layout import Meta
from gradd_engine.state import state
from gradd_engine.tensor import Tensor
from gradd_protocol.limits import DEFAULT

from ._program import Builder, Grad, Late, Recorded, attrs_of, kind_of

if TYPE_CHECKING:
    from gradd_engine.op import Op

    from ._exceptions import Site
    from ._session import Session

_OURS = tuple(
    os.path.dirname(str(f)) + os.sep for f in (__file__, gradd_engine.__file__, gradd_protocol.__file__)
)
_PASSES = frozenset({"backward", "grad"})
#: steps that touch more than the storages of their arguments
_WIDE = frozenset({"backward", "grad", "zero_grad", "set_grad", "set_data"})
#: uploads that ride in one batch, in bytes together
_UPLOADS = 3 * DEFAULT.client_message_bytes // 4


def call_site() -> Site:
    """The innermost line that is not ours."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


class Recorder:
    """What one thread has recorded and not yet sent. All but `flush` and `settle` run while the session's
    lock is held.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.thread = threading.current_thread()
        #: a step is half recorded: an interrupt in between is seen by this
        self.open = False
        self.building = Builder()
        self._passed = self._wide = False

    def record(
        self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outputs: Any, raises: bool = False
    ) -> None:
        """Add the step of an op that the mirror just ran."""
        outs: tuple[Any, ...]
        outs = () if outputs is None else outputs if type(outputs) is tuple else (outputs,)
        if self._passed and state.grad and any(isinstance(o, Tensor) and o._fn is not None for o in outs):
            self.flush()
        wide = op.name in _WIDE
        self._order(wide)
        values: list[Any] = []
        args = tuple([self._arg(x, values) for x in inputs])
        step = Recorded(op.name, args, attrs_of(op, attrs, values), len(outs), state.grad, raises)
        first = self.building.append(step, call_site(), values, [])
        self._wide = self._wide or wide
        self._name_outputs(outs, first)
        targets: Any = inputs[:1] if op.base is not None else written(op, inputs)
        for t in targets:
            t.storage.writes += 1
        if op.name in _PASSES:
            keep = attrs.get("retain_graph")
            self._passed = not (attrs.get("create_graph") if keep is None else keep)
        elif op.name == "data":
            outs[0].storage.aliased = True
        if len(self.building) >= DEFAULT.batch_steps:
            self._cut()

    def _step(
        self, op: str, args: tuple[Any, ...], attrs: tuple[Any, ...], out: Tensor, uploads: list[Any]
    ) -> None:
        """Add a step that is no op of the mirror."""
        self._order(False)
        self.open = True
        first = self.building.append(
            Recorded(op, args, attrs, 1, state.grad, False), call_site(), [], uploads
        )
        self._name_outputs((out,), first)
        self.open = False
        if len(self.building) >= DEFAULT.batch_steps:
            self._cut()

    def upload(self, t: Tensor, data: Any, requires_grad: bool) -> None:
        """Record a tensor made of bytes; `data` is an array of our own, or a staged upload."""
        attrs: list[tuple[str, Any]] = [("dtype", t.dtype.name)]
        if requires_grad:
            attrs.append(("requires_grad", True))
        attrs.append(("shape", tuple(t.shape)))
        with self.session.lock:
            if (
                sum(getattr(u, "nbytes", 0) for u in self.building.uploads) + getattr(data, "nbytes", 0)
                > _UPLOADS
            ):
                self.flush()
            self._step("upload", (), tuple(attrs), t, [data])

    def name_gradient(self, owner: Tensor, g: Tensor) -> None:
        """Give a gradient that only the passes know a slot of its own."""
        with self.session.lock:
            self._step("get_grad", (self._slot(owner),), (), g, [])

    def adopt(self, name: str, t: Any) -> None:
        """Give the tensor of a shared name an id of this writer."""
        self._step("share", (self.building.input(name, t),), (), t, [])

    def settle(self, t: Any) -> None:
        """Before `t` is read or named: steps of other threads on it go first, and a gradient gets a slot."""
        self._order(False)
        self._flush_holder(t)
        self._touch(t)
        owner = t._owner() if t._owner is not None else None
        if t._out is None and t._id is None and owner is not None and owner._grad is t:
            self.name_gradient(owner, t)

    def _flush_holder(self, t: Any) -> None:
        """Another thread's recorder holds the step that makes `t`: send it."""
        for other in self.session.recorders:
            if other is not self and t._out is not None and t._out[0] is other.building:
                other.flush()

    def _order(self, wide: bool) -> None:
        """A pass reaches tensors that are not its arguments: what other threads recorded before it is sent
        before it.
        """
        others = self.session.recorders
        if len(others) > 1:
            for other in others:
                if other is not self and len(other.building) and (wide or other._wide):
                    other.flush()

    def _name_outputs(self, outs: tuple[Any, ...], first: int) -> None:
        building = self.building
        for k, o in enumerate(outs):
            if isinstance(o, Tensor):
                self._touch(o)
                if o._id is None and o._out is None:  # type: ignore[attr-defined]
                    o._out = (building, first + k)  # type: ignore[attr-defined]
                    building.outputs[first + k] = weakref.ref(o)

    def _arg(self, x: Any, values: list[Any]) -> Any:
        if isinstance(x, Tensor):
            owner = x._owner  # type: ignore[attr-defined]
            if x._id is None and x._out is None and owner is not None:  # type: ignore[attr-defined]
                holder = owner()
                if holder is not None and holder._grad is x:
                    return Grad(self._slot(holder))
            return self._slot(x)
        if x is None:
            return None
        if type(x) is list or type(x) is tuple:
            return tuple([self._arg(e, values) for e in x])
        x = x.item() if hasattr(x, "item") else x
        values.append(x)
        return Late(kind_of(x))

    def _slot(self, t: Any) -> int:
        out = t._out
        if out is not None:
            if out[0] is self.building:
                slot: int = out[1]
                return slot
            self._flush_holder(t)
        self._touch(t)
        if t._id is None:
            self.session.refuse_lost(t)
        return self.building.input(t._id, t)

    def _touch(self, t: Any) -> None:
        storage = t.storage
        other = storage.recorder
        if other is not self:
            if other is not None and len(other.building):
                other.flush()
            storage.recorder = self

    def flush(self, fetch: list[Any] | None = None, **more: Any) -> Any:
        """Send what is recorded, with `fetch` tensors to bring back; does not wait. Returns the sent batch
        (or None).
        """
        with self.session.lock:
            built, self.building = self.building, Builder()
            self._passed = self._wide = False
            return self.session.send(built, fetch or [], **more)

    def _cut(self) -> None:
        """4,096 steps: send up to the latest step that looks like the first, so that a loop keeps its
        phase.
        """
        built = self.building
        first, site = built.steps[0].op, built.sites[0]
        at = next(
            (
                i
                for i in range(len(built) - 1, 0, -1)
                if built.steps[i].op == first and built.sites[i] == site
            ),
            None,
        )
        if at is None:
            self.flush()
            return
        rest = Builder()
        slots: dict[int, Any] = {}
        keep: list[Any] = []
        base = built.first_output[at]
        holders = [r() if r is not None else None for r in built.outputs]
        self.building = rest
        late = built.steps[at:]
        needed = {s for step in late for s in _slots(step.args) if 0 <= s < base}
        head, tail = _split(built, at, base)
        for s in sorted(needed):
            t: Any = holders[s]
            if t is None:
                # Nobody holds it, but a step of the rest reads it.
                t = self.session.backend.empty(Meta((), float32))
                head.outputs[s] = weakref.ref(t)
            keep.append((s, t))
        self.session.send(head, [])
        for s, t in keep:
            slots[s] = rest.input(t._id, t)
        for i, step in enumerate(late):
            args = tuple(_moved(a, slots, base, built, rest) for a in step.args)
            first_out = rest.append(step._replace(args=args), tail.sites[i], tail.values[i], tail.uploads[i])
            for k in range(step.outputs):
                t = holders[built.first_output[at + i] + k]
                rest.outputs[first_out + k] = None if t is None else weakref.ref(t)
                if t is not None:
                    t._out = (rest, first_out + k)


class _Tail:
    def __init__(self, sites: list[Any], values: list[list[Any]], uploads: list[list[Any]]) -> None:
        self.sites = sites
        self.values = values
        self.uploads = uploads


def _split(built: Builder, at: int, base: int) -> tuple[Builder, _Tail]:
    head = Builder()
    head.steps, head.sites = built.steps[:at], built.sites[:at]
    head.slots, head.inputs, head.tensors = built.slots, built.inputs, built.tensors
    head.outputs = built.outputs[:base]
    head.values, head.uploads = built.values[: built.value_at[at]], built.uploads[: built.upload_at[at]]
    head.first_output = built.first_output[:at]
    ends_v = [*built.value_at[at + 1 :], len(built.values)]
    ends_u = [*built.upload_at[at + 1 :], len(built.uploads)]
    values = [built.values[a:b] for a, b in zip(built.value_at[at:], ends_v, strict=True)]
    uploads = [built.uploads[a:b] for a, b in zip(built.upload_at[at:], ends_u, strict=True)]
    used = {s for step in head.steps for s in _slots(step.args) if s < 0}
    _drop_unused(head, used)
    return head, _Tail(built.sites[at:], values, uploads)


def _drop_unused(head: Builder, used: set[int]) -> None:
    """Inputs that only the later steps read do not belong to the earlier program."""
    kept = [j for j in range(len(head.inputs)) if -(j + 1) in used]
    move = {-(j + 1): -(i + 1) for i, j in enumerate(kept)}
    head.steps = [s._replace(args=tuple(_renamed(a, move) for a in s.args)) for s in head.steps]
    head.inputs = [head.inputs[j] for j in kept]
    head.tensors = [head.tensors[j] for j in kept]
    head.slots = {name: -(i + 1) for i, name in enumerate(head.inputs)}


def _renamed(a: Any, move: dict[int, int]) -> Any:
    if isinstance(a, Grad):
        return Grad(move.get(a.of, a.of))
    if isinstance(a, (Late, type(None))):
        return a
    if isinstance(a, int):
        return move.get(a, a)
    return tuple(_renamed(e, move) for e in a)


def _slots(a: Any) -> list[int]:
    if isinstance(a, Grad):
        return [a.of]
    if isinstance(a, (Late, type(None))):
        return []
    if isinstance(a, int):
        return [a]
    return [s for e in a for s in _slots(e)]


def _moved(a: Any, slots: dict[int, int], base: int, built: Builder, rest: Builder) -> Any:
    if isinstance(a, (Late, type(None))):
        return a
    if isinstance(a, Grad):
        return Grad(_moved(a.of, slots, base, built, rest))
    if isinstance(a, int):
        if a < 0:
            return rest.input(built.inputs[-a - 1], built.tensors[-a - 1])
        return slots[a] if a < base else a - base
    return tuple(_moved(e, slots, base, built, rest) for e in a)
