"""Forward mode: tangents carried beside values, by rules that ops declare.

A tensor holds one tangent per `Level`. Levels nest: a tangent of a level may have tangents of the outer
levels, so a level's rule runs where only those are visible, and its results get their outer tangents as any
results do. `forward_ad` has the levels as ops.
Source: https://pytorch.org/docs/stable/autograd.html#forward-mode-automatic-differentiation
"""

from __future__ import annotations

import inspect
import weakref
from typing import TYPE_CHECKING, Any

from ..data import Meta, ambient, overlaps_itself, promote, state
from ..schema import BILINEAR, ELEMENTWISE, LINEAR, REGISTRY, named
from ..tensor import Saved, Tensor, carry
from .op_node import OpNode, cast_gradient, conj

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..schema import Op
    from ..tensor import Node

#: the levels that are open anywhere in this process, by id: while there is none, no op looks for tangents
LEVELS: set[int] = set()


class Level:
    """A forward-mode level; ``depth`` says how many are around it. It ends with `end`, or unheld."""

    __slots__ = ("__weakref__", "_holders", "_room", "alive", "depth")

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.alive = True
        self._holders: list[weakref.ref[Tensor]] = []
        self._room = 64
        LEVELS.add(id(self))

    def __del__(self) -> None:
        LEVELS.discard(id(self))

    def give(self, t: Tensor, tangent: Tensor | None) -> None:
        """Give `t` a tangent; None says that it has none, whatever it is a view of."""
        held = t._tangents
        if held is None:
            held = t._tangents = {}
        if self not in held:
            if len(self._holders) >= self._room:
                self._holders = [ref for ref in self._holders if ref() is not None]
                self._room = 2 * len(self._holders) + 64
            self._holders.append(weakref.ref(t))
        held[self] = tangent

    def end(self) -> None:
        """No tensor has a tangent of this level any more."""
        self.alive = False
        LEVELS.discard(id(self))
        for ref in self._holders:
            t = ref()
            if t is not None and t._tangents is not None:
                t._tangents.pop(self, None)
                t._tangents = t._tangents or None
        self._holders.clear()


# -- what tensors have -----------------------------------------------------------------------------


def has_tangent(t: Tensor, level: Level) -> bool:
    """Whether `t` has a tangent of `level`: its own, or that of what it is a view of."""
    held = t._tangents
    if held is not None and level in held:
        return held[level] is not None
    base = t._base
    return base is not None and base._tangents is not None and base._tangents.get(level) is not None


def tangent_of(t: Tensor, level: Level) -> Tensor | None:
    """The tangent of `t`. A view that was there before its base got one takes its part of that."""
    if not has_tangent(t, level):
        return None
    held = t._tangents
    if held is not None and level in held:
        return held[level]
    base = t._base
    assert base is not None
    found = _part(t, base, level)
    level.give(t, found)
    return found


def _part(view: Tensor, base: Tensor, level: Level, new: Tensor | None = None) -> Tensor:
    """Where `view` lies in its base's tangent, as a view of it; a tangent made now has room for `new`."""
    if view.dtype is not base.dtype:
        raise NotImplementedError(
            f"forward AD through a write to a view of dtype {view.dtype} of a tensor of dtype {base.dtype} "
            "is not supported"
        )
    with ambient(below=level.depth):
        whole = base._tangents[level] if base._tangents else None
        if whole is None:
            whole = _room(base, new)
        if tuple(whole.strides) != tuple(base.strides):
            whole = named.to_layout(whole, list(base.strides))
        level.give(base, whole)
        at = whole.offset + view.offset - base.offset
        part: Tensor = named.as_strided(whole, list(view.shape), list(view.strides), at)
        return part


def _zeros(x: Tensor) -> Tensor:
    with ambient(below=0, grad=False):
        out: Tensor = named.zeros_like(x)
        return out


def _room(x: Tensor, new: Tensor | None) -> Tensor:
    """Zeros of the geometry of `x`, which may differ by sample where those of a tangent `new` do."""
    if not getattr(new, "mapped", False):
        return _zeros(x)
    assert new is not None
    with ambient(below=0, grad=False):
        return named.zero_(new.backend.empty(Meta(tuple(x.shape), x.dtype)))  # type: ignore[no-any-return]


def levels_of(x: Any) -> list[Level]:
    """Visible levels at which a (nested) input has a tangent, outermost first."""
    found: dict[Level, None] = {}
    _look(x, found)
    return sorted(found, key=lambda level: level.depth)


def _look(x: Any, found: dict[Level, None]) -> None:
    if isinstance(x, Tensor):
        for held in (x._tangents, None if x._base is None else x._base._tangents):
            for level in held or ():
                if level.depth < state.below and has_tangent(x, level):
                    found[level] = None
    elif isinstance(x, (list, tuple)):
        for e in x:
            _look(e, found)


def _nested(x: Any, level: Level) -> Any:
    if isinstance(x, Tensor):
        return tangent_of(x, level)
    return [_nested(e, level) for e in x] if isinstance(x, (list, tuple)) else None


# -- rules -----------------------------------------------------------------------------------------


def propagate(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: Sequence[Tensor]) -> None:
    """Give `outs` their tangents, and what was saved of them too.

    A rule of an inner level may name an output, whose outer tangents are there by then.
    """
    if not any(o.dtype.category > 1 for o in outs):
        return
    for level in levels_of(inputs):
        tangents = [_nested(x, level) for x in inputs]
        with ambient(below=level.depth):
            found = _rule(op, inputs, tangents, attrs, outs)
            taken = set() if op.view else _storages(tangents)
            # In-place ops write to tangents too: no two tensors share one.
            found = [named.clone(t) if t is not None and id(t._storage) in taken else t for t in found]
        for o, t in zip(outs, found, strict=True):
            if t is not None and o.dtype.category > 1:
                level.give(o, t)
                keep(o._fn, o)


def _storages(tangents: Any) -> set[int]:
    if isinstance(tangents, Tensor):
        return {id(tangents._storage)}
    return set().union(*map(_storages, tangents)) if isinstance(tangents, list) else set()


def keep(node: Node | None, out: Tensor) -> None:
    """Give the alias of an output that its node saved the tangents of that output."""
    if out._tangents is None or not isinstance(node, OpNode) or not node.saved:
        return
    for entry in node.saved.values():
        for e in entry if isinstance(entry, list) else [entry]:
            if isinstance(e, Saved) and e.is_output and e.source() is out:
                carry(out, e.tensor)


def _rule(
    op: Op, inputs: tuple[Any, ...], tangents: list[Any], attrs: dict[str, Any], outs: Sequence[Tensor]
) -> list[Any]:
    rule = op.jvp
    if rule is None:
        raise NotImplementedError(
            f"Trying to use forward AD with {op.name} that does not support it because it has not been "
            "implemented yet.\nThe operation has a rule for reverse mode alone: use torch.autograd.grad, or "
            "torch.func.vjp and torch.func.jacrev."
        )
    if rule == LINEAR:
        given = [
            _filled(x, t) if n in op.rules else x
            for n, x, t in zip(op.tensor_slots, inputs, tangents, strict=True)
        ]
        found = op.run(tuple(given), attrs)
    elif rule == BILINEAR:
        found = _bilinear(op, inputs, tangents, attrs)
    elif rule == ELEMENTWISE:
        found = _elementwise(op, inputs, tangents, attrs, outs[0])
    else:
        known: dict[str, Any] = {**attrs, "out": outs[0], "outs": list(outs)}
        known.update((f"out{i}", o) for i, o in enumerate(outs))
        for name, x, t in zip(op.tensor_slots, inputs, tangents, strict=True):
            known[name] = known[f"{name}_meta"] = x
            known[f"{name}_t"] = t
        found = rule(*[known[n] for n in inspect.signature(rule).parameters])
    return list(found) if op.many else [found]


def _filled(x: Any, t: Any) -> Any:
    """Zeros where a linear op has no tangent of an input."""
    if isinstance(x, (list, tuple)):
        return [_filled(e, f) for e, f in zip(x, t, strict=True)]
    if t is not None or x is None:
        return t
    return _zeros(x) if isinstance(x, Tensor) else 0


def _bilinear(op: Op, inputs: tuple[Any, ...], tangents: list[Any], attrs: dict[str, Any]) -> Any:
    total = None
    for i, t in enumerate(tangents):
        if t is None:
            continue
        part = op.run((*inputs[:i], t, *inputs[i + 1 :]), attrs)
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
        known["g"] = conj(cast_gradient(t, promote(t.dtype, out.dtype)))
        part = conj(op.rules[name].fn(*[known[a] for a in op.rules[name].residuals]))
        total = part if total is None else named.add(total, part)
    if total is None:
        return None
    if tuple(total.shape) != tuple(out.shape):
        total = named.expand(total, list(out.shape))
    if total.dtype.is_complex and not out.dtype.is_complex:
        total = named.real(total)
    return cast_gradient(total, promote(total.dtype, out.dtype))


# -- in-place ops ----------------------------------------------------------------------------------


def apart(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs of an in-place op, with a copy of the target where tangents get a history: it keeps what
    is about to be written to.
    """
    if not state.grad or not any(_followed(x) for x in inputs):
        return inputs
    return (named.clone(inputs[0]), *inputs[1:])


def _followed(x: Any) -> bool:
    """Whether `x`, a tangent of it or what it is a level of vmap over needs a gradient."""
    if isinstance(x, (list, tuple)):
        return any(map(_followed, x))
    if not isinstance(x, Tensor):
        return False
    return x.requires_grad or _followed(x.array) or any(map(_followed, (x._tangents or {}).values()))


def write(target: Tensor, value: Tensor) -> None:
    """Store `value` in the memory of `target`, and its tangents in those of `target`: they are written to in
    place, so those of views follow, as their values do.
    """
    copy = REGISTRY["copy"]
    meta: Meta = target.backend.infer(copy, (target, value), {})
    target.backend.run_into(copy, target, meta, (target, value), {})
    for level in levels_of((target, value)):
        new, old = tangent_of(value, level), tangent_of(target, level)
        with ambient(below=level.depth):
            if old is None:
                old = _begin(target, level, new)
            if overlaps_itself(old.shape, old.strides):
                level.give(target, _zeros(target) if new is None else new)
            elif new is None:
                named.zero_(old)
            else:
                named.copy_(old, new)


def _begin(target: Tensor, level: Level, new: Tensor | None) -> Tensor:
    """Zeros as the tangent of a tensor that had none; through a view, of the base and so of all its views."""
    base = target._base
    cut = target._tangents is not None and level in target._tangents
    found = _room(target, new) if base is None or cut else _part(target, base, level, new)
    level.give(target, found)
    return found
