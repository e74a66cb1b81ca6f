"""Calls that every op takes: what the samples of the op table run, the ops inside them included."""

from __future__ import annotations

import contextlib
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from gradd_engine.backends.array import NUMPY
from gradd_engine.backward.grad_op import grad_op
from gradd_engine.data.dtypes import DType
from gradd_engine.data.rng import RandomStream
from gradd_engine.data.state import ambient
from gradd_engine.declare.declarators import REGISTRY
from gradd_engine.schema.op import Op
from gradd_engine.tensor.tensor import Tensor

from tests.ops import table

#: calls of one op that are kept, each of another geometry
KEPT = 6
#: elements of a tensor that is kept: a call with larger ones only costs time
LARGE = 4096


@dataclass(frozen=True)
class Given:
    """A tensor argument: values, and how they lie in memory (`trial.laid_out`)."""

    values: Any
    dtype: DType
    layout: str = "contiguous"
    #: the argument, by its place among all tensors of the call, whose memory it is
    same_as: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    def with_values(self, values: Any) -> Given:
        """Other values, in the same dtype."""
        with np.errstate(all="ignore"):
            return replace(self, values=np.asarray(values).astype(self.dtype.np))

    def __repr__(self) -> str:
        shown = np.array2string(self.values.reshape(-1)[:8], threshold=8, separator=",").replace("\n", "")
        also = f", same as {self.same_as}" if self.same_as is not None else ""
        return f"T({self.dtype.name}{list(self.shape)} {self.layout}{also} {shown})"


@dataclass(frozen=True)
class Call:
    """Inputs in the order of the op's tensor parameters (None, numbers, lists of those), and attributes."""

    op: str
    inputs: tuple[Any, ...]
    attrs: dict[str, Any] = field(hash=False)
    outputs: int = 1

    def __repr__(self) -> str:
        attrs = ", ".join(f"{k}={v!r}" for k, v in self.attrs.items())
        return f"{self.op}({', '.join(map(repr, self.inputs))}; {attrs})"


def tensors(inputs: Any) -> Iterator[Given]:
    """The tensors in (nested) inputs, in order."""
    for x in inputs:
        if isinstance(x, Given):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from tensors(x)


def _copied(x: Any) -> Any:
    if isinstance(x, Tensor):
        if x.numel() > LARGE or x.array is None:
            raise _NotKeptError
        return Given(NUMPY.to_numpy(x), x.dtype)
    if isinstance(x, (list, tuple)):
        return [_copied(e) for e in x]
    return x


class _NotKeptError(Exception):
    pass


def _geometry(x: Any) -> Any:
    if isinstance(x, Given):
        return x.dtype.name, x.shape
    return tuple(map(_geometry, x)) if isinstance(x, list) else repr(x)


class _Catcher:
    def __init__(self) -> None:
        self.calls: dict[str, list[Call]] = defaultdict(list)
        self._seen: set[Any] = set()
        self._forms: dict[str, int] = defaultdict(int)

    def wrap(self, op: Op, fn: Callable[..., Any]) -> Callable[..., Any]:
        def caught(*inputs: Any, **attrs: Any) -> Any:
            found = fn(*inputs, **attrs)
            if all(t.backend is NUMPY for t in _flat(inputs)):
                with contextlib.suppress(_NotKeptError):
                    self._keep(op, inputs, attrs, found)
            return found

        return caught

    def _keep(self, op: Op, inputs: Any, attrs: Any, found: Any) -> None:
        if len(self.calls[op.name]) >= KEPT:
            return
        outputs = len(found) if isinstance(found, (list, tuple)) else 0 if found is None else 1
        call = Call(op.name, tuple(_copied(x) for x in inputs), dict(attrs), outputs)
        key = (op.name, tuple(map(_geometry, call.inputs)), repr(attrs))
        if key not in self._seen:
            self._seen.add(key)
            self.calls[op.name].append(call)


def _flat(x: Any) -> Iterator[Tensor]:
    if isinstance(x, Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for e in x:
            yield from _flat(e)


@contextlib.contextmanager
def _caught() -> Iterator[_Catcher]:
    catcher = _Catcher()
    before = {}
    for op in REGISTRY.values():
        before[op] = op.infer, op.composite
        op.caches.known.clear()
        if op.caches.inferred is not None:
            op.caches.inferred.clear()
        if op.infer is not None:
            op.infer = catcher.wrap(op, op.infer)
        elif op.composite is not None:
            op.composite = catcher.wrap(op, op.composite)
    try:
        yield catcher
    finally:
        for op, (infer, composite) in before.items():
            op.infer, op.composite = infer, composite


def valid_calls() -> dict[str, list[Call]]:
    """By op: calls that it takes. In-place forms have those of their op, and what is in no sample is in
    `by_hand`.
    """
    with _caught() as catcher, ambient(generator=RandomStream(0), backend=NUMPY), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key, some in table.samples().items():
            for number, sample in enumerate(some):
                with contextlib.suppress(Exception):
                    _run(key, number, sample)
    from .by_hand import calls

    found = catcher.calls
    for call in calls():
        found[call.op].append(call)
    for name, op in REGISTRY.items():
        if op.base is not None and not found[name]:
            found[name] = [replace(c, op=name, outputs=1) for c in found[op.base.name]]
    return dict(found)


def _run(key: str, number: int, sample: table.Sample) -> None:
    given = iter(
        table.ours(a, grad=s.grad)
        for a, s in zip(
            table.arrays(key, number, sample), table.specs((sample.args, sample.attrs)), strict=True
        )
    )
    leaves: list[Tensor] = []

    def take() -> Iterator[Any]:
        for t in given:
            leaves.append(t)
            yield t

    values = take()
    args = table.swap(list(sample.args), values)
    out = (sample.fn or table.lookup(key))(*args, **table.swap(sample.attrs, values))
    roots = [t for t in _flat(table.flat(out)) if t.requires_grad]
    wanted = [t for t in leaves if t.requires_grad]
    for _ in range(2):
        if not roots or not wanted or not sample.first:
            return
        grads = grad_op(
            roots, wanted, [t.detach() * 0 + 1 for t in roots], create_graph=True, allow_unused=True
        )
        roots = [g for g in grads if g is not None and g.requires_grad]
