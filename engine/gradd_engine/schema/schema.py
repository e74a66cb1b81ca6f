"""The signature language of op declarations.

``add(Tensor input, Tensor|Number other, *, value Number alpha=1) -> Tensor`` uses PyTorch's parameter names
and order. Each parameter is tensor-capable (``Tensor``, ``Tensor?``, ``Tensor|Number``, ``Tensor[]``,
``Tensor?[]``), run-time (``value T``) or static. A schema binds arguments, gives Python and JSON callers the
same signature, and decides what belongs to a program's identity.

Results are written as in PyTorch's native_functions.yaml: ``-> Tensor``; ``-> Tensor[]`` for a varying
number; ``-> (Tensor values, const Tensor indices)``, where ``const`` has no derivative; ``-> ()``. Letters
mark shared memory: ``unbind(Tensor(a) input, int dim=0) -> Tensor(a)[]``; an exclamation mark, what is
written: ``t_(Tensor(a!) input) -> Tensor(a!)``. A bar separates the results of other overloads, as in
``max``: ``-> Tensor|(Tensor values, Tensor indices)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..data import DType, dtypes
from .position import position

TENSOR_KINDS = ("Tensor", "Tensor?", "Tensor|Number", "Tensor|Number?", "Tensor[]", "Tensor?[]")
RETURN_KINDS = ("Tensor", "Tensor?", "Tensor[]", "Tensor?[]")
STATIC_KINDS = (
    "int",
    "int[]",
    "float",
    "float[]",
    "bool",
    "bool[]",
    "str",
    "dtype",
    "Number",
    "Number[]",
    "index",
    "any",
)
#: Forward mode of an element-wise op: each tangent times the conjugate of the vjp's factor.
ELEMENTWISE = "elementwise"
#: Forward mode of an op linear in all its tensor inputs together: the op itself, applied to the tangents.
LINEAR = "linear"
#: Forward mode of an op linear in each of its two tensor inputs: the sum of both.
BILINEAR = "bilinear"
REQUIRED: Any = object()
#: NumPy's parameter names, which PyTorch also accepts as keywords
NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}
_LITERALS = {"None": None, "True": True, "False": False, "inf": float("inf"), "-inf": float("-inf")}


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter: ``kind`` has no trailing ``?`` for statics, ``optional`` means None is allowed."""

    name: str
    kind: str
    value: bool
    optional: bool
    default: Any
    keyword_only: bool
    #: the letter of the memory it shares with results, or ""
    alias: str = ""
    #: the op writes to it
    written: bool = False
    #: whether it accepts tensors
    is_tensor: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_tensor", self.kind.startswith("Tensor"))


@dataclass(frozen=True, slots=True)
class Return:
    """One result: ``name`` is "" unless there are several, ``kind`` is one of the tensor kinds."""

    name: str
    kind: str
    #: it has no derivative
    const: bool
    #: the letter of the memory it shares with a parameter, or ""
    alias: str

    def __str__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"{'const ' if self.const else ''}{self.kind}{name}"


@dataclass(frozen=True, slots=True)
class Schema:
    """A parsed signature."""

    name: str
    params: tuple[Param, ...]
    #: the results; of the first form if there are several
    returns: tuple[Return, ...]
    #: the results of the other forms
    otherwise: tuple[tuple[Return, ...], ...] = ()

    #: the tensor-capable parameters, in order, to which `inputs` binds
    tensors: tuple[Param, ...] = field(init=False)
    #: all other parameters
    attrs: tuple[Param, ...] = field(init=False)
    #: what `check_attrs` checks; see `_checked`
    checked: tuple[tuple[Param, frozenset[type], str | None], ...] = field(init=False, repr=False)
    #: names and classes of attributes that `check_attrs` found right whatever their values
    fitting: set[tuple[Any, ...]] = field(default_factory=set, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tensors", tuple(p for p in self.params if p.is_tensor))
        object.__setattr__(self, "attrs", tuple(p for p in self.params if not p.is_tensor))
        object.__setattr__(self, "checked", tuple(_checked(self.attrs)))

    def __str__(self) -> str:
        parts: list[str] = []
        for p in self.params:
            if p.keyword_only and "*" not in parts:
                parts.append("*")
            kind = p.kind + ("?" if p.optional and not p.kind.endswith("?") and not p.is_tensor else "")
            tail = "" if p.default is REQUIRED else f"={p.default!r}"
            parts.append(f"{'value ' if p.value else ''}{kind} {p.name}{tail}")
        forms = (self.returns, *self.otherwise)
        return f"{self.name}({', '.join(parts)}) -> {'|'.join(map(_form, forms))}"

    @property
    def many(self) -> bool:
        """Whether a call returns a tuple: of several, of a varying number, or empty."""
        return len(self.returns) != 1 or self.returns[0].kind.endswith("[]")

    @property
    def differentiable(self) -> tuple[bool, ...] | None:
        """Which of several results have a derivative; None if all do."""
        flags = tuple(not r.const for r in self.returns)
        return None if all(flags) else flags


def _form(returns: tuple[Return, ...]) -> str:
    return str(returns[0]) if len(returns) == 1 else f"({', '.join(map(str, returns))})"


def _literal(text: str) -> Any:
    if text in _LITERALS:
        return _LITERALS[text]
    if text.startswith("["):
        return [_literal(t) for t in text[1:-1].split(",") if t.strip()]
    if text.startswith(("'", '"')):
        return text[1:-1]
    return float(text) if re.search(r"[.e]", text) else int(text)


def parse(text: str) -> Schema:
    """Parse a signature; ValueError says what is wrong with it."""
    match = re.fullmatch(r"\s*([A-Za-z_]\w*)\((.*)\) -> (.+)", text, re.S)
    if match is None:
        raise ValueError(f"not a signature: {text!r}")
    name, inner, outer = match.groups()
    params: list[Param] = []
    keyword_only = False
    for part in (p.strip() for p in re.split(r",(?![^\[]*\])", inner)):
        if part == "*":
            keyword_only = True
            continue
        if not part:
            continue
        m = re.fullmatch(r"(value )?(\S+) (\w+)(?:=(.*))?", part)
        if m is None:
            raise ValueError(f"{name}: cannot read parameter {part!r}")
        value, marked, pname, default = m.groups()
        kind, alias, written = _unmarked(marked)
        optional = kind.endswith("?")
        if not kind.startswith("Tensor"):
            kind = kind.rstrip("?")
        if kind not in (*TENSOR_KINDS, *STATIC_KINDS):
            raise ValueError(f"{name}: unknown kind {kind!r}")
        params.append(
            Param(
                pname,
                kind,
                bool(value),
                optional,
                REQUIRED if default is None else _literal(default),
                keyword_only,
                alias,
                written,
            )
        )
    forms = [_returns(name, form) for form in re.split(r"\|(?=\()", outer)]
    shared = {p.alias for p in params}
    unknown = {r.alias for form in forms for r in form} - shared - {""}
    if unknown:
        raise ValueError(f"{name}: no parameter has the memory {sorted(unknown)} of its results")
    return Schema(name, tuple(params), forms[0], tuple(forms[1:]))


def _unmarked(kind: str) -> tuple[str, str, bool]:
    """A kind without its mark, the mark's letter, and whether it marks a write."""
    m = re.fullmatch(r"Tensor\(([a-z])(!?)\)(.*)", kind)
    return (kind, "", False) if m is None else (f"Tensor{m[3]}", m[1], bool(m[2]))


def _returns(name: str, text: str) -> tuple[Return, ...]:
    """The results of one form."""
    several = text.startswith("(")
    found: list[Return] = []
    for part in re.split(r", ", text[1:-1]) if several else [text]:
        if several and not part:
            continue
        m = re.fullmatch(r"(const )?(\S+)(?: (\w+))?", part)
        kind, alias, _ = _unmarked(m[2]) if m is not None else ("", "", False)
        if m is None or kind not in RETURN_KINDS or bool(m[3]) is not several:
            raise ValueError(f"{name}: cannot read result {part!r}")
        found.append(Return(m[3] or "", kind, bool(m[1]), alias))
    return tuple(found)


def _int(v: Any) -> bool:
    return isinstance(v, int) and not isinstance(v, bool)


def _number(v: Any) -> bool:
    return isinstance(v, (bool, int, float, complex))


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "int": _int,
    "float": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "bool": lambda v: isinstance(v, bool),
    "str": lambda v: isinstance(v, str),
    "dtype": lambda v: isinstance(v, DType),
    "Number": _number,
    "index": lambda v: isinstance(v, (list, tuple)),
    "any": lambda v: True,
}


#: the classes that belong to a kind for certain
_EXACT: dict[str, frozenset[type]] = {
    "int": frozenset({int}),
    "float": frozenset({int, float}),
    "bool": frozenset({bool}),
    "str": frozenset({str}),
    "dtype": frozenset({DType}),
    "Number": frozenset({bool, int, float, complex}),
}
#: how many combinations of classes a schema remembers
_FITTING = 64
#: integers fit 64 bits, signed or unsigned
LEAST, GREATEST = -(1 << 63), (1 << 64) - 1
#: kinds as PyTorch's messages name them
_WORDS = {"dtype": "torch.dtype", "int[]": "tuple of ints", "float[]": "tuple of floats"}


def type_name(v: Any) -> str:
    """The class of a value as C code names it: with its module, unless built in or defined in Python."""
    kind = type(v)
    written_in_python = kind.__flags__ & (1 << 9)  # Py_TPFLAGS_HEAPTYPE
    return (
        kind.__name__
        if written_in_python or kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__name__}"
    )


def check_attrs(schema: Schema, attrs: dict[str, Any]) -> None:
    """Check attributes given in Python, replacing NumPy numbers and one-element tensors in `attrs` by their
    values. PyTorch's TypeError for another kind than the parameter's; OverflowError if an integer is too big.
    """
    classes = (*attrs, *map(type, attrs.values()))
    if classes in schema.fitting:
        return
    fitting = True
    for p, exact, one in schema.checked:
        v = attrs[p.name]
        if v.__class__ in exact:
            if v.__class__ is int:
                fitting = False
                check_int(v)
            continue
        fitting = False
        if v is None:
            raise _misfit(schema, p, v)
        elif one is None:
            attrs[p.name] = _plain(schema, p, p.kind, v)
        elif not isinstance(v, (list, tuple)):
            v = attrs[p.name] = _plain(schema, p, one, v)
            if v.__class__ is int:
                check_int(v)
        else:
            if not _EXACT[one].issuperset(map(type, v)):
                v = attrs[p.name] = tuple(_plain(schema, p, one, e) for e in v)
            for e in v:
                if e.__class__ is int:
                    check_int(e)
    if fitting and len(schema.fitting) < _FITTING:
        schema.fitting.add(classes)


def _checked(params: Iterable[Param]) -> Iterator[tuple[Param, frozenset[type], str | None]]:
    """For each parameter that `check_attrs` checks: the classes that certainly belong to its kind, and the
    element kind if it is a list.
    """
    for p in params:
        if p.kind not in ("any", "index"):
            exact = _EXACT.get(p.kind, frozenset())
            if p.optional or p.default is None:
                exact |= {type(None)}
            yield p, exact, p.kind[:-2] if p.kind.endswith("[]") else None


def check_int(v: int) -> None:
    """Raise OverflowError if an integer does not fit 64 bits."""
    if not LEAST <= v <= GREATEST:
        raise OverflowError("int too big to convert")


def _plain(schema: Schema, p: Param, kind: str, v: Any) -> Any:
    """A value of a kind, converted if needed; TypeError if that is impossible."""
    if not _CHECKS[kind](v):
        if kind == "int" and hasattr(v, "__index__") and not isinstance(v, bool):
            return v.__index__()
        if kind == "dtype" and type(v) is type and v in dtypes.BY_TYPE:
            return dtypes.BY_TYPE[v]
        if kind not in ("float", "Number") or not hasattr(v, "item"):
            raise _misfit(schema, p, v)
        v = v.item()
        if not _CHECKS[kind](v):
            raise _misfit(schema, p, v)
    return v


def _misfit(schema: Schema, p: Param, v: Any) -> TypeError:
    at = "" if p.keyword_only else f" (position {position(schema.name, schema.params.index(p))})"
    return TypeError(
        f"{schema.name}(): argument '{p.name}'{at} must be {_WORDS.get(p.kind, p.kind)}, not {type_name(v)}"
    )


def check_attr(p: Param, v: Any) -> None:
    """Raise TypeError unless `v` is of the parameter's kind; None is allowed if optional, and one int for a
    list of ints.
    """
    if v is None:
        if p.optional or p.default is None:
            return
    elif p.kind.endswith("[]"):
        one = _CHECKS[p.kind[:-2]]
        if isinstance(v, (list, tuple)):
            if all(one(e) for e in v):
                return
        elif one(v):
            return
    elif _CHECKS[p.kind](v):
        return
    raise TypeError(f"argument '{p.name}' must be {p.kind}, not {type(v).__name__}")
