"""One hostile call, tried eagerly and as the third run of a planned program, and all that must hold after
it.
"""

from __future__ import annotations

import dis
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradd_engine
import gradd_protocol
import gradd_runtime
import numpy as np
from gradd_engine.backends.array import NUMPY
from gradd_engine.data.dtypes import DType
from gradd_engine.data.layout import Meta, Size, contiguous_strides, numel
from gradd_engine.data.memory import OutOfQuota
from gradd_engine.data.rng import RandomStream
from gradd_engine.data.state import _quiet, ambient
from gradd_engine.declare.declarators import REGISTRY
from gradd_engine.tensor import Storage, Tensor
from gradd_protocol import messages as m
from gradd_protocol.problems import ProtocolError
from gradd_protocol.program import Complex, Special, Step, Value, static_float
from gradd_protocol.values import encode_scalar, kind_of
from gradd_runtime.program import admission, executor
from gradd_runtime.session import Session
from gradd_runtime.tensors import TensorTable

from tests.runtime.peer import Peer

from . import guards
from .valid import Call, Given, tensors

#: bytes that a session may hold
QUOTA = 256 << 20
CANARY = 0x7E57CA9A7E57CA9A
#: what refusals may be: PyTorch's classes
CLASSES = {
    "RuntimeError", "IndexError", "ValueError", "TypeError", "NotImplementedError", "OverflowError",
    "_LinAlgError", "AttributeError",
}  # fmt: skip
#: problems that a call may be answered with
SLUGS = {
    "invalid-op", "op-failed", "op-not-found", "work-exceeded", "quota-exceeded", "malformed-frame",
    "invalid-data", "op-not-callable",
}  # fmt: skip
_OURS = tuple(str(Path(str(p.__file__)).parent) for p in (gradd_engine, gradd_protocol, gradd_runtime))
#: kernels are compiled with checks of every index
_BOUNDS = os.environ.get("NUMBA_BOUNDSCHECK") == "1"
#: elements of a result that are looked at
_FEW = 1 << 22
#: random numbers begin here in every run of a trial
_FIRST_DRAW = 7


class Fault(AssertionError):
    """What must not have come of a call."""


def _made(given: Given) -> Tensor | None:
    """What only an op makes: a leaf, a result with history, tokens of edges, levels and random state."""
    run = {
        name: REGISTRY[name].run for name in ("mul", "edge", "enter_dual_level", "stored_rng", "make_dual")
    }
    t = NUMPY.from_array(np.array(given.values), given.dtype)
    with ambient(grad=True, backend=NUMPY, generator=RandomStream(0)):
        if given.layout == "rng":
            return run["stored_rng"]((t,), {})  # type: ignore[no-any-return]
        if given.layout in ("level", "dual"):
            level = run["enter_dual_level"]((), {"depth": 0})
            if given.layout == "level" or not t.dtype.differentiable:
                return level  # type: ignore[no-any-return]
            return run["make_dual"]((t, NUMPY.from_array(np.array(given.values)), level), {})  # type: ignore[no-any-return]
        t._requires_grad = t.dtype.differentiable
        if given.layout == "leaf" or not t.dtype.differentiable:
            return t
        y = run["mul"]((t, t), {})
        return y if given.layout == "history" else run["edge"]((y,), {})  # type: ignore[no-any-return]


_MADE = frozenset({"leaf", "history", "edge", "level", "rng", "dual"})


def laid_out(given: Given) -> Tensor:
    """The tensor, in its layout, over memory of its own."""
    if given.layout in _MADE:
        made = _made(given)
        assert made is not None
        return made
    a = given.values
    shape, n = a.shape, a.ndim
    layout = given.layout if n and a.size else "contiguous"
    strides, offset, count = contiguous_strides(shape), 0, a.size
    if layout == "transposed" and n > 1:
        inner = contiguous_strides(shape[::-1])
        strides = tuple(inner[n - 1 - i] for i in range(n))
    elif layout == "sliced":
        wide = contiguous_strides((*shape[:-1], shape[-1] * 2))
        strides, offset, count = (*wide[:-1], 2), 1, a.size * 2 + 1
    elif layout == "expanded":
        strides = (0, *strides[1:])
        count = numel(shape[1:])
    elif layout == "overlapping":
        strides = (1,) * n
        count = sum(s - 1 for s in shape) + 1
    elif layout == "negative":
        strides, offset = (*strides[:-1], -1), shape[-1] - 1
    flat = np.zeros(max(count, 1), given.dtype.np)
    item = flat.itemsize
    np.ndarray(shape, flat.dtype, flat, offset * item, [s * item for s in strides])[...] = a
    t = NUMPY.from_array(flat, given.dtype)
    if layout == "contiguous" and shape == flat.shape:
        return t
    # of its own, as if there were no other tensor over that memory
    array = NUMPY.strided(t._storage.flat, Meta(shape, given.dtype, strides, offset))
    return Tensor._made(NUMPY, t._storage, Size(shape), strides, offset, given.dtype, array)


def _json(v: Any) -> Any:
    if isinstance(v, DType):
        return v.name
    if isinstance(v, complex):
        re, im = static_float(v.real), static_float(v.imag)
        return Complex(re, im)
    if isinstance(v, (bool, np.bool_)):
        return bool(v)
    if isinstance(v, (int, np.integer)):
        return int(v)
    if isinstance(v, (float, np.floating)):
        return static_float(float(v))
    if isinstance(v, (list, tuple)):
        return [_json(e) for e in v]
    if v is None or isinstance(v, (str, Special)):
        return v
    raise TypeError(f"JSON cannot say {v!r}")


@dataclass
class Result:
    """What came of one run: arrays and geometry of outputs, or a problem and what was raised."""

    outputs: list[Any]
    problem: Any = None
    error: BaseException | None = None

    def told(self) -> Any:
        """For comparison, to the bit."""
        if self.problem is not None:
            return self.problem.exception, self.problem.detail
        return [
            None if o is None else (o.dtype.name, tuple(o.shape), tuple(o.strides), _bits(o))
            for o in self.outputs
        ]


def _bits(t: Tensor) -> bytes:
    a = t.array
    if a.size > _FEW:  # a few bytes may be expanded without end
        a = a[tuple(slice(2) for _ in a.shape)]
    a = np.array(a, order="C")
    if a.dtype.kind in "fc" or a.dtype.name == "bfloat16":
        nan = np.isnan(a)
        if nan.any():
            a[nan] = np.nan  # which NaN it is, no law says
    return a.tobytes()


class Trial:
    """Two sessions, one of which must never notice the other."""

    def __init__(self, counts: dict[str, int] | None = None) -> None:
        self.counts = counts or {"cases": 0, "refused": 0, "computed": 0, "planned": 0}
        self._raised: list[BaseException] = []
        real: Callable[..., Any] = executor.op_failed

        def noted(error: BaseException, step: int, applied: int) -> Any:
            self._raised.append(error)
            return real(error, step, applied)

        executor.op_failed = noted
        admission.op_failed = noted
        self.session = Session("hostile", limit=QUOTA)
        self.peer = Peer(self.session)
        self.other = Session("other")
        self.witness = Peer(self.other)
        for n, size in enumerate((1, 2, 8, 64, 512, 4096)):
            self.witness.put(f"canary{n}", np.full(size, CANARY, np.uint64).view(np.float64))
        self.peer.put("known", np.arange(4, dtype=np.float32))
        self.peer.put("written", np.zeros(3, np.float32))
        self._after_write = False

    # -- a case ------------------------------------------------------------------------------------

    def run(self, call: Call, mild: Call, after_write: bool = False) -> str:
        """Try `call`, and the plan that `mild`, a call of the same geometry, makes; Fault where something
        does not hold. What came of it: refused, computed or planned. `after_write`: the program writes to
        another tensor first, so that its plan must not fail any more.
        """
        self._after_write = after_write
        self.counts["cases"] += 1
        with guards.guarded(), guards.guarded_in(_quiet):
            found = self._run(call, mild)
        self.counts[found] += 1
        if found == "planned":
            self.counts["computed"] += 1
        return found

    def _run(self, call: Call, mild: Call) -> str:
        plans = self.session.plans
        plans.enabled = False
        guards.turn(0)
        eager = self._checked(call)
        plans.enabled = True
        if eager.problem is not None and eager.problem.slug != "op-failed":
            self._after()
            return "refused"
        for _ in range(2):
            self._send(mild)
        before = plans.counts["planned"]
        guards.turn(1)
        third = self._checked(call)
        planned = plans.counts["planned"] > before
        if eager.told() != third.told() and REGISTRY[call.op].name not in UNDEFINED:
            raise Fault(f"the third run is not the first: {_short(eager)} and then {_short(third)}")
        self._after()
        return "refused" if eager.problem is not None else "planned" if planned else "computed"

    def _checked(self, call: Call) -> Result:
        given = [laid_out(g) for g in tensors(call.inputs)]
        for g, at in zip(tensors(call.inputs), range(len(given)), strict=True):
            if g.same_as is not None and g.same_as < at:
                given[at] = given[g.same_as]
        before = [_Before(t) for t in given]
        found = self._send(call, given)
        self._look(call, found, before)
        return found

    def _send(self, call: Call, given: list[Tensor] | None = None) -> Result:
        if given is None:
            given = [laid_out(g) for g in tensors(call.inputs)]
        table = self.session.table
        for n, t in enumerate(given):
            table.bind(f"i{n}", t)
        slot = iter(range(len(given)))
        values: list[Any] = []
        step = Step(
            call.op,
            [_argument(x, slot, values) for x in call.inputs],
            _attributes(call, values),
            call.outputs,
        )
        inputs, steps, first = [f"i{n}" for n in range(len(given))], [step], len(given)
        if self._after_write:
            inputs.append("written")
            steps.insert(0, Step("add_", [first, Value("float")], {"alpha": 1}))
            values.insert(0, 1.0)
            first += 2
        binds = {f"o{k}": first + k for k in range(call.outputs)}
        self.session.generator.step = _FIRST_DRAW
        self._raised.clear()
        reply = self.peer.batch(*steps, inputs=inputs, values=values, bind=binds)
        outputs = [_found(table, f"o{k}") for k in range(call.outputs)]
        for name in (*binds, *(f"i{n}" for n in range(len(given)))):
            table.drop(name)
        if isinstance(reply, m.ProblemReply):
            raise Fault(f"the session refused the frame: {reply.problem.slug}: {reply.problem.detail}")
        return Result(outputs, reply.problem, self._raised[-1] if self._raised else None)

    # -- what must hold ----------------------------------------------------------------------------

    def _look(self, call: Call, found: Result, before: list[_Before]) -> None:
        broken = guards.broken()
        if broken:
            raise Fault(broken)
        p = found.problem
        if p is not None:
            if p.slug not in SLUGS:
                raise Fault(f"problem {p.slug}: {p.detail}")
            if p.exception is not None and p.exception not in CLASSES:
                raise Fault(f"{p.exception} is no class of PyTorch's: {p.detail}")
            if found.error is not None and _left_its_arrays(found.error):
                raise Fault(f"a compiled kernel left its arrays: {found.error}")
            if found.error is not None and not stated(found.error):
                raise Fault(f"not stated: {_where(found.error)}")
            for b in before:
                b.same()
            return
        op = REGISTRY[call.op]
        written = op.written if op.base is None else (True, *op.written[1:])
        flat = [yes for x, yes in zip(call.inputs, written, strict=True) for _ in tensors([x])]
        if call.attrs.get("inplace") is True:
            flat[0] = True
        targets = [b._storage for b, yes in zip(before, flat, strict=True) if yes]
        for b in before:
            b.unwritten(targets) if b._storage in targets else b.same(version=False)
        for t in found.outputs:
            if t is not None:
                _truthful(t)

    def _after(self) -> None:
        for n in range(6):
            a = self.other.table.find(f"canary{n}").array
            if not (a.view(np.uint64) == CANARY).all():
                a.view(np.uint64)[...] = CANARY
                raise Fault("a tensor of another session changed")
        reply = self.peer.batch(Step("add", [0, 0], {"alpha": 1}), inputs=["known"], fetch=[1])
        if getattr(reply, "problem", reply) is not None or self.peer.arrays[0].tolist() != [0, 2, 4, 6]:
            raise Fault("the session does not compute as before")


class _Before:
    """A tensor as it was."""

    def __init__(self, t: Tensor) -> None:
        self.tensor = t
        storage = t._storage
        assert storage is not None
        self._storage: Storage = storage
        self.bytes = storage.flat.tobytes()
        self.state = (t.shape, t.strides, t.offset, t.dtype, t._vc.n, t._fn, t._requires_grad, t._grad)

    def same(self, version: bool = True) -> None:
        t = self.tensor
        if self._storage.flat.tobytes() != self.bytes:
            raise Fault("an input changed")
        now = (t.shape, t.strides, t.offset, t.dtype, t._vc.n, t._fn, t._requires_grad, t._grad)
        if version and now != self.state:
            raise Fault(f"a refused call changed an input: {self.state} is now {now}")

    def unwritten(self, targets: list[Storage]) -> None:
        """What is not under the tensor itself stays, where it is the only one over that memory."""
        t = self.tensor
        if t._storage is not self._storage or targets.count(self._storage) > 1:
            return
        touched = np.zeros(len(self.bytes), bool)
        item = self.state[3].itemsize
        if numel(self.state[0]):
            places = np.zeros(self.state[0], np.int64) + self.state[2]
            for d, (n, s) in enumerate(zip(self.state[0], self.state[1], strict=True)):
                places += (np.arange(n) * s).reshape([-1 if k == d else 1 for k in range(places.ndim)])
            for k in range(item):
                touched[places.reshape(-1) * item + k] = True
        now = np.frombuffer(self._storage.flat.tobytes(), np.uint8)
        if (now != np.frombuffer(self.bytes, np.uint8))[~touched].any():
            raise Fault("memory beside a written tensor changed")


#: what is in new memory is not defined, but nobody else's either
UNDEFINED: set[str] = set()


def _truthful(t: Tensor) -> None:
    """The array is what the tensor says, inside its storage."""
    a = t.array
    if tuple(a.shape) != tuple(t.shape) or a.dtype != t.dtype.np:
        raise Fault(f"a result of {t.shape} {t.dtype} is an array of {a.shape} {a.dtype}")
    if not a.size:
        return
    item = a.dtype.itemsize
    for n, s, got in zip(t.shape, t.strides, a.strides, strict=True):
        if n > 1 and s * item != got:
            raise Fault(f"a result says strides {t.strides}, its array has {a.strides} bytes")
    assert t._storage is not None
    low, high = np.lib.array_utils.byte_bounds(a)
    first, last = np.lib.array_utils.byte_bounds(t._storage.flat)
    if low < first or high > last:
        raise Fault("a result reaches outside its storage")
    if a.dtype == bool and a.size <= _FEW and (np.ascontiguousarray(a).view(np.uint8) > 1).any():
        raise Fault("a bool is neither True nor False")


def stated(error: BaseException) -> bool:
    """Whether an exception was raised by a statement of ours, not by what Python or NumPy ran into."""
    if isinstance(error, (OutOfQuota, MemoryError)):
        return True
    tb = error.__traceback__
    if tb is None:
        return False
    while tb.tb_next is not None:
        tb = tb.tb_next
    code = tb.tb_frame.f_code
    at = code.co_code[tb.tb_lasti]
    return code.co_filename.startswith(_OURS) and dis.opname[at] == "RAISE_VARARGS"


def _left_its_arrays(error: BaseException) -> bool:
    """Whether a kernel that was compiled with checks of every index found one outside."""
    cause = error.__cause__ or error
    return _BOUNDS and type(cause) is IndexError and str(cause) == "index is out of bounds"


def _where(error: BaseException) -> str:
    tb, ours = error.__traceback__, "?"
    while tb is not None:
        code = tb.tb_frame.f_code
        if code.co_filename.startswith(_OURS):
            ours = f"{Path(code.co_filename).name}:{tb.tb_lineno} {code.co_name}"
        tb = tb.tb_next
    return f"{type(error).__name__} at {ours}: {error}"


def _found(table: TensorTable, name: str) -> Tensor | None:
    try:
        return table.find(name)
    except ProtocolError:
        return None


def _short(found: Result) -> str:
    if found.problem is not None:
        return f"{found.problem.exception}: {found.problem.detail[:120]}"
    return repr(
        [
            None if o is None else (tuple(o.shape), np.asarray(o.array).reshape(-1)[:6].tolist())
            for o in found.outputs
        ]
    )[:300]


def _argument(x: Any, slot: Iterator[int], values: list[Any]) -> Any:
    if isinstance(x, Given):
        return next(slot)
    if isinstance(x, (list, tuple)):
        return [_argument(e, slot, values) for e in x]
    if x is None:
        return None
    values.append(encode_scalar(x))
    return Value(kind_of(x))


def _attributes(call: Call, values: list[Any]) -> dict[str, Any]:
    op = REGISTRY[call.op]
    found: dict[str, Any] = {}
    for name in sorted(call.attrs):
        v = call.attrs[name]
        p = op.params.get(name)
        if p is not None and p.value and isinstance(v, (bool, int, float, complex)):
            values.append(encode_scalar(v))
            found[name] = Value(kind_of(v))
        else:
            found[name] = _json(v)
    return found
