"""Recording: an op that ran leaves its node, with edges to those of its inputs and what its rules need.

Node boundaries are PyTorch's (https://pytorch.org/docs/stable/notes/autograd.html).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data import ambient, state
from ..schema import named
from ..tensor import (
    AccumulateGrad,
    Edge,
    Saved,
    Tensor,
    TensorMeta,
    accumulator,
    edge_of,
)
from .infer import overload
from .op_node import META, OUT, VALUE, BackwardRecipe, OpNode, recipe_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..schema import InferCache, Op


def save(
    recipe: BackwardRecipe, node: OpNode, inputs: tuple[Any, ...], outs: Sequence[Tensor] | None
) -> None:
    """Keep what the rules of the wanted inputs name, once each. `outs` is None for an in-place op (saved
    later).
    """
    if not recipe.saves:
        return
    saved = node.saved = {}
    for ask, at, kind in recipe.saves:
        if kind == VALUE:
            x = inputs[at]
            if isinstance(x, Tensor):
                node.values = True
                saved[ask] = Saved(x, False)
            else:
                saved[ask] = _keep(x, node)
                # PyTorch wraps such a number in a tensor and saves that, unless an overload takes numbers.
                if isinstance(x, _NUMBERS) and ask not in node.op.number_nodes:
                    node.values = True
        elif kind == META:
            saved[ask] = _metas(inputs[at])
        elif outs is not None:
            node.values = True
            if kind == OUT:
                saved[ask] = _keep_output(outs[at], at)
            else:
                saved[ask] = [_keep_output(o, i) for i, o in enumerate(outs)]


_NUMBERS = (bool, int, float, complex)


def _keep_output(o: Tensor, nr: int) -> Saved:
    """An output without history by declaration is kept as it is: it makes no cycle."""
    return Saved(o, o._fn is not None, nr)


def _keep(x: Any, node: OpNode) -> Any:
    if isinstance(x, Tensor):
        node.values = True
        return Saved(x, False)
    if isinstance(x, (list, tuple)):
        return [_keep(e, node) for e in x]
    return x


def _metas(x: Any) -> Any:
    if isinstance(x, Tensor):
        return TensorMeta(x)
    if isinstance(x, (list, tuple)):
        return [_metas(e) for e in x]
    return None


def _make(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> OpNode:
    node = OpNode(op, attrs, op.edge_params)
    slots = op.edge_slots
    if op.number_nodes:
        node.params, node._label = overload(op, inputs)
        slots = tuple(op.slot_of[name] for name in node.params)
    edges: list[Edge | None] = []
    wants: list[bool] = []
    metas: list[Any] = []
    for at in slots:
        x = inputs[at]
        if isinstance(x, Tensor):
            edge = edge_of(x) if x._dtype.category > 1 else None
            edges.append(edge)
            wants.append(edge is not None)
            metas.append(None if edge is None else TensorMeta(x))
        elif isinstance(x, (list, tuple)):
            some = [edge_of(t) if isinstance(t, Tensor) and t._dtype.category > 1 else None for t in x]
            edges.extend(some)
            wants.append(any(e is not None for e in some))
            metas.append(_metas(x))
        else:
            edges.append(None)
            wants.append(False)
            metas.append(None)
    if op.zero_gradient_when is not None and op.zero_gradient_when(attrs):
        edges, wants = [None] * len(edges), [False] * len(wants)
    node.edges = tuple(edges)
    node.wants = tuple(wants)
    node.inputs = metas
    return node


def _wanted(op: Op, inputs: tuple[Any, ...]) -> bool:
    """Whether a differentiable input needs a gradient, even one that goes nowhere (a view of no_grad)."""
    found = [inputs[op.slot_of[name]] for name in op.edge_params]
    flat = [e for x in found for e in (x if isinstance(x, (list, tuple)) else [x])]
    return any(isinstance(x, Tensor) and x.dtype.category > 1 and x.requires_grad for x in flat)


def all_inference(op: Op, inputs: Any) -> bool:
    """Whether all (nested) input tensors were made in inference mode: what is computed from such alone is not
    recorded, whatever their requires_grad says. A number counts as a tensor made now, unless PyTorch has an
    overload for numbers.
    """
    for x in inputs:
        if isinstance(x, Tensor):
            if not x._vc.inference:
                return False
        elif isinstance(x, (list, tuple)):
            if not all_inference(op, x):
                return False
        elif x is not None and not op.number_nodes:
            return False
    return True


def renew(inputs: Any) -> None:
    """Rebuild, or refuse, the (nested) input views whose base has changed."""
    for x in inputs:
        if isinstance(x, Tensor):
            if x._base is not None:
                x._node()  # rebuilds it
        elif type(x) is list or type(x) is tuple:
            renew(x)


def tell_renewed(inputs: Any) -> None:
    """After an op was refused: tell the session which input views have nodes. It has not seen the op, and
    what ran before the refusal may have renewed them.
    """
    for x in inputs:
        if isinstance(x, Tensor):
            # One that is still behind its base was refused itself.
            current = x._base is not None and x._view_version == x._vc.n
            if current and x._fn is not None and not x._fn.opaque:
                x._renew()
        elif type(x) is list or type(x) is tuple:
            tell_renewed(x)


def record(
    op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: list[Tensor], due: bool = False
) -> None:
    """Give `outs` a node, where an input needs a gradient (or one is `due`) and an output can have one."""
    flags = op.differentiable
    if flags is None and len(outs) == 1:
        tracked = [outs[0]._dtype.category > 1]
    else:
        tracked = [
            o._dtype.category > 1 and (flags is None or flags[min(i, len(flags) - 1)])
            for i, o in enumerate(outs)
        ]
    if True not in tracked:
        return
    node = _make(op, inputs, attrs)
    if True not in node.wants and not due and not _wanted(op, inputs):
        return
    node.width = len(outs)
    if len(outs) > 1:
        node.geometries = {nr: (o._shape, o._dtype) for nr, o in enumerate(outs)}
    node.backend = outs[0].backend
    for nr, o in enumerate(outs):
        if tracked[nr]:
            o._fn = node
            o._nr = nr
    save(recipe_of(op, node.params, node.wants), node, inputs, outs)
    if state.watcher is not None:
        state.watcher.append(node)


def edges_of(op: Op, known: InferCache, inputs: tuple[Any, ...]) -> list[Edge | None] | None:
    """Where the gradients of a plain op's inputs go; None where its result gets no node. Views are renewed,
    or refused.
    """
    if known.others:
        renew(inputs)
    edges: list[Edge | None] | None = None
    due = known.apart
    for nr, at in known.slots:
        x = inputs[at]
        fn = x._fn
        if x._base is not None:
            fn, due = x._node(), True
        if fn is not None:
            edge = Edge(fn.unfold() if fn.folded else fn, x._nr)
        elif x._requires_grad:
            if x._vc.inference and all_inference(op, inputs):
                return None
            edge = Edge(accumulator(x), 0)
        else:
            continue
        if edges is None:
            edges = [None] * len(known.inputs)
        edges[nr] = edge
    if edges is None and due and _wanted(op, inputs) and not all_inference(op, inputs):
        edges = [None] * len(known.inputs)
    return edges


def record_one(
    op: Op,
    known: InferCache,
    edges: list[Edge | None],
    inputs: tuple[Any, ...],
    attrs: dict[str, Any],
    out: Tensor,
) -> None:
    """`record` for a plain op, whose output is new and differentiable, with its `edges_of`."""
    wants = tuple(map(bool, edges))
    recipe = known.recipes.get(wants)
    if recipe is None:
        recipe = known.recipes[wants] = recipe_of(op, known.params, wants)
    out._fn = node = OpNode(op, attrs, known.params)
    node.inputs, node.edges, node.wants, node.backend = known.inputs, tuple(edges), recipe.wants, out.backend
    if known.label:
        node._label = known.label
    if recipe.saves:
        save(recipe, node, inputs, (out,))
    if state.watcher is not None:
        state.watcher.append(node)


def prepare_inplace(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[OpNode, Tensor | None]:
    """The node of an in-place op, before it writes: the overwritten value is cloned where a rule names it."""
    node = _make(op, inputs, attrs)
    node.backend = inputs[0].backend
    first = op.tensor_slots[0]
    overwritten = any(
        w and first in op.rules[n].residuals for n, w in zip(node.params, node.wants, strict=True)
    )
    old = None
    kept = inputs
    if overwritten:
        with ambient(grad=False):
            old = named.clone(inputs[0])
        kept = (old, *inputs[1:])
    save(recipe_of(op, node.params, node.wants), node, kept, None)
    if old is not None and node.saved is not None:
        edge = edge_of(inputs[0])
        if edge is not None and not isinstance(edge.node, AccumulateGrad):
            old._fn, old._nr = edge.node, edge.nr
    if state.watcher is not None:
        state.watcher.append(node)
    return node, old


def finish_inplace(node: OpNode, out: Tensor) -> None:
    """Save the result where a rule names it: after the write, at its new version."""
    op = node.op
    assert node.saved is not None
    if any("out" in op.rules[name].residuals for name in node.params):
        node.saved = {**node.saved, "out": Saved(out, True)}
        node.values = True
