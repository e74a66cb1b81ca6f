"""Conjugates that are views: a flag on the tensor says that its memory holds the conjugates of its values.

Every op but a view meets its inputs through `resolved`, just before its kernel, so no kernel, plan or message
knows of the flag; nodes and saved tensors keep the views. Behaviour after
https://pytorch.org/docs/stable/generated/torch.conj.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data import Meta, preserved_strides
from ..schema import REGISTRY
from ..tensor import Tensor, detached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..schema import Op
    from ..tensor import Backend


def flagged(inputs: Sequence[Any]) -> bool:
    """Whether a tensor among (nested) inputs is a conjugate view."""
    for x in inputs:
        if isinstance(x, Tensor):
            if x._conj:
                return True
        elif (x.__class__ is list or x.__class__ is tuple) and flagged(x):
            return True
    return False


def raw(t: Tensor) -> Tensor:
    """An alias whose values are what the memory holds."""
    out = detached(t)
    out._conj = False
    return out


def physical(t: Tensor) -> Tensor:
    """A tensor whose memory holds the values of `t`, without history."""
    if not t._conj:
        return t
    meta = Meta(tuple(t.shape), t.dtype, preserved_strides(t))
    return t.backend.run(REGISTRY["conj_physical"], (meta,), (raw(t),), {})[0]


def resolved(inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The inputs with every conjugate view computed."""
    return tuple(_resolved(x) for x in inputs)


def _resolved(x: Any) -> Any:
    if isinstance(x, Tensor):
        return physical(x)
    if x.__class__ is list or x.__class__ is tuple:
        return [_resolved(e) for e in x]
    return x


def mark(op: Op, source: Tensor, outs: Sequence[Tensor]) -> None:
    """Set the conjugate flag of the views that `op` made of `source`."""
    if source._conj is not (op.conjugates and source.dtype.is_complex):
        for o in outs:
            o._conj = o.dtype.is_complex


def store(backend: Backend, op: Op, target: Tensor, meta: Meta, inputs: Any, attrs: dict[str, Any]) -> None:
    """`Backend.run_into` where the target is a conjugate view: what is stored is the conjugate."""
    (found,) = backend.run(op, (meta,), resolved(inputs), attrs)
    backend.run_into(REGISTRY["conj_physical"], raw(target), meta, (found,), {})
