"""The declared op: signature, computation, derivative, effects, public surface and caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .parts import Caches

if TYPE_CHECKING:
    from collections.abc import Callable

    from .effects import Effects
    from .parts import Expanded, Kernel, Surface
    from .rule import Derivative
    from .schema import Param, Schema


class Op:
    """A declared op. Call it to run it.

    Attributes read at every call are copied here from its parts, to save a lookup.
    """

    __slots__ = (
        "__call__", "accepts", "acts", "base", "caches", "check_backward", "check_values", "composite",
        "conjugates", "cost", "derivative", "differentiable", "edge_params", "edge_slots", "effects",
        "elementwise", "expanded", "impl", "infer", "inline", "inplace", "jvp", "kernel", "kind",
        "listed", "many", "multi_view", "name", "needs_meta", "never_alone", "number_nodes",
        "numbers_too", "params", "plain", "random", "refuses", "rules", "run", "schema", "simple",
        "slot_of", "stateful", "surface", "tensor_params", "tensor_slots", "unsafe", "view", "writes",
        "written", "zero_gradient_when",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        schema: Schema,
        kernel: Kernel,
        derivative: Derivative,
        effects: Effects,
        surface: Surface,
        base: Op | None = None,
    ) -> None:
        self.kind, self.schema, self.kernel, self.derivative = kind, schema, kernel, derivative
        self.effects, self.surface = effects, surface
        #: the op whose in-place form this is
        self.base = base
        self._read_signature(schema)
        self._read_parts(kernel, derivative, effects)
        self.caches = Caches(base is None and self.simple and not effects.dynamic and not kernel.infers_anew)
        #: inputs are tensors or numbers, and a kernel makes one new tensor
        self.plain = base is None and self._is_plain()
        self.inplace: Op | None = None
        #: how its in-place form writes to an expanded tensor; None where that is refused
        self.expanded: Expanded | None = None
        #: the op as a function; a slot of this name makes calling the op call it directly
        self.__call__: Callable[..., Any] = _nothing
        #: runs the op on inputs and attributes already bound
        self.run: Callable[[tuple[Any, ...], dict[str, Any]], Any] = lambda inputs, attrs: None

    def _read_signature(self, schema: Schema) -> None:
        self.name = schema.name
        self.params = {p.name: p for p in schema.params}
        self.tensor_params = schema.tensors
        self.tensor_slots = tuple(p.name for p in schema.tensors)
        self.slot_of = {n: i for i, n in enumerate(self.tensor_slots)}
        #: per tensor parameter: it takes a list of tensors
        self.listed = tuple("[" in p.kind for p in schema.tensors)
        #: no parameter takes a list
        self.simple = True not in self.listed
        #: per tensor parameter: the classes it accepts besides tensors
        self.accepts = tuple(_accepted(p) for p in schema.tensors)
        #: a number may replace some tensor
        self.numbers_too = not self.surface.of_numbers and any("Number" in p.kind for p in schema.tensors)
        #: numbers may replace every tensor, but not all at once
        self.never_alone = self.numbers_too and all(
            "Number" in p.kind and not p.kind.endswith("?") for p in schema.tensors
        )
        self.many, self.differentiable = schema.many, schema.differentiable
        #: each element is computed from those at its place; operands broadcast
        self.elementwise = self.kind == "elementwise"
        #: its results share the memory of its first input
        self.view = self.kind == "view"
        self.multi_view = self.view and self.many
        #: a view of a temporary; autograd treats it as an ordinary result
        self.unsafe = self.view and not schema.returns[0].alias
        self.writes = tuple(p.name for p in schema.params if p.written)
        #: per tensor parameter: whether the op itself writes to it, rather than `dispatch`
        self.written = tuple(p.written and self.base is None for p in schema.tensors)

    def _read_parts(self, kernel: Kernel, derivative: Derivative, effects: Effects) -> None:
        self.infer, self.composite, self.inline = kernel.infer, kernel.composite, kernel.inline
        self.impl: Callable[..., Any] = kernel.impl or _nothing
        #: `impl` takes the Meta of its result, as ``meta``
        self.needs_meta = _takes(self.impl, "meta")
        self.cost, self.check_values, self.conjugates = kernel.cost, kernel.check_values, kernel.conjugates
        self.rules, self.jvp, self.number_nodes = derivative.rules, derivative.jvp, derivative.number_nodes
        self.refuses, self.zero_gradient_when = derivative.refuses, derivative.zero_gradient_when
        self.check_backward = derivative.check_backward
        #: the tensor parameters that have a rule, and their positions among the inputs
        self.edge_params = tuple(n for n in self.tensor_slots if n in derivative.rules)
        self.edge_slots = tuple(self.slot_of[n] for n in self.edge_params)
        self.random, self.stateful = effects.random, effects.stateful
        #: it does more than make its results
        self.acts = self.base is not None or bool(self.writes) or self.stateful

    def _is_plain(self) -> bool:
        if self.many or self.writes or self.inline or not self.simple or self.infer is None:
            return False
        if not self.view:
            return self.kernel.impl is not None and self.differentiable is None
        return len(self.tensor_slots) == 1 and self.caches.inferred is not None and not self.unsafe

    @property
    def call(self) -> Callable[..., Any]:
        """The op as a function, with its own signature and documentation."""
        return self.__call__

    @property
    def takes_out(self) -> bool:
        """Whether its function has ``out=``: it is public and returns one new tensor; others opt in."""
        surface = self.surface
        if surface.out or self.base is not None or self.infer is None:
            return surface.out
        return (
            bool(self.tensor_slots)
            and not (self.many or self.view or self.writes or self.effects.dynamic)
            and any("nn" not in space and space != "-" for space in surface.namespace.split("|"))
        )

    def __repr__(self) -> str:
        return f"<op {self.schema}>"


def _nothing(*given: Any, **more: Any) -> None:
    """The placeholder for an op's kernel or function before it has one."""


def _takes(fn: Callable[..., Any], name: str) -> bool:
    code = getattr(fn, "__code__", None)
    return code is not None and name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _accepted(p: Param) -> frozenset[type]:
    """The classes besides tensors that are accepted without a further check; lists are checked by element."""
    found: set[type] = set()
    if p.kind.endswith("?") or p.default is None:
        found.add(type(None))
    if "Number" in p.kind:
        found.update((bool, int, float, complex))
    return frozenset(found)
