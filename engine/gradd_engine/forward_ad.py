"""Forward mode: tangents carried beside values, by rules that ops declare.

Source: https://pytorch.org/docs/stable/autograd.html#forward-mode-automatic-differentiation
"""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .fitting import cast_gradient, conj
from .registry import named
from .schema import BILINEAR, ELEMENTWISE, LINEAR
from .state import ambient, state
from .tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .op import Op


@contextmanager
def dual_level() -> Iterator[None]:
    """A level in which dual tensors live; RuntimeError when nested."""
    if state.level >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    with ambient(level=0):
        yield


def make_dual(primal: Tensor, tangent: Tensor) -> Tensor:
    """`primal` with a tangent; both of one shape."""
    if state.level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    if tuple(primal.shape) != tuple(tangent.shape):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            "this is not "
            f"supported. Tensor is of size {list(primal.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    out: Tensor = primal.view(list(primal.shape))  # type: ignore[attr-defined]
    out._tangent = tangent
    return out


def tangent_of(x: Any) -> Any:
    """The tangent of a tensor, None where it has none."""
    if isinstance(x, Tensor):
        return x._tangent if state.level >= 0 else None
    if isinstance(x, (list, tuple)):
        return [tangent_of(e) for e in x]
    return None


def _some(t: Any) -> bool:
    return any(_some(e) for e in t) if isinstance(t, list) else t is not None


def _zeros(x: Any) -> Any:

    with ambient(level=-1, grad=False):
        return named.zeros_like(x)


def _filled(x: Any, t: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_filled(e, f) for e, f in zip(x, t, strict=True)]
    if t is not None or x is None:
        return t
    return _zeros(x) if isinstance(x, Tensor) else 0


def _tangents(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: list[Tensor]) -> list[Any]:
    tangents = [tangent_of(x) for x in inputs]
    if not any(_some(t) for t in tangents) or not any(o.dtype.category > 1 for o in outs):
        return [None] * len(outs)
    rule = op.jvp
    if rule is None:
        raise NotImplementedError(
            f"Trying to use forward AD with {op.name} that does not support it because it has not been "
            "implemented yet."
        )
    with ambient(level=-1):
        if rule == LINEAR:
            found = _call(
                op,
                [
                    _filled(x, t) if n in op.rules else x
                    for n, x, t in zip(op.tensor_slots, inputs, tangents, strict=True)
                ],
                attrs,
            )
            return list(found) if op.many else [found]
        if rule == BILINEAR:
            return [_bilinear(op, inputs, tangents, attrs)]
        if rule == ELEMENTWISE:
            return [_elementwise(op, inputs, tangents, attrs, outs[0])]
        known: dict[str, Any] = {
            **attrs,
            "out": outs[0],
            "outs": outs,
            **dict(zip(op.tensor_slots, inputs, strict=True)),
        }
        known.update((f"out{i}", o) for i, o in enumerate(outs))
        for name, x, t in zip(op.tensor_slots, inputs, tangents, strict=True):
            known[f"{name}_meta"] = x
            known[f"{name}_t"] = t
        found = rule(*[known[n] for n in inspect.signature(rule).parameters])
        return list(found) if op.many else [found]


def _call(op: Op, inputs: Any, attrs: dict[str, Any]) -> Any:
    return op.run(tuple(inputs), attrs)


def _bilinear(op: Op, inputs: tuple[Any, ...], tangents: list[Any], attrs: dict[str, Any]) -> Any:

    total = None
    for i, t in enumerate(tangents):
        if t is None:
            continue
        part = _call(op, [*inputs[:i], t, *inputs[i + 1 :]], attrs)
        total = part if total is None else named.add(total, part)
    return total


def _elementwise(
    op: Op, inputs: tuple[Any, ...], tangents: list[Any], attrs: dict[str, Any], out: Tensor
) -> Any:
    known: dict[str, Any] = {**attrs, "out": out, **dict(zip(op.tensor_slots, inputs, strict=True))}
    total = None
    for name, t in zip(op.tensor_slots, tangents, strict=True):
        if t is None or name not in op.rules:
            continue
        t = (
            cast_gradient(t, out.dtype)
            if t.dtype is not out.dtype and out.dtype.category >= t.dtype.category
            else t
        )
        known["g"] = conj(t)
        part = conj(op.rules[name].fn(*[known[a] for a in op.rules[name].asks]))
        total = part if total is None else named.add(total, part)
    if total is None:
        return None
    if tuple(total.shape) != tuple(out.shape):
        total = named.expand(total, list(out.shape))
    return cast_gradient(total, out.dtype)


def propagate(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: list[Tensor]) -> None:
    """Give `outs` their tangents."""
    for o, t in zip(outs, _tangents(op, inputs, attrs, outs), strict=True):
        if t is not None and o.dtype.category > 1:
            o._tangent = t


def inplace_tangent(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """The tangent of the functional form, to be given to the tensor that is overwritten."""
    if not any(_some(tangent_of(x)) for x in inputs):
        return None
    return _call(op, inputs, attrs)._tangent


def store_tangent(target: Tensor, tangent: Any) -> None:
    """Give an overwritten tensor its tangent; where it is a view, its base's tangent changes there too."""
    target._tangent = tangent
    base = target._base
    if base is None or (tangent is None and base._tangent is None):
        return

    with ambient(level=-1):
        whole = named.to_layout(_zeros(base) if base._tangent is None else base._tangent, list(base.strides))
        part = _zeros(target) if tangent is None else tangent
        where = (list(target.shape), list(target.strides), target.offset - base.offset)
        base._tangent = named.as_strided_scatter(whole, part, *where)
