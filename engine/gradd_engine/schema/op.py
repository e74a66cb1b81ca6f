"""A declared op: its signature, its rules, its effects, and what is remembered of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .infer_cache import InferCache
    from .rule import Rule
    from .schema import Param, Schema

#: what PyTorch computes of numbers alone, as of tensors
_OF_NUMBERS = {"add", "sub", "mul", "div", "floor_divide"}


class Op:
    """A declared op. Call it to run it."""

    __slots__ = (
        "__call__",
        "accepts",
        "base",
        "checks",
        "composite",
        "conjugates",
        "cost",
        "differentiable",
        "doc",
        "dynamic",
        "edge_params",
        "edge_slots",
        "flat",
        "impl",
        "infer",
        "inferred",
        "inline",
        "inplace",
        "jvp",
        "known",
        "listed",
        "many",
        "method",
        "multi_view",
        "name",
        "namespace",
        "needs_meta",
        "never_alone",
        "node_name",
        "number_nodes",
        "numbers_too",
        "of_numbers",
        "out",
        "outside",
        "params",
        "plain",
        "quiet",
        "raises",
        "random",
        "recipes",
        "refuses",
        "rules",
        "run",
        "schema",
        "simple",
        "slot_of",
        "stateful",
        "tensor_params",
        "tensor_slots",
        "traced",
        "ufunc",
        "unsafe",
        "vets",
        "view",
        "writes",
        "written",
    )  # fmt: skip

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.name = schema.name
        self.params = {p.name: p for p in schema.params}
        self.tensor_params = schema.tensors
        self.tensor_slots = tuple(p.name for p in schema.tensors)
        self.slot_of = {n: i for i, n in enumerate(self.tensor_slots)}
        #: per tensor parameter: it takes a list of tensors
        self.listed = tuple("[" in p.kind for p in self.tensor_params)
        #: no parameter takes one
        self.simple = True not in self.listed
        #: per tensor parameter: the classes, besides tensors, of what may stand there
        self.accepts = tuple(_accepted(p) for p in schema.tensors)
        #: it computes of numbers alone too
        self.of_numbers = schema.name in _OF_NUMBERS
        #: a number may stand for some tensor
        self.numbers_too = not self.of_numbers and any("Number" in p.kind for p in schema.tensors)
        #: numbers may stand for all tensors, but not at once
        self.never_alone = self.numbers_too and all(
            "Number" in p.kind and not p.kind.endswith("?") for p in schema.tensors
        )
        self.base: Op | None = None
        #: the op as a function: a slot of this name makes a call of the op a call of it, nothing in between
        self.__call__: Callable[..., Any] = lambda *a, **k: None
        #: refuses the values of numbers, at every call
        self.checks: Callable[..., None] | None = None
        self.composite: Callable[..., Any] | None = None
        #: work and bytes beyond those of inputs and outputs, of inputs and parameters (see cost)
        self.cost: Callable[..., tuple[int, int]] | None = None
        #: a view of the conjugates
        self.conjugates = False
        self.differentiable: tuple[bool, ...] | None = None
        self.doc = ""
        self.dynamic = False
        #: the tensor parameters that have a rule, and where they stand among the inputs
        self.edge_params: tuple[str, ...] = ()
        self.edge_slots: tuple[int, ...] = ()
        #: whether, by attributes, the result is constant for differentiation: a node without edges
        self.flat: Callable[[dict[str, Any]], bool] | None = None
        self.impl: Callable[..., Any] = lambda *a, **k: None
        self.infer: Callable[..., Any] | None = None
        #: what `infer` said, by geometry and parameters; None where that is not all it depends on
        self.inferred: dict[tuple[Any, ...], Any] | None = None
        self.inline = False
        self.inplace: Op | None = None
        self.jvp: Any = None
        #: of a plain op or view: what it makes of inputs of each geometry
        self.known: dict[tuple[Any, ...], InferCache] = {}
        self.many = False
        self.method = False
        self.multi_view = False
        self.namespace = ""
        self.needs_meta = False
        self.node_name: str | Callable[[dict[str, Any]], str] = ""
        self.number_nodes: dict[str, str] = {}
        #: inputs are tensors or numbers, and the result is one new tensor that a kernel makes
        self.plain = False
        #: what nodes save and how they run their rules, by overload and wanted inputs
        self.recipes: dict[Any, Any] = {}
        #: whether a kernel may refuse values: True, False, or "not of floats"
        self.raises: bool | str = True
        self.random = False
        #: of an op without a derivative: the exception of its node, by attributes
        self.refuses: Callable[[dict[str, Any]], Exception] | None = None
        #: raises what rules would raise of inputs of some geometry
        self.vets: Callable[..., Any] | None = None
        self.rules: dict[str, Rule] = {}
        #: runs it on inputs and attributes that are bound already
        self.run: Callable[[tuple[Any, ...], dict[str, Any]], Any] = lambda inputs, attrs: None
        #: it acts on autograd's own state, and is always recorded as itself
        self.stateful = False
        #: a plan or a traced function can hold it
        self.traced = True
        self.out = False
        #: a step of a program may call it, from wherever the program comes
        self.outside = True
        self.ufunc = ""
        self.unsafe = False
        self.view = False
        self.writes: tuple[str, ...] = ()
        #: what it writes counts as no change: versions stay
        self.quiet = False
        #: per tensor parameter: whether the op writes to it itself
        self.written: tuple[bool, ...] = (False,) * len(self.tensor_slots)

    @property
    def call(self) -> Callable[..., Any]:
        """The op as a function, with its own signature and documentation."""
        return self.__call__

    @property
    def takes_out(self) -> bool:
        """Whether its function has ``out=``: it is public, and its result is one new tensor (of a composite,
        ``out`` says so).
        """
        return (
            (self.infer is not None or self.out)
            and self.base is None
            and bool(self.tensor_slots)
            and not (self.many or self.view or self.writes or self.dynamic)
            and any("nn" not in space and space != "-" for space in self.namespace.split("|"))
        )

    def __repr__(self) -> str:
        return f"<op {self.schema}>"


def _accepted(p: Param) -> frozenset[type]:
    """The classes, besides tensors, of what surely may stand in a tensor's place (lists are looked into)."""
    found: set[type] = set()
    if p.kind.endswith("?") or p.default is None:
        found.add(type(None))
    if "Number" in p.kind:
        found.update((bool, int, float, complex))
    return frozenset(found)
