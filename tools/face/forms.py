"""Forms: the signatures under which a function may be called, as a type checker and an editor see them.

Most are read off declarations: of an op its schema, of a hand-written function its own parameters, with the
kinds of the op of its name where its annotations are loose. A few functions state theirs (`public(forms=)`).
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradd_engine.declare import REGISTRY
from gradd_engine.ops.shared.common import RETURN_TYPES
from gradd_engine.schema import Op, Param
from gradd_engine.schema.schema import NUMPY_NAMES, REQUIRED, Return

POSITIONAL, KEYWORD, SPREAD = "positional", "keyword", "spread"

#: kinds of the signature language, as Python's types
_TYPES = {
    "Tensor": "Tensor",
    "Tensor?": "Tensor | None",
    "Tensor|Number": "Tensor | Number",
    "Tensor|Number?": "Tensor | Number | None",
    "Tensor[]": "Sequence[Tensor]",
    "Tensor?[]": "Sequence[Tensor | None]",
    "int": "int",
    "int[]": "int | Sequence[int]",
    "float": "float",
    "float[]": "float | Sequence[float]",
    "bool": "bool",
    "bool[]": "bool | Sequence[bool]",
    "str": "str",
    "dtype": "dtype",
    "Number": "Number",
    "Number[]": "Number | Sequence[Number]",
    "index": "Any",
    "any": "Any",
}
#: the engine's names of types, by the face's
_SPELLED = {
    r"\bDType\b": "dtype",
    r"\bMemoryFormat\b": "memory_format",
    r"\bDevice\b": "device",
    r"\bFunction\b": "Callable[..., Any]",
}
#: what a parameter is by its name, as PyTorch names them, where no declaration says it
_SIZES = "int | Sequence[int]"
_BY_NAME = {
    **dict.fromkeys(("input", "self", "x", "A", "index", "indices", "target"), "Tensor"),
    **dict.fromkeys(("aweights", "fweights", "weight", "prepend", "append"), "Tensor | None"),
    **dict.fromkeys(("tensors", "matrices"), "Sequence[Tensor]"),
    **dict.fromkeys(("dims", "size", "shape", "source", "destination", "kernel_size", "dilation"), _SIZES),
    **dict.fromkeys(("stride", "output_size", "pad", "split_size", "indices_or_sections"), _SIZES),
    **dict.fromkeys(("axis0", "axis1", "dim0", "dim1", "n"), "int"),
    **dict.fromkeys(("other", "exponent"), "Tensor | Number"),
    **dict.fromkeys(("dx", "value"), "Number | None"),
    **dict.fromkeys(("fill_value", "s"), "Number"),
    **dict.fromkeys(("p", "ord"), "Number | str | None"),
    **dict.fromkeys(("tol", "rcond"), "Tensor | Number | None"),
    "device": "device | str | int | None",
    "dim": f"{_SIZES} | None",
    "layout": "layout | None",
    "memory_format": "memory_format | None",
    "out": "Tensor | None",
    "non_blocking": "bool",
    "padding": f"{_SIZES} | str",
    "reduce": "str | None",
    "scale_factor": "float | Sequence[float] | None",
    "the_template": "Tensor",
}
#: the keywords that wrappers add to several functions
_KEYWORDS = {"generator": "Generator | None", "out": "Tensor | None"}
_ROOTS = "Tensor | GradientEdge | Sequence[Tensor | GradientEdge]"
_COTANGENTS = "Tensor | Sequence[Tensor | None] | None"
#: the same of passes (torch.autograd)
_OF_PASSES = {
    **dict.fromkeys(("tensors", "outputs"), _ROOTS),
    "inputs": "Tensor | Sequence[Tensor]",
    **dict.fromkeys(("grad_tensors", "grad_outputs", "grad_variables", "v"), _COTANGENTS),
}
#: parameters that may be given one by one, and what each of them is
_SPREADS = {"int | Sequence[int]": "int", "Sequence[Tensor]": "Tensor"}


@dataclass(frozen=True)
class Parameter:
    """One parameter: ``type`` and ``default`` as Python text, the default None where it is required."""

    name: str
    type: str
    default: str | None = None
    how: str = POSITIONAL


@dataclass(frozen=True)
class Form:
    """One way to call a function."""

    parameters: tuple[Parameter, ...]
    returns: str

    def method(self) -> Form:
        """The same as a method, whose first parameter is the tensor itself."""
        first, *rest = self.parameters
        if first.how == SPREAD or first.how == KEYWORD:
            rest = list(self.parameters)
        return replace(self, parameters=tuple(rest))


def returns(op: Op) -> str:
    """What an op gives, as Python's type: one tensor, a tuple of several, or of as many as there are."""
    return " | ".join(dict.fromkeys(_given(form) for form in (op.schema.returns, *op.schema.otherwise)))


def _given(results: Sequence[Return]) -> str:
    kinds = [_TYPES[r.kind].replace("Sequence[Tensor]", "tuple[Tensor, ...]") for r in results]
    return f"tuple[{', '.join(kinds)}]" if len(kinds) > 1 else "".join(kinds) or "None"


def _default(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        inside = ", ".join(_default(v) for v in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "..."
    return repr(value) if value is None or isinstance(value, (bool, int, float, str)) else "..."


def _kind(p: Param) -> str:
    found = _TYPES[p.kind] if p.kind != "any" else _BY_NAME.get(p.name, "Any")
    optional = (p.optional or p.default is None) and "None" not in found and found != "Any"
    return f"{found} | None" if optional else found


def of_op(op: Op) -> Form:
    """The form of a declared op's function. NumPy's names of parameters are taken too, and not shown."""
    found = [
        Parameter(
            p.name,
            _kind(p),
            None if p.default is REQUIRED else _default(p.default),
            KEYWORD if p.keyword_only else POSITIONAL,
        )
        for p in op.schema.params
    ]
    if op.takes_out:
        found.append(Parameter("out", "Tensor | None", "None", KEYWORD))
    return Form(tuple(found), returns(op))


def op_of(fn: Any) -> Op | None:
    """The op whose own function `fn` is, or was before it became a method."""
    if isinstance(fn, Op):
        return fn
    code = getattr(fn, "__code__", None)
    file, _, name = code.co_filename.rpartition(":") if code is not None else ("", "", "")
    return REGISTRY.get(name) if file.endswith("calls.py") else None


def _layers(fn: Any) -> Iterator[Any]:
    """A function and what it wraps, the outermost first."""
    while fn is not None:
        yield fn
        fn = getattr(fn, "__wrapped__", None)


def _spelled(annotation: Any) -> str:
    text = "Any" if annotation is inspect.Parameter.empty else annotation
    if not isinstance(text, str):
        text = getattr(text, "__name__", "Any")
    for pattern, name in _SPELLED.items():
        text = re.sub(pattern, name, text)
    return text


def _of_signature(fn: Any, op: Op | None, names: Mapping[str, str]) -> Form:
    """The form of a hand-written function; what its annotations leave open is the op's."""
    kinds = {} if op is None else {p.name: p for p in of_op(op).parameters}
    found: list[Parameter] = []
    signature = inspect.signature(fn)
    named = set(signature.parameters)
    for p in signature.parameters.values():
        text = _spelled(p.annotation)
        if p.name.startswith("_") or p.kind is p.VAR_KEYWORD:
            continue
        if p.kind is p.VAR_POSITIONAL and p.name == "args":
            rest = [k for k in kinds.values() if k.name not in named and k.how == POSITIONAL]
            found += [replace(k, how=SPREAD) for k in rest] if [k.type for k in rest] == [_SIZES] else rest
            continue
        like = kinds.get(p.name)
        if text == "Any":
            text = like.type if like and p.name != "memory_format" else names.get(p.name, text)
        if p.kind is p.VAR_POSITIONAL:
            found.append(Parameter(p.name, text, None, SPREAD))
            continue
        how = KEYWORD if p.kind is p.KEYWORD_ONLY else POSITIONAL
        default = None if p.default is p.empty else _default(p.default)
        if default == "None" and not text.endswith("| None") and text != "Any":
            text += " | None"
        found.append(Parameter(p.name, text, default, how))
    given = _spelled(signature.return_annotation)
    if "v" not in names:
        given = re.sub(r"\bAny\b", "Tensor", given)
    if given == "Tensor" and op is not None:
        given = returns(op)
    return Form(tuple(found), given)


def signature_of(method: Any) -> Form:
    """The form that a method is written with, without ``self``."""
    return _of_signature(method, None, {}).method()


def parsed(text: str, like: Form | None = None, names: Mapping[str, str] = _BY_NAME) -> Form:
    """A form that is stated: ``(input, dim: int = 0, *sizes: int) -> Tensor``. What has no type is as in
    `like`; nothing after the parameters stands for a tensor.
    """
    (made,) = ast.parse(f"def form{text}: ...").body
    assert isinstance(made, ast.FunctionDef)
    a = made.args
    known = {p.name: p.type for p in (like.parameters if like else ()) if p.type != "Any"}
    defaults: list[ast.expr | None] = [None] * (len(a.args) - len(a.defaults)) + list(a.defaults)

    def one(arg: ast.arg, default: ast.expr | None, how: str) -> Parameter:
        kind = known.get(arg.arg) or names.get(arg.arg, "Any")
        kind = kind if arg.annotation is None else ast.unparse(arg.annotation)
        return Parameter(arg.arg, kind, None if default is None else ast.unparse(default), how)

    found = [one(x, d, POSITIONAL) for x, d in zip(a.args, defaults, strict=True)]
    if a.vararg is not None:
        found.append(one(a.vararg, None, SPREAD))
    found += [one(x, d, KEYWORD) for x, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    return Form(tuple(found), "Tensor" if made.returns is None else ast.unparse(made.returns))


def _added(fn: Any) -> list[Parameter]:
    """The keywords that wrappers add to a function of their own."""
    found = []
    for layer in _layers(fn):
        code = getattr(layer, "__code__", None)
        if getattr(layer, "__wrapped__", None) is None or code is None:
            continue
        names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        notes = inspect.get_annotations(layer) if layer.__annotations__ else {}
        for name in names:
            default = (layer.__kwdefaults__ or {}).get(name, REQUIRED)
            text = _KEYWORDS.get(name) or _spelled(notes.get(name, "bool"))
            how = POSITIONAL if name == "inplace" else KEYWORD
            found.append(Parameter(name, text, _default(default), how))
    return found


def _named(form: Form) -> Form:
    """A form whose sizes have a name also where they are given one by one, ``*sizes, size=None``: they are
    ``*size``.
    """
    one = next((p for p in form.parameters if p.how == SPREAD), None)
    name = next((p for p in form.parameters if p.how == KEYWORD and p.type == f"{_SIZES} | None"), None)
    if one is None or name is None:
        return form
    given = replace(one, name=name.name, type=_SIZES)
    return replace(form, parameters=tuple(given if p is one else p for p in form.parameters if p is not name))


def _spread(form: Form) -> list[Form]:
    """A form whose sizes or tensors may be given one by one too: as a sequence first."""
    form = _named(form)
    for i, p in enumerate(form.parameters):
        if p.how == SPREAD and p.type in _SPREADS:
            whole = replace(p, type=p.type.removeprefix("int | "), how=POSITIONAL)
            single = replace(p, type=_SPREADS[p.type])
            before, after = form.parameters[:i], form.parameters[i + 1 :]
            return [replace(form, parameters=(*before, x, *after)) for x in (whole, single)]
    return [form]


def _stored(p: Parameter, returns: str) -> Parameter:
    """``out`` of several results: as many tensors."""
    several = p.name == "out" and returns.startswith(("return_types", "tuple"))
    return replace(p, type="Sequence[Tensor] | None") if several else p


def _ordered(parameters: list[Parameter]) -> tuple[Parameter, ...]:
    ranks = {POSITIONAL: 0, SPREAD: 1, KEYWORD: 2}
    return tuple(sorted(parameters, key=lambda p: ranks[p.how]))


def forms_of(fn: Callable[..., Any], name: str, space: str = "") -> list[Form]:
    """All forms of what is published as `name` in a namespace; "Tensor" for methods, without ``self``."""
    inner = list(_layers(fn))[-1]
    op = op_of(inner)
    passes = space.startswith(("autograd", "func"))
    names: Mapping[str, str] = _OF_PASSES if passes else _BY_NAME
    if passes and name in ("backward", "grad"):
        names = {**names, "inputs": _ROOTS}
    if op is not None:
        form = of_op(op)
    elif passes:
        form = _of_signature(inner, None, names)
    else:
        short, plain = space.rpartition(".")[2], name.removeprefix("new_")
        op = REGISTRY.get(f"{short}_{name}") or REGISTRY.get(name) or REGISTRY.get(plain)
        form = _of_signature(inner, op, names)
    made = next((n for n in (f"{space}_{name}", name) if n in RETURN_TYPES), None)
    if made is not None:
        form = replace(form, returns=f"return_types.{made}")
    own = next((x.method_forms for x in _layers(fn) if getattr(x, "method_forms", ())), ())
    stated = next((x.forms for x in _layers(fn) if getattr(x, "forms", ())), ())
    stated = own or stated
    found = [parsed(text, form, names) for text in stated] if stated else _spread(form)
    added = _added(fn)
    if added:
        taken = {p.name for p in added}
        found = [
            replace(f, parameters=_ordered([p for p in f.parameters if p.name not in taken] + added))
            for f in found
        ]
    found = [replace(f, parameters=tuple(_stored(p, f.returns) for p in f.parameters)) for f in found]
    return [f.method() for f in found] if not own and space == "Tensor" else found


#: NumPy's names, for who compares a form with the function it stands for
ALIASES = frozenset(NUMPY_NAMES.values())
