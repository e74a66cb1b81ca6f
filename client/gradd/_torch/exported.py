"""A model that `torch.export` exported, as steps that call gradd's functions."""

from __future__ import annotations

import operator
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind

from .aten import constant, find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Reader = Callable[[list[Any]], Any]

#: assertions about sizes, which the functions make themselves
_ASSERTIONS = ("aten::_assert", "aten::sym_constrain_range")
#: modules of functions that compute sizes from sizes
_ON_SIZES = ("_operator", "math", "builtins", "torch")
_SET_GRAD = torch.ops.higher_order.wrap_with_set_grad_enabled
_HELD = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
_WRITTEN = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION, OutputKind.USER_INPUT_MUTATION)


class _Step(NamedTuple):
    """A call: its arguments are read from the values before it, and its result is value number `out`."""

    run: Callable[..., Any]
    args: list[Reader]
    kwargs: dict[str, Reader]
    out: int


class Exported:
    """An exported model for inputs of one structure, with the sizes and dtypes that it was exported for.

    `state`: the names of the tensors that it reads, in order: the model's, or in `constants`. `written`: the
    names of those that it writes, and positions of inputs that it writes. NotImplementedError names what
    gradd has no function for.
    """

    def __init__(self, model: Any, args: Any, kwargs: dict[str, Any], dynamic_shapes: Any) -> None:
        program = _export(model, args, kwargs, dynamic_shapes)
        self.constants: dict[str, Any] = program.constants
        self.structure = program.call_spec.in_spec
        self.result_structure = program.call_spec.out_spec
        self._ranges = {str(symbol): found for symbol, found in program.range_constraints.items()}
        self.state: list[str] = []
        self._expected: list[Any] = []
        self.written: list[str | int] = []
        self._steps: list[_Step] = []
        self._results: list[Reader] = []
        self._news: list[Reader] = []
        self._read(program)

    def _read(self, program: Any) -> None:
        slots: dict[Any, int] = {}
        specs = iter(program.graph_signature.input_specs)
        places: dict[str, int] = {}
        for node in program.graph.nodes:
            if node.op == "placeholder":
                slots[node] = len(slots)
                spec = next(specs)
                if spec.kind in _HELD:
                    self.state.append(spec.target)
                    continue
                places[node.name] = len(self._expected)
                fixed = isinstance(spec.arg, ConstantArgument)
                self._expected.append(spec.arg.value if fixed else node.meta["val"])
            elif node.op == "call_function" and _computes(node):
                slots[node] = len(slots)
                self._steps.append(_step(node, slots))
            elif node.op == "output":
                for value, spec in zip(node.args[0], program.graph_signature.output_specs, strict=True):
                    if spec.kind in _WRITTEN:
                        to_input = spec.kind is OutputKind.USER_INPUT_MUTATION
                        self.written.append(places[spec.target] if to_input else spec.target)
                        self._news.append(_reader("", value, slots))
                    else:
                        self._results.append(_reader("", value, slots))
        self._size = len(slots)

    def fits(self, inputs: Sequence[Any]) -> bool:
        """Whether it was exported for inputs of these sizes, dtypes and constants. `inputs`: tensors of
        either kind, and constants.
        """
        bound: dict[str, int] = {}
        return all(self._fits(want, have, bound) for want, have in zip(self._expected, inputs, strict=True))

    def _fits(self, want: Any, have: Any, bound: dict[str, int]) -> bool:
        if isinstance(want, torch.SymInt):
            return type(have) is int and self._size_fits(want, have, bound)
        if not isinstance(want, torch.Tensor):
            return type(want) is type(have) and bool(want == have)
        if not hasattr(have, "shape") or str(have.dtype) != str(want.dtype) or len(have.shape) != want.dim():
            return False
        return all(self._size_fits(w, h, bound) for w, h in zip(want.shape, have.shape, strict=True))

    def _size_fits(self, want: Any, have: int, bound: dict[str, int]) -> bool:
        if isinstance(want, int):
            return want == have
        name = str(want)
        span = self._ranges.get(name)
        return bound.setdefault(name, have) == have and (
            span is None or bool(span.lower <= have and have <= span.upper)
        )

    def run(self, state: Sequence[Any], inputs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The outputs, and the new values of what is `written`. `state` and `inputs`: gradd's tensors."""
        values = [*state, *inputs]
        values += [None] * (self._size - len(values))
        for step in self._steps:
            kwargs = {name: read(values) for name, read in step.kwargs.items()}
            values[step.out] = step.run(*[read(values) for read in step.args], **kwargs)
        return [read(values) for read in self._results], [read(values) for read in self._news]


def _export(model: Any, args: Any, kwargs: dict[str, Any], dynamic_shapes: Any) -> Any:
    """The exported program in operators that gradd has functions for; others are decomposed."""
    with warnings.catch_warnings(), torch.enable_grad():
        # PyTorch's about itself.
        warnings.simplefilter("ignore")
        program = torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes)
        _detach_without_grad(program.graph_module)
        # Makes writes into results; nothing is decomposed yet.
        program = program.run_decompositions({})
        if _unknown(program):
            table = torch.export.default_decompositions()
            program = program.run_decompositions(
                {
                    op: way
                    for op, way in table.items()
                    if not isinstance(op, torch._ops.OpOverload) or not find(op)
                }
            )
    if unknown := _unknown(program):
        names = ", ".join(f"{name} ({n} times)" if n > 1 else name for name, n in sorted(unknown.items()))
        raise NotImplementedError(
            f"gradd.offload() has no function for these operators of the model: {names}"
        )
    return program


def _detach_without_grad(module: Any) -> None:
    """What was computed under no_grad is detached: decompositions forget the mode."""
    for node in list(module.graph.nodes):
        if node.target is not _SET_GRAD or node.args[0]:
            continue
        for result in [user for user in node.users if user.target is operator.getitem]:
            value = result.meta.get("val")
            if not isinstance(value, torch.Tensor):
                continue
            with module.graph.inserting_after(result):
                plain = module.graph.call_function(torch.ops.aten.detach.default, (result,))
            plain.meta.update(result.meta)
            result.replace_all_uses_with(plain, delete_user_cb=lambda user, own=plain: user is not own)
    module.recompile()


def _computes(node: Any) -> bool:
    """Whether a node is more than an assertion."""
    schema = getattr(node.target, "_schema", None)
    return schema is None or not schema.name.startswith(_ASSERTIONS)


def _unknown(program: Any) -> Counter[str]:
    """How often the graph has what gradd cannot compute, by name."""
    return Counter(_strange(program))


def _strange(program: Any) -> Iterator[str]:
    for node in program.graph.nodes:
        if node.op == "call_function" and _computes(node) and _function(node) is None:
            yield str(node.target)
    for spec in program.graph_signature.input_specs:
        if spec.kind not in (*_HELD, InputKind.USER_INPUT):
            yield f"an input that is a {spec.kind.name.lower()}"


def _function(node: Any) -> Callable[..., Any] | None:
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        return find(target)
    return target if getattr(target, "__module__", None) in _ON_SIZES else None


def _step(node: Any, slots: dict[Any, int]) -> _Step:
    run = _function(node)
    assert run is not None
    schema = getattr(node.target, "_schema", None)
    names = [""] * len(node.args) if schema is None else [a.name for a in schema.arguments]
    args = [_reader(name, a, slots) for name, a in zip(names, node.args, strict=False)]
    return _Step(run, args, {n: _reader(n, a, slots) for n, a in node.kwargs.items()}, slots[node])


def _reader(name: str, value: Any, slots: dict[Any, int]) -> Reader:
    """A function that reads an argument, whose name is `name`, from the values so far."""
    if isinstance(value, torch.fx.Node):
        return operator.itemgetter(slots[value])
    if isinstance(value, (list, tuple)) and any(isinstance(one, torch.fx.Node) for one in value):
        readers = [_reader("", one, slots) for one in value]
        return lambda values: [read(values) for read in readers]
    fixed = constant(name, value)
    return lambda values: fixed
