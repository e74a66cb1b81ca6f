"""What to remember of an op that ran on the mirror, if it can be answered the next time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.graph import OpNode
from gradd_engine.schema import Pass
from gradd_engine.tensor import AccumulateGrad, Tensor, node_of

from .._program import Grad, RuntimeSlot
from .repeats import LISTS, Attribute, OutputForm, Repeat, flat, form_of, fresh, plain

if TYPE_CHECKING:
    import weakref
    from collections.abc import Sequence

    from gradd_engine.schema import Op
    from gradd_engine.tensor import Node

    from .._program import Builder, Recorded

#: what a result has where nothing is out of the ordinary about it
_ORDINARY = frozenset({
    "backend", "_storage", "_shape", "strides", "offset", "_dtype", "array", "_vc", "_fn", "_nr", "_base",
    "_view_version", "_creation", "_out", "_id",
})  # fmt: skip


def eligible(op: Op, attrs: dict[str, Any]) -> bool:
    """Whether what an op does is decided by what it is called with."""
    effects = op.effects
    # A storage offset counts from where memory begins, which a tensor's geometry does not tell.
    if effects.dynamic or op.inline or effects.unversioned or "storage_offset" in op.params:
        return False
    if effects.backward_pass is Pass.GRAD:
        return not (attrs["is_grads_batched"] or attrs["materialize_grads"])
    return not effects.wide and (not op.stateful or effects.spares_nodes)


def repeat_of(
    op: Op, step: Recorded, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: tuple[Any, ...], many: bool
) -> Repeat | None:
    """What to remember of an op that ran; None where it is not to be answered."""
    if step.raises:
        return None
    geometry = _geometries(step.args, inputs)
    if geometry is None:
        return None
    found = Repeat(op, step, geometry)
    found.many = many
    listed = _listed(op, step, attrs)
    if listed is None:
        return None
    found.attrs = listed
    written = (True,) if op.base is not None else op.written if op.writes else ()
    found.writes = tuple(at for at, yes in enumerate(written) if yes and inputs[at] is not None)
    for at in found.writes:
        t: Any = inputs[at]
        if (
            not isinstance(t, Tensor)
            or t._fn is not None
            or t._vc.inference
            or (step.grad is True and t.requires_grad)
        ):
            return None
    if op.base is not None and outs[0] is not inputs[0]:
        return None
    if all(type(a) not in (int, Grad) for a in flat(step.args)):
        return None  # nothing tells that it is of this session
    results: list[OutputForm | None] = []
    for o in outs:
        if o is None:
            results.append(None)
            continue
        result = _result(o, inputs, outs)
        if result is None:
            return None
        results.append(result)
    found.results = tuple(results)
    found.tracked = any(r is not None and r.tracked and not r.same for r in results)
    if found.tracked and step.grad is not True:
        return None
    return found


def freed_by(op: Op, attrs: dict[str, Any]) -> bool:
    """Whether an op is a pass that frees what it goes through."""
    if op.effects.backward_pass not in (Pass.BACKWARD, Pass.GRAD):
        return False
    keep = attrs["retain_graph"]
    return not (attrs["create_graph"] if keep is None else keep)


def leaves_of(
    roots: Sequence[Any], building: Builder, nodes: list[weakref.ref[Node]], since: int
) -> tuple[int, ...] | None:
    """The slots of the leaves of a graph that a pass from `roots` freed. None unless that was the graph of
    all ops of the batch, whose `nodes` are made since the number `since`, and all of it.
    """
    made = [ref() for ref in nodes]
    starts = [node_of(t) for t in roots]
    if not starts or None in made or None in starts:
        return None
    reached: dict[Any, None] = dict.fromkeys(starts)
    order = list(reached)
    for node in order:  # which grows
        for e in node.edges:
            if e is not None and e.node not in reached:
                reached[e.node] = None
                order.append(e.node)
    found = []
    for node in order:
        if isinstance(node, AccumulateGrad):
            slot = slot_of(node.variable, building)
            if slot is None:
                return None
            found.append(slot)
        elif node.priority < since or not isinstance(node, OpNode) or (node.values and not node.freed()):
            return None
    return tuple(found) if all(node in reached for node in made) else None


def slot_of(t: Any, building: Builder) -> int | None:
    """Where a batch has a tensor."""
    if t._out is not None:
        return t._out[1] if t._out[0] is building else None
    slot = building.slots.get(t._id)
    return slot if slot is not None and building.tensors[-slot - 1] is t else None


def pass_of(op: Op, step: Recorded, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Repeat | None:
    """What to remember of a pass into leaves; None where it is out of the ordinary."""
    roots, gradients, targets = inputs
    if gradients is not None or targets is not None or step.raises:
        return None
    found = Repeat(op, step, (tuple(None for _ in roots), None, None))
    listed = _listed(op, step, attrs)
    if listed is None:
        return None
    found.attrs = listed
    return found


def _listed(op: Op, step: Recorded, attrs: dict[str, Any]) -> tuple[Attribute, ...] | None:
    """The attributes, in the order of their names, as their run-time values are in a batch."""
    found: list[Attribute] = []
    mentioned = dict(step.attrs)
    for p in sorted(op.schema.attrs, key=lambda p: p.name):
        value = attrs[p.name]
        late = type(mentioned.get(p.name)) is RuntimeSlot
        default: Any = p.default
        if late and p.kind == "float":
            default = None  # which is mentioned all the same
        each = Attribute(p.name, tuple(value) if type(value) is list else value, late, default)
        if late:
            if type(value) not in (bool, int, float):
                return None
        elif not each.again(value, True):
            return None
        found.append(each)
    return tuple(found)


def _geometries(args: tuple[Any, ...], inputs: Sequence[Any]) -> tuple[Any, ...] | None:
    """Those of inputs, nested as they are; None where one is out of the ordinary."""
    found: list[Any] = []
    for arg, x in zip(args, inputs, strict=True):
        if type(arg) is tuple:
            nested = _geometries(arg, x)
            if nested is None or any(type(a) is tuple for a in arg):
                return None
            found.append(nested)
        elif type(arg) in (int, Grad):
            if (
                not plain(x)
                or (type(arg) is Grad and x._fn is not None)
                or (arg.__class__ is int and arg < 0 and not fresh(x))
            ):
                return None
            found.append(form_of(x))
        elif arg is None or type(x) in (bool, int, float):
            found.append(x)
        else:
            return None
    return tuple(found)


def _result(o: Any, inputs: Sequence[Any], outs: Sequence[Any]) -> OutputForm | None:
    if not isinstance(o, Tensor):
        return None
    source = None
    same = False
    places = [
        (at, nr, x)
        for at, given in enumerate(inputs)
        for nr, x in (enumerate(given) if type(given) in LISTS else [(-1, given)])
        if isinstance(x, Tensor) and x._storage is o._storage
    ]
    for at, nr, x in places:
        if source is None or x is o:
            source, same = (at, nr), x is o
    of: Any = None if source is None else next(x for at, nr, x in places if (at, nr) == source)
    if same:
        node = o._fn is not None
        return OutputForm(
            o._shape, o.strides, o.offset, o._dtype, 0, source, True, True, False, None, node, 0, "",
        )  # fmt: skip
    if not vars(o).keys() <= _ORDINARY or o._requires_grad or o._conj:
        return None
    versions = of is not None and o._vc is of._vc
    if not versions and o._vc.n:
        return None
    based = o._base is not None
    base = None
    if based and of is None:
        inner: Any = o._base
        base = _result(inner, (), (inner,))
        if base is None or base.based or inner._storage is not o._storage or inner._vc is not o._vc:
            return None
    elif based and o._base is not (of if of._base is None else of._base):
        return None
    memory: Any = o._storage
    others = [each for each in outs if each is not o and each is not None]
    if of is None and (memory.aliased or any(each._storage is memory for each in others)):
        return None
    return OutputForm(
        o._shape, o.strides, o.offset - (0 if of is None else of.offset), o._dtype, memory.nbytes, source,
        False, versions, based, o._creation,
        o._fn is not None, o._nr, "" if o._fn is None else o._fn.name(), base,
    )  # fmt: skip
