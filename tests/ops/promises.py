"""Every op that promises not to raise, called with what its domain leaves out: what a promise is worth."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from gradd_engine.backends.array import NUMPY
from gradd_engine.backward import backward_op
from gradd_engine.data import Account, dtypes
from gradd_engine.data.layout import Meta
from gradd_engine.data.rng import RandomStream
from gradd_engine.data.state import ambient
from gradd_engine.declare.declarators import REGISTRY
from gradd_engine.schema.op import Op
from gradd_engine.tensor.tensor import Tensor
from gradd_engine.tracing import Guards, TraceBackend
from gradd_runtime.plan.lower import Lowering
from gradd_runtime.plan.registers import Registers

from tests.ops.table import arrays, lookup, ours, samples, specs, swap

#: calls of one op that are tried, of different parameters and geometries
ERR = []
CALLS = 2
DTYPES = (
    "float32", "float64", "float16", "bfloat16", "complex64", "complex128", "int8", "uint8", "int32", "int64",
    "bool",
)  # fmt: skip
Call = tuple[tuple[Any, ...], dict[str, Any]]

ERRORS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)
NAN, INF = float("nan"), float("inf")
#: what tensors are filled with, one after the other
FILLS: dict[str, tuple[float, ...]] = {
    "zeros": (0.0,),
    "negative": (-1.0, -2.5),
    "nan": (NAN,),
    "infinite": (INF, -INF),
    "huge": (1e300, -1e300, 3e38),
    "tiny": (5e-324, -1e-40),
    "mixed": (NAN, 0.0, -1.0, INF, 1e30, -0.0, 2.0),
    "places": (-300000.0, 1e9, 7.0),
}
#: and what numbers are replaced with, by class
NUMBERS: dict[type, tuple[Any, ...]] = {
    float: (0.0, -1.5, NAN, INF, 1e300),
    int: (0, -1, 7, 2**31, -(2**62)),
    complex: (0j, complex(NAN, INF)),
}


def calls() -> dict[Op, list[Call]]:
    """What the samples ask of each kernel, forward and backward."""
    found: dict[Op, dict[Any, Call]] = defaultdict(dict)

    def see(op: Op, inputs: Any, attrs: Any) -> None:
        key = repr([_geometry(x) for x in inputs]), repr(attrs)
        if len(found[op]) < CALLS:
            found[op].setdefault(key, (tuple(_copy(x) for x in inputs), dict(attrs)))

    with seen(see), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for key, some in samples().items():
            for n, sample in enumerate(some):
                _run(key, n, sample)
        _by_hand()
    return {op: list(each.values()) for op, each in found.items()}


class seen:
    """While it is entered, `see(op, inputs, attrs)` is told of each kernel that runs."""

    def __init__(self, see: Callable[[Op, Any, Any], None]) -> None:
        self.see = see

    def __enter__(self) -> None:
        see = self.see
        kind = type(NUMPY)
        run, plain, into = kind.run, kind.run_plain, kind.run_into

        def told_run(self: Any, op: Any, metas: Any, inputs: Any, attrs: Any) -> Any:
            see(op, inputs, attrs)
            return run(self, op, metas, inputs, attrs)

        def told_plain(self: Any, op: Any, known: Any, inputs: Any, attrs: Any) -> Any:
            see(op, inputs, attrs)
            return plain(self, op, known, inputs, attrs)

        def told_into(self: Any, op: Any, target: Any, meta: Any, inputs: Any, attrs: Any) -> None:
            see(op, inputs, attrs)
            into(self, op, target, meta, inputs, attrs)

        self._before = {"run": run, "run_plain": plain, "run_into": into, "eager": kind.eager}
        kind.eager = False  # functions of an op and geometry call kernels themselves
        for name, fn in (("run", told_run), ("run_plain", told_plain), ("run_into", told_into)):
            setattr(kind, name, fn)

    def __exit__(self, *exc: object) -> None:
        for name, fn in self._before.items():
            setattr(type(NUMPY), name, fn)


def _run(key: str, n: int, sample: Any) -> None:
    grads = iter([s.grad for s in specs((sample.args, sample.attrs))])
    tensors = iter([ours(a, grad=next(grads)) for a in arrays(key, n, sample)])
    args, attrs = swap((sample.args, sample.attrs), tensors)
    try:
        with ambient(backend=NUMPY):
            found = (sample.fn or lookup(key))(*args, **attrs)
            for o in found if isinstance(found, (list, tuple)) else [found]:
                if isinstance(o, Tensor) and o.requires_grad:
                    backward_op.backward([(o.abs() if o.dtype.is_complex else o).sum()], retain_graph=True)
    except ERRORS:
        pass  # a sample of an error; the kernels that ran are what is wanted


def _by_hand() -> None:
    """Kernels that no sample comes to."""

    def some(n: int = 1) -> list[Tensor]:
        return [NUMPY.from_array(np.full(3, 0.5, np.float32)) for _ in range(n)]

    def step() -> list[Tensor]:
        return [NUMPY.from_array(np.array(1.0, np.float32))]

    mean = [NUMPY.from_array(np.full(1, 0.5, np.float32))]
    moments = {"lr": 0.1, "eps": 1e-8, "weight_decay": 0.1, "maximize": False}
    adam = {**moments, "beta1": 0.9, "beta2": 0.99, "decoupled": True}
    rms = {"normalized_shape": [3], "eps": 1e-5}
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("native_rms_norm", (*some(2),), rms),
        ("native_rms_norm_backward", (*some(2), *mean, *some()), {**rms, "wanted": [True, True]}),
        ("straight", (some()[0], some()[0]), {}),
        ("standardized", (*some(), *mean, *mean), {"dims": [0], "eps": 1e-5}),
        ("standardize_backward", (*some(2), *mean, *mean), {"dims": [0], "eps": 1e-5}),
        ("sgd_step", (some(), some(), some()), {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
        ("adam_step", (some(), some(), some(), some(), step()), adam),
        ("rmsprop_step", (some(), some(), some(), step(), some(), some()), {**moments, "alpha": 0.9}),
        ("adagrad_step", (some(), some(), some(), step()), {**moments, "lr_decay": 0.1}),
        ("nadam_step", (some(), some(), some(), some(), step(), step()), adam),
        ("radam_step", (some(), some(), some(), some(), step()), adam),
        ("adamax_step", (some(), some(), some(), some(), step()), adam),
        ("adadelta_step", (some(), some(), some(), some(), step()), moments),
        ("rprop_step", (some(), some(), some(), some(), step()), {}),
        ("asgd_step", (some(), some(), some(), step(), step(), step()), moments),
        ("unscale_gradients", (some(), step()[0]), {}),
        (
            "adjust_scale",
            (step()[0], NUMPY.from_array(np.array(1, np.int32)), step()[0]),
            {"growth": 2.0, "backoff": 0.5, "interval": 3},
        ),
    ]
    with ambient(backend=NUMPY, grad=False):
        for name, inputs, attrs in calls:
            op = REGISTRY[name]
            known = {n: v for n, v in attrs.items() if n in op.params}
            op.call(*inputs, **known)


def _geometry(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_geometry(e) for e in x]
    return (tuple(x.shape), x.strides, x.dtype.name) if isinstance(x, Tensor) else type(x)


def _copy(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_copy(e) for e in x]
    return (tuple(x.shape), x.dtype) if isinstance(x, Tensor) else x


def variants(op: Op, call: Call) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """The call with tensors of other dtypes and values, and with other numbers; what it is, in words."""
    inputs, attrs = call
    for fill, values in FILLS.items():
        yield f"{fill}", _filled(inputs, None, values), attrs
        for dtype in DTYPES:
            yield f"{fill} {dtype}", _filled(inputs, dtypes.by_name(dtype), values), attrs
    for name, v in attrs.items():
        # What else is an int is structure, which `infer` judges.
        late = op.params[name].value or isinstance(v, float)
        for other in NUMBERS.get(type(v), ()) if late else ():
            yield f"{name}={other}", _filled(inputs, None, FILLS["mixed"]), {**attrs, name: other}
    for at, x in enumerate(inputs):
        for other in NUMBERS.get(type(x), ()):
            for dtype in DTYPES:
                given = list(_filled(inputs, dtypes.by_name(dtype), FILLS["mixed"]))
                given[at] = other
                yield f"{at}: {other} {dtype}", tuple(given), attrs


def _filled(x: Any, dtype: Any, values: tuple[float, ...]) -> Any:
    if isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], tuple) and isinstance(x[1], dtypes.DType):
        return _tensor(x[0], dtype or x[1], values)
    if isinstance(x, (list, tuple)):
        return type(x)(_filled(e, dtype, values) for e in x)
    return x


def _tensor(shape: tuple[int, ...], dtype: Any, values: tuple[float, ...]) -> Tensor:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a = np.resize(np.array(values), shape).astype(dtype.np)
    return NUMPY.from_array(a)


def broken(op: Op, call: Call) -> Iterator[str]:
    """The ways in which `op` breaks its promise: what was given, what it raised."""
    for what, inputs, attrs in variants(op, call):
        with ambient(backend=NUMPY), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                metas = NUMPY.infer(op, inputs, attrs)
            except (*ERRORS, ArithmeticError):  # geometry and dtypes are refused before a plan is made
                continue
            metas = metas if op.many else (metas,)
            floats = all((m.compute or m.dtype).is_floating_point for m in metas)
            if op.effects.raises == "not of floats" and not floats:
                continue
            if sum(_size(m) for m in metas) > 1 << 20:
                continue
            for run in (NUMPY.run, planned):
                try:
                    run(op, metas, inputs, attrs)
                except Exception as error:
                    yield f"{op.name} {what}: {type(error).__name__}: {str(error)[:80]}"


def planned(op: Op, metas: Any, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> None:
    """Run a kernel as a plan does."""
    recorder = TraceBackend(NUMPY.device, Guards())
    reals: list[Tensor] = []

    def traced(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [traced(e) for e in x]
        if not isinstance(x, Tensor):
            return x
        reals.append(x)
        meta = Meta(tuple(x.shape), x.dtype, x.strides)
        return recorder.tensor(recorder.block(meta, source=len(reals) - 1), meta)

    given = tuple(traced(x) for x in inputs)
    recorder.run(op, metas, given, attrs)
    flat = [t for x in given for t in (x if isinstance(x, list) else [x]) if isinstance(t, Tensor)]
    lowering = Lowering(NUMPY, {}, flat, set())
    for i in recorder.code:
        lowering.lower(i)
    frame = Registers(lowering.template.copy(), [], iter(()), RandomStream(0), Account(1 << 40))
    for register, i in lowering.loads:
        frame.arrays[register] = reals[i].array
    for number, i in lowering.sources.items():
        storage: Any = reals[i]._storage
        frame.flats[number], frame.begins[number] = storage.flat, reals[i].offset
    for call in lowering.schedule(set()):
        call.run(frame)


def _size(meta: Meta) -> int:
    n = 1
    for s in meta.shape:
        n *= s
    return n


def promising() -> list[Op]:
    """The ops with a kernel of their own that promise not to raise."""
    return [
        op
        for op in REGISTRY.values()
        if op.effects.raises is not True and op.base is None and op.infer and not op.view
    ]
