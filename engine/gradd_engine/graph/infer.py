"""What `infer` says, remembered.

It is a function of the geometry of tensors, the kinds of numbers in their places and the other parameters
(and of the default dtype), so each op works out each combination once. The `Meta`s are shared: nobody changes
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data import FLOAT, DType, Meta, Size, numel, state
from ..schema import InferCache, check_attrs
from ..tensor import Tensor, TensorMeta
from .cost import spread
from .misfit import misfit, stated

if TYPE_CHECKING:
    from ..schema import Op

#: an op that has seen more combinations than this begins anew
_MOST = 512
#: parameters that are compared by value; their class counts too, since 1 == 1.0 == True
PLAIN = frozenset({type(None), bool, int, float, complex, str, DType})
#: most dimensions and bytes of an array
DIMS, _BYTES = 64, (1 << 63) - 1
#: lists of such parameters that are compared by value as well
LISTS = frozenset({list, tuple, Size})


def _known(op: Op, meta: Meta, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> InferCache:
    """Work out what is remembered of such a call."""
    found = InferCache()
    found.meta = meta
    found.tracks = bool(op.rules) and meta.dtype.category >= FLOAT
    found.takes = () if op.view else tuple(_take(x, meta.compute) for x in inputs)
    found.shape = tuple(meta.shape)
    found.dtype = meta.dtype.np
    found.nbytes = meta.nbytes
    found.contiguous = meta.contiguous
    found.line = meta.contiguous and len(found.shape) < 2
    found.asks = op.random or op.needs_meta
    #: an input may be a conjugate view
    found.complex = any(isinstance(x, Tensor) and x.dtype.is_complex for x in inputs)
    found.params, found.label = overload(op, inputs)
    places = [op.slot_of[name] for name in found.params]
    found.apart = op.zero_gradient_when is not None and op.zero_gradient_when(attrs)
    wanted = [_differentiable(inputs[at]) and not found.apart for at in places]
    found.slots = tuple((nr, at) for nr, at in enumerate(places) if wanted[nr])
    found.others = len(found.slots) < sum(isinstance(x, Tensor) for x in inputs)
    found.inputs = tuple(
        _geometry(inputs[at], op.view) if want else None for at, want in zip(places, wanted, strict=True)
    )
    found.recipes, found.swift = {}, None
    return found


def overload(op: Op, inputs: tuple[Any, ...]) -> tuple[tuple[str, ...], str]:
    """The parameters with an edge slot and the node's name, where a number in a tensor's place decides it."""
    params, label = op.edge_params, ""
    given = dict(zip(op.tensor_slots, inputs, strict=True))
    for name, other in op.number_nodes.items():
        if given[name] is not None and not isinstance(given[name], Tensor):
            label = other
            params = tuple(n for n in params if isinstance(given[n], Tensor))
    return params, label


def _differentiable(x: Any) -> bool:
    return isinstance(x, Tensor) and x.dtype.differentiable


def _geometry(t: Tensor, placed: bool) -> TensorMeta:
    found = TensorMeta(t)
    found.conj = False
    if not placed:
        found.offset = 0
    return found


def _take(x: Any, compute: DType | None) -> Any:
    if isinstance(x, Tensor):
        return None if compute in (None, x.dtype) and not x.dtype.is_half else False
    if compute is None or compute.is_half:
        return False
    return compute.np.type if compute.category >= FLOAT and x is not None else False


def learn(op: Op, key: tuple[Any, ...], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> InferCache | None:
    """Work out what a plain op or view makes of such inputs and remember it under `key`; None where something
    stands among them that needs a closer look, and where they are about to be cast.
    """
    if state.casting is not None:
        return None
    found = _window(op, inputs, attrs) if op.effects.window else None
    if found is None:
        for x, classes in zip(inputs, op.accepts, strict=True):
            if not isinstance(x, Tensor) and x.__class__ not in classes:
                return None
        if not state.depth:
            check_attrs(op.schema, attrs)
        found = _known(op, _sized(_inferred(op, inputs, attrs)), inputs, attrs)
        if op.effects.window:
            if len(op.caches.windows) >= _MOST:
                op.caches.windows.clear()
            op.caches.windows[_lengths(op, inputs, attrs)] = found
    if len(op.caches.known) >= _MOST:
        op.caches.known.clear()
    op.caches.known[key] = found
    return found


def _lengths(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
    """What decides all of a window but where it begins."""
    (x,) = inputs
    params = op.params
    parts = [x._dtype, x._shape, x.strides]
    for name, v in attrs.items():
        parts += (v.__class__, None if params[name].value else v)
    return tuple(parts)


def _window(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> InferCache | None:
    """What is known of a window that differs from one that is known only in where it begins. None if there is
    none, or it begins where it cannot.
    """
    like = op.caches.windows.get(_lengths(op, inputs, attrs))
    if like is None:
        return None
    assert op.infer is not None
    try:
        meta = op.infer(*inputs, **attrs)
    except Exception:
        return None  # which says what is wrong
    meta.shape = like.meta.shape
    found = like.beside(meta)
    if found.inputs != (None,):
        found.inputs = (_geometry(inputs[0], True),)
    return found


def _sized(meta: Meta) -> Meta:
    meta.shape = Size(meta.shape)
    return meta


def _check_size(meta: Meta) -> None:
    """RuntimeError where no memory could have that shape."""
    shape = meta.shape
    if shape and min(shape) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    if meta.strides and max(meta.strides) * meta.dtype.itemsize > _BYTES:
        raise RuntimeError(f"Stride calculation overflowed with strides={list(meta.strides)}")
    # what has no elements may still be of any size in its other dimensions
    if len(shape) > DIMS or numel([n for n in shape if n]) * meta.dtype.itemsize > _BYTES:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")


def _inferred(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    assert op.infer is not None
    try:
        found = op.infer(*inputs, **attrs)
        for meta in found if op.many else (found,):
            _check_size(meta)
            if not op.view:
                if meta.strides and min(meta.strides) < 0:
                    raise RuntimeError(f"{op.name}(): negative strides are not supported")
                meta.room = meta.room or spread(inputs)
        return found
    except Exception as error:
        if stated(error):
            raise
        raise misfit(op, inputs, attrs) from error


def infer(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """``op.infer(*inputs, **attrs)``: a Meta, or a list of them where the op has many outputs."""
    known = op.caches.inferred
    if known is None:
        return _inferred(op, inputs, attrs)
    parts: list[Any] = [state.dtype]
    for x in inputs:
        if isinstance(x, Tensor):
            parts += (x._dtype, x._shape, x.strides)
        else:
            parts.append(x.__class__)
    if op.view:
        offset = inputs[0].offset
        if offset.__class__ is not int:
            # A plan's tracer marks offsets that change from run to run: what is remembered must be numbers.
            return _inferred(op, inputs, attrs)
        parts.append(offset)
    for v in attrs.values():
        kind = v.__class__
        if kind in PLAIN:
            parts += (kind, v)
        elif kind in LISTS and PLAIN.issuperset(kinds := tuple(map(type, v))):
            parts += (kinds, tuple(v))
        else:
            return _inferred(op, inputs, attrs)
    key = tuple(parts)
    found = known.get(key)
    if found is None:
        found = _inferred(op, inputs, attrs)
        for meta in found if op.many else (found,):
            _sized(meta)
        if len(known) >= _MOST:
            known.clear()
        known[key] = found
    return found
