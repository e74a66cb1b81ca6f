"""The node of a declared op: what it saves, how it runs its rules, and how gradients are made to fit the
tensors they are for.

Node names are PyTorch's (https://pytorch.org/docs/stable/notes/autograd.html). What a node saves and which
rules it runs is worked out once for each op, overload and set of wanted inputs.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from ..data import state
from ..schema import named
from ..tensor import (
    CUT,
    FREED,
    SAVED,
    Node,
    Packed,
    Saved,
    Tensor,
    check_saved,
    next_priority,
    places,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..data import DType
    from ..schema import Op
    from ..tensor import Edge, TensorMeta


#: what the many nodes have saved whose rules name nothing: of what each has for itself, a large graph has as
#: many as nodes, and each collection of garbage looks at them all
NOTHING = cast("dict[str, Any]", MappingProxyType({}))


class OpNode(Node):
    """The node of a declared op."""

    #: whether values are saved, not geometry alone
    values: bool = False
    #: whether some of them are packed
    packed: bool = False
    #: the node's name where the overload decides it
    _label: str = ""

    #: the op's parameters with an edge slot, which the overload decides
    params: tuple[str, ...]
    #: per edge slot: geometry of the input, or a list of them
    inputs: Sequence[Any] = ()
    #: per edge slot: whether a gradient goes there
    wants: tuple[bool, ...] = ()
    #: what its rules name, by that name; None once it is freed
    saved: dict[str, Any] | None = NOTHING

    def __init__(self, op: Op, attrs: dict[str, Any], params: tuple[str, ...]) -> None:
        self.priority = next_priority()
        self.op = op
        self.attrs = attrs
        self.params = params
        account = state.account
        if account is not None:
            self.counted = account.graphs

    def name(self) -> str:
        """The op's node name."""
        name = self._label or self.op.derivative.node_name
        return name if isinstance(name, str) else name(self.attrs)

    def wraps(self, name: str) -> bool:
        """Whether PyTorch saves a number that stands for `name` as a tensor: it has no overload for one."""
        return name not in self.op.number_nodes

    def _slot(self, slot: int) -> Any:
        """Shape and dtype of the input at a slot."""
        flat = [m for x in self.inputs for m in (x if isinstance(x, list) else [x])]
        found = flat[slot] if slot < len(flat) else None
        return None if found is None else (found.shape, found.dtype)

    def release(self) -> None:
        """Drop saved values; a node that saved none can be walked again."""
        if self.values:
            self.saved = None

    def freed(self) -> bool:
        """Whether its saved values are gone."""
        return self.saved is None

    def outdated(self) -> bool:
        """Whether a tensor that it saved changed since."""
        return any(type(e) is Saved and e.changed(self) for _, _, e in places(self.saved or {}))

    def verify(self) -> None:
        """RuntimeError where it was freed, a saved tensor changed, or no rule fits the inputs."""
        if self.saved is None:
            raise RuntimeError(FREED)
        op = self.op
        if op.refuses is not None:
            raise op.refuses(self.attrs)
        if op.check_backward is not None:
            op.check_backward(self.inputs, **self.attrs)
        if self.values:
            for entry in self.saved.values():
                if entry.__class__ is not Saved:
                    check_saved(entry, self)
                elif entry.tensor._vc.n != entry.version or (CUT and entry.tensor._cut):
                    entry.check(self)

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """Run the rules that wanted inputs need; undo broadcasting and promotion."""
        if self.saved is None:
            raise RuntimeError(FREED)
        if self.op.refuses is not None:
            raise self.op.refuses(self.attrs)
        recipe = recipe_of(self.op, self.params, self.wants)
        if not self.packed:
            return recipe.apply(self, grads)
        try:
            return recipe.apply(self, grads)
        finally:
            for _, _, e in places(self.saved):
                if type(e) is Packed:
                    e.found = None

    def waits(self, at: str) -> bool:
        """As for any node; packed tensors wait for their unpack hooks."""
        if at == SAVED:
            return self.packed and any(
                type(e) is Packed and e.unpack is not None for _, _, e in places(self.saved or {})
            )
        return super().waits(at)

    def unpacked(self) -> list[Any]:
        """What the hooks give for each packed tensor, in order."""
        return [e.open() for _, _, e in places(self.saved or {}) if type(e) is Packed]

    def fill(self, found: Sequence[Any] | None) -> None:
        """Take what was unpacked, for the next `apply`."""
        boxes = [e for _, _, e in places(self.saved or {}) if type(e) is Packed]
        if found is None or len(found) != len(boxes):
            raise RuntimeError(f"{self.name()} has {len(boxes)} packed tensors")
        for box, t in zip(boxes, found, strict=True):
            box.found = t

    def __dir__(self) -> list[str]:
        """What a node has, with what its op's rules keep."""
        words = {self.op.tensor_slots[0] if self.op.tensor_slots else "": "self", "out": "result"}
        saves = recipe_of(self.op, self.params, (True,) * len(self.wants)).saves
        kept = {words.get(ask, ask) for ask, _, kind in saves if kind != META}
        raw = kept - set(self.attrs)
        return [
            *super().__dir__(),
            *(f"_saved_{name}" for name in kept | set(self.attrs)),
            *(f"_raw_saved_{name}" for name in raw),
        ]

    def __getattr__(self, name: str) -> Any:
        """``_saved_self``, ``_saved_other``, ``_saved_result``, ``_saved_<parameter>``: what the node keeps
        for backward; ``_raw_saved_<...>``: the place where it keeps it.
        """
        raw = name.startswith("_raw_saved_")
        if not raw and not name.startswith("_saved_"):
            raise AttributeError(f"'{self.short_name()}' object has no attribute '{name}'")
        wanted = name.partition("_saved_")[2]
        known = {"self": self.op.tensor_slots[0] if self.op.tensor_slots else "", "result": "out"}.get(
            wanted, wanted
        )
        if raw and (known in self.op.slot_of or known == "out"):
            return self._raw(self, known)
        if known in self.attrs:
            value = self.attrs[known]
            one = isinstance(value, int) and self.op.params[known].kind.endswith("[]")
            return (value,) if one else value
        if self.saved is not None and known in self.saved:
            return self._show(wanted, self.saved[known])
        if known in self.params or known == "out":
            if self.saved is None:
                raise RuntimeError(FREED)
            return None
        raise AttributeError(f"'{self.short_name()}' object has no attribute '{name}'")


#: what is saved: an input, its geometry, an output, all outputs
VALUE, META, OUT, OUTS = range(4)


class BackwardRecipe:
    """``saves``: the names to save, each with the place of its input or output and its kind. ``wants``: that
    of the nodes. ``apply(node, grads)`` runs the rules: the gradients of all inputs, fitted to their
    geometry.
    """

    __slots__ = ("apply", "saves", "wants")

    def __init__(self, op: Op, params: tuple[str, ...], wants: tuple[bool, ...]) -> None:
        wanted = [name for name, want in zip(params, wants, strict=True) if want]
        asks = dict.fromkeys(ask for name in wanted for ask in op.rules[name].residuals)
        # PyTorch saves inputs for the gradients that are wanted, and outputs whichever these are.
        asks |= dict.fromkeys(
            ask for name in params for ask in op.rules[name].residuals if _of_output(op, ask)
        )
        self.saves = tuple(s for s in (_saved(op, ask) for ask in asks) if s is not None)
        #: one for all nodes, see `NOTHING`
        self.wants = wants
        self.apply = _compiled(op, params, wants, [name for name, _, _ in self.saves])


def recipe_of(op: Op, params: tuple[str, ...], wants: tuple[bool, ...]) -> BackwardRecipe:
    """The recipe for a node of `op`."""
    key = (params, wants)
    found: BackwardRecipe | None = op.caches.recipes.get(key)
    if found is None:
        found = op.caches.recipes[key] = BackwardRecipe(op, params, wants)
    return found


def _saved(op: Op, ask: str) -> tuple[str, int, int] | None:
    if ask in op.slot_of:
        return (ask, op.slot_of[ask], VALUE)
    if ask.endswith("_meta"):
        return (ask, op.slot_of[ask[:-5]], META)
    if ask == "outs":
        return (ask, 0, OUTS)
    if ask == "out":
        return (ask, 0, OUT)
    if ask.startswith("out") and ask[3:].isdigit():
        return (ask, int(ask[3:]), OUT)
    return None


def _of_output(op: Op, ask: str) -> bool:
    found = _saved(op, ask)
    return found is not None and found[2] in (OUT, OUTS)


def _each(found: Any, metas: list[Any]) -> list[Any]:
    """`unbroadcast` for a list of tensors."""
    if found is None:
        return [None] * len(metas)
    return [unbroadcast(g, m) for g, m in zip(found, metas, strict=True)]


def _nones(metas: Any) -> list[None]:
    """No gradient for a list of tensors (one slot where none was given)."""
    return [None] * (len(metas) if type(metas) is list else 1)


_GIVEN = {"g": "grads[0]", "grads": "grads", "needs": "wants"}


def _compiled(
    op: Op, params: tuple[str, ...], wants: tuple[bool, ...], saves: list[str]
) -> Callable[..., list[Any]]:
    """The calls of the rules, written out as Python."""
    names: dict[str, Any] = {
        "unbroadcast": unbroadcast,
        "each": _each,
        "nones": _nones,
        "unpack": unpack,
        "wants": wants,
    }
    lines = ["saved, attrs, inputs = node.saved, node.attrs, node.inputs"]
    lines += [f"s_{name} = unpack(saved[{name!r}], node)" for name in saves]
    joint: dict[int, str] = {}
    out: list[str] = []
    for at, (name, want) in enumerate(zip(params, wants, strict=True)):
        listed = "[" in op.params[name].kind
        if not want:
            out.append(f"*nones(inputs[{at}])" if listed else "None")
            continue
        rule = op.rules[name]
        call = joint.get(id(rule))
        if call is None:
            names[f"rule{at}"] = rule.fn
            given = (_GIVEN.get(a) or (f"s_{a}" if a in saves else f"attrs[{a!r}]") for a in rule.residuals)
            call = f"rule{at}({', '.join(given)})"
            if rule.joint:
                lines.append(f"joint{at} = {call}")
                call = joint[id(rule)] = f"joint{at}"
        if rule.joint:
            call = f"{call}[{rule.serves.index(name)}]"
        out.append(f"*each({call}, inputs[{at}])" if listed else f"unbroadcast({call}, inputs[{at}])")
    lines.append(f"return [{', '.join(out)}]")
    text = "def apply(node, grads):\n    " + "\n    ".join(lines)
    exec(compile(text, f"{__file__}:{op.name}", "exec"), names)
    run: Callable[..., list[Any]] = names["apply"]
    return run


def unpack(entry: Any, node: Node) -> Any:
    """`Saved.unpack` for all of a (nested) entry."""
    if type(entry) is Saved:
        t = entry.tensor
        plain = not entry.is_output and t._vc.n == entry.version and not CUT
        return t if plain else entry.unpack(node)
    if isinstance(entry, list):
        return [unpack(e, node) for e in entry]
    if type(entry) is Packed:
        return entry.dressed(node)
    return entry


def conj(x: Any) -> Any:
    """Conjugate of a tensor or number; real values are returned as they are."""
    if isinstance(x, Tensor):
        return named.conj_physical(x) if x._dtype.is_complex else x
    return x.conjugate() if isinstance(x, complex) else x


def cast_gradient(g: Tensor, dtype: DType) -> Tensor:
    """A gradient in the dtype of the tensor it is for; the real part where that is real."""
    if g.dtype is dtype:
        return g
    if g.dtype.is_complex and not dtype.is_complex:
        g = named.real(g)
        if g.dtype is dtype:
            return g
    out: Tensor = named.to_copy(g, dtype)
    return out


def unbroadcast(g: Tensor | None, meta: TensorMeta | None) -> Tensor | None:
    """A gradient in the shape and dtype of the input it is for: broadcasting and promotion are undone here
    alone.
    """
    if g is None or meta is None:
        return None if meta is None else g
    if g._shape != meta.shape:
        g = named.sum_to_size(g, list(meta.shape))
    if g._dtype is not meta.dtype:
        g = cast_gradient(g, meta.dtype)
    return g


def expandable(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether `shape` broadcasts to `to`."""
    return len(shape) <= len(to) and all(
        n in (1, m) for n, m in zip(reversed(shape), reversed(to), strict=False)
    )


def all_shaped(node: Node, found: Sequence[Any]) -> Sequence[Any]:
    """`shaped` of what `node` gives the nodes behind it."""
    if all(e is None or e.node.shapes is None for e in node.edges):
        return found
    return [
        g if e is None or g is None else shaped(e, g, at, node)
        for at, (e, g) in enumerate(zip(node.edges, found, strict=False))
    ]


def shaped(edge: Edge, g: Tensor, at: int, node: Node | None = None) -> Tensor:
    """A gradient in the shape that the output had when its node was made, where the tensor was turned in
    place since without autograd: RuntimeError where it cannot be, naming the `node` that gives it.
    """
    shape = None if edge.node.shapes is None or edge.node.leaf else edge.node.shapes.get(edge.nr)
    if shape is None or g.shape == shape:
        return g
    if not expandable(shape, g.shape):
        who = "" if node is None else f"Function {node.short_name()} returned an "
        raise RuntimeError(
            f"{who}invalid gradient at index {at} - got {list(g.shape)} but expected shape compatible with "
            f"{list(shape)}"
        )
    out: Tensor = named.sum_to_size(g, list(shape))
    return out
