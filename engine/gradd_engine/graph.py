"""Recording: the node of a declared op, what it saves, and the rules that it runs.

Node boundaries and names are PyTorch's (https://pytorch.org/docs/stable/notes/autograd.html).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .fitting import fit
from .nodes import AccumulateGrad, Edge, Node, edge_of
from .registry import named
from .saved import FREED, Saved, TensorMeta, check_saved, saved_value, unpack
from .state import ambient
from .tensor import Tensor

if TYPE_CHECKING:
    from .op import Op


class OpNode(Node):
    """The node of a declared op."""

    def __init__(self, op: Op, attrs: dict[str, Any]) -> None:
        super().__init__()
        self.op = op
        self.attrs = attrs
        self.saved: dict[str, Any] | None = {}
        self.values = False
        #: the op's parameters with an edge slot, and the node's name: both depend on the overload
        self.params = op.edge_params
        name = op.node_name
        self._label = name if isinstance(name, str) else name(attrs)
        #: per edge slot: geometry of the input, or a list of them
        self.inputs: list[Any] = []
        #: per edge slot: whether a gradient goes there
        self.wants: tuple[bool, ...] = ()

    def name(self) -> str:
        """The op's node name."""
        return self._label

    def release(self) -> None:
        """Drop saved values; a node that saved none can be walked again."""
        if self.values:
            self.saved = None

    def verify(self) -> None:
        """Freed, versions."""
        if self.saved is None:
            raise RuntimeError(FREED)
        for entry in self.saved.values():
            check_saved(entry, self)

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """Run the rules that wanted inputs need; undo broadcasting and promotion."""
        if self.saved is None:
            raise RuntimeError(FREED)
        op = self.op
        known: dict[str, Any] = {**self.attrs, "g": grads[0], "grads": grads}
        for name, entry in self.saved.items():
            known[name] = entry.unpack(self) if type(entry) is Saved else unpack(entry, self)
        known["needs"] = self.wants
        out: list[Tensor | None] = []
        joint: dict[str, Any] | None = None
        for name, want, meta in zip(self.params, self.wants, self.inputs, strict=True):
            is_list = type(meta) is list
            width = len(meta) if is_list else 1
            if not want:
                out.extend([None] * width)
                continue
            rule = op.rules[name]
            if rule.joint:
                if joint is None:
                    results = rule.fn(*[known[a] for a in rule.asks])
                    joint = dict(zip(rule.serves, results, strict=True))
                found = joint[name]
            else:
                found = rule.fn(*[known[a] for a in rule.asks])
            if is_list:
                found = [None] * width if found is None else found
                out.extend(fit(f, m) for f, m in zip(found, meta, strict=True))
            else:
                out.append(fit(found, meta))
        return out

    def __getattr__(self, name: str) -> Any:
        """``_saved_self``, ``_saved_other``, ``_saved_result``, ``_saved_<parameter>``: what the node keeps
        for backward.
        """
        if not name.startswith("_saved_"):
            raise AttributeError(f"'{self.short_name()}' object has no attribute '{name}'")
        if self.saved is None:
            raise RuntimeError(FREED)
        wanted = name.removeprefix("_saved_")
        known = {"self": self.op.tensor_slots[0] if self.op.tensor_slots else "", "result": "out"}.get(
            wanted, wanted
        )
        if known in self.saved:
            return saved_value(self.saved[known], self)
        if known in self.attrs:
            return self.attrs[known]
        raise AttributeError(f"'{self.short_name()}' object has no attribute '{name}'")


def _save(op: Op, node: OpNode, inputs: tuple[Any, ...], outs: list[Tensor] | None) -> None:
    """Keep what the rules of the wanted inputs name, once each. `outs` is None for an in-place op (saved
    later).
    """
    saved = node.saved
    assert saved is not None
    for ask, at, kind in _save_plan(op, node.params, node.wants):
        if kind == _VALUE:
            x = inputs[at]
            if isinstance(x, Tensor):
                node.values = True
                saved[ask] = Saved(x, False)
            else:
                saved[ask] = _keep(x, node)
                # PyTorch wraps such a number in a tensor and saves that, unless an overload takes numbers.
                if isinstance(x, _NUMBERS) and ask not in op.number_nodes:
                    node.values = True
        elif kind == _META:
            saved[ask] = _metas(inputs[at])
        elif outs is not None:
            node.values = True
            if kind == _OUT:
                saved[ask] = _keep_output(outs[at], at)
            else:
                saved[ask] = [_keep_output(o, i) for i, o in enumerate(outs)]


_VALUE, _META, _OUT, _OUTS = range(4)
_NUMBERS = (bool, int, float, complex)
_plans: dict[tuple[Op, tuple[str, ...], tuple[bool, ...]], tuple[tuple[str, int, int], ...]] = {}


def _save_plan(op: Op, params: tuple[str, ...], wants: tuple[bool, ...]) -> tuple[tuple[str, int, int], ...]:
    """What a node of `op` saves for these wanted inputs: (name, which input or output, kind)."""
    key = (op, params, wants)
    found = _plans.get(key)
    if found is None:
        plan: dict[str, tuple[str, int, int]] = {}
        for name, want in zip(params, wants, strict=True):
            for ask in op.rules[name].asks if want else ():
                if ask in op.slot_of:
                    plan[ask] = (ask, op.slot_of[ask], _VALUE)
                elif ask.endswith("_meta"):
                    plan[ask] = (ask, op.slot_of[ask[:-5]], _META)
                elif ask == "out":
                    plan[ask] = (ask, 0, _OUT)
                elif ask == "outs":
                    plan[ask] = (ask, 0, _OUTS)
                elif ask.startswith("out") and ask[3:].isdigit():
                    plan[ask] = (ask, int(ask[3:]), _OUT)
        found = _plans[key] = tuple(plan.values())
    return found


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


def _choose_overload(node: OpNode, inputs: tuple[Any, ...]) -> None:
    given = dict(zip(node.op.tensor_slots, inputs, strict=True))
    for name, label in node.op.number_nodes.items():
        if given[name] is not None and not isinstance(given[name], Tensor):
            node._label = label
            node.params = tuple(n for n in node.params if isinstance(given[n], Tensor))


def _make(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> OpNode:
    node = OpNode(op, attrs)
    if op.number_nodes:
        _choose_overload(node, inputs)
    edges: list[Edge | None] = []
    wants: list[bool] = []
    metas = node.inputs
    for name in node.params:
        x = inputs[op.slot_of[name]]
        if isinstance(x, Tensor):
            edge = edge_of(x) if x.dtype.category > 1 else None
            edges.append(edge)
            wants.append(edge is not None)
            metas.append(None if edge is None else TensorMeta(x))
        elif isinstance(x, (list, tuple)):
            some = [edge_of(t) if isinstance(t, Tensor) and t.dtype.category > 1 else None for t in x]
            edges.extend(some)
            wants.append(any(e is not None for e in some))
            metas.append(_metas(x))
        else:
            edges.append(None)
            wants.append(False)
            metas.append(None)
    node.edges = tuple(edges)
    node.wants = tuple(wants)
    return node


def _wanted(op: Op, inputs: tuple[Any, ...]) -> bool:
    """Whether a differentiable input needs a gradient, be it one that goes nowhere (a view of no_grad)."""
    found = [inputs[op.slot_of[name]] for name in op.edge_params]
    flat = [e for x in found for e in (x if isinstance(x, (list, tuple)) else [x])]
    return any(isinstance(x, Tensor) and x.dtype.category > 1 and x.requires_grad for x in flat)


def renew(inputs: Any) -> None:
    """Rebuild, or refuse, the views among (nested) inputs whose base has changed."""
    for x in inputs:
        if isinstance(x, Tensor):
            if x._base is not None:
                x.grad_fn  # noqa: B018 - reading it rebuilds it
        elif type(x) is list or type(x) is tuple:
            renew(x)


def record(
    op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: list[Tensor], due: bool = False
) -> None:
    """Give `outs` a node, where an input needs a gradient (or one is `due`) and an output can have one."""
    flags = op.differentiable
    if flags is None and len(outs) == 1:
        tracked = [outs[0].dtype.category > 1]
    else:
        tracked = [
            o.dtype.category > 1 and (flags is None or flags[min(i, len(flags) - 1)])
            for i, o in enumerate(outs)
        ]
    if True not in tracked:
        return
    node = _make(op, inputs, attrs)
    if True not in node.wants and not due and not _wanted(op, inputs):
        return
    node.width = len(outs)
    node.backend = outs[0].backend
    for nr, o in enumerate(outs):
        if tracked[nr]:
            o._fn = node
            o._nr = nr
    _save(op, node, inputs, outs)


def prepare_inplace(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[OpNode, Tensor | None]:
    """The node of an in-place op, before it writes: the overwritten value is cloned where a rule names it."""
    node = _make(op, inputs, attrs)
    node.backend = inputs[0].backend
    first = op.tensor_slots[0]
    overwritten = any(w and first in op.rules[n].asks for n, w in zip(node.params, node.wants, strict=True))
    old = None
    kept = inputs
    if overwritten:
        with ambient(grad=False):
            old = named.clone(inputs[0])
        kept = (old, *inputs[1:])
    _save(op, node, kept, None)
    if old is not None and node.saved is not None:
        edge = edge_of(inputs[0])
        if edge is not None and not isinstance(edge.node, AccumulateGrad):
            old._fn, old._nr = edge.node, edge.nr
    return node, old


def finish_inplace(node: OpNode, out: Tensor) -> None:
    """Save the result where a rule names it: after the write, at its new version."""
    op = node.op
    assert node.saved is not None
    for name, want in zip(node.params, node.wants, strict=True):
        if want and "out" in op.rules[name].asks and "out" not in node.saved:
            node.saved["out"] = Saved(out, True)
            node.values = True
