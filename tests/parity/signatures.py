"""Which arguments PyTorch's functions and methods take, and which of them gradd's do not.

PyTorch says it in the stubs that it is shipped with, in the signatures of what is Python there, and in the
first lines of docstrings; gradd in the forms that its own stubs are written from.
"""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from gradd_engine.schema import REGISTRY

from tools.face.forms import ALIASES, KEYWORD, SPREAD, Form, forms_of

#: the namespaces, and how gradd's table of names calls them
SPACES = {
    "torch": "",
    "torch.Tensor": "Tensor",
    "torch.nn.functional": "nn.functional",
    "torch.linalg": "linalg",
    "torch.special": "special",
    "torch.fft": "fft",
}


@dataclass(frozen=True)
class Argument:
    """One argument: the kinds of what it may be, empty where nothing says it."""

    name: str
    kinds: frozenset[str]
    required: bool
    keyword: bool
    spread: bool = False

    def __str__(self) -> str:
        kinds = f": {' | '.join(sorted(self.kinds))}" if self.kinds else ""
        return f"{'*' * self.spread}{self.name}{kinds}{'' if self.required or self.spread else '='}"


Call = tuple[Argument, ...]

_KINDS = (
    (r"\b(tuple|list|Sequence|Iterable)\[Tensor\b[^\]]*\]|_TensorOrTensors\w*", "tensors"),
    (r"\b(Sequence|tuple|list|BroadcastingList\d)\[(_?int|SymInt)[^\]]*\]|_size\b|\bSize\b", "ints"),
    (r"\bTensor\b", "Tensor"),
    (r"\b(Number|_complex|_float|float|complex|builtins\.float)\b", "Number"),
    (r"\b(_?int|SymInt|builtins\.int)\b", "int"),
    (r"\b(_?bool|builtins\.bool)\b", "bool"),
    (r"\bstr\b", "str"),
    (r"\b_?dtype\b", "dtype"),
)  # fmt: skip


def _kinds(annotation: str) -> frozenset[str]:
    if "EllipsisType" in annotation:  # a name of a dimension
        return frozenset({"name"})
    found = set()
    for pattern, kind in _KINDS:
        annotation, n = re.subn(pattern, " ", annotation)
        if n:
            found.add(kind)
    return frozenset() if "Any" in annotation else frozenset(found)


def _call(function: ast.FunctionDef, method: bool = False) -> Call:
    a = function.args
    places = [*a.posonlyargs, *a.args]
    defaults = [None] * (len(places) - len(a.defaults)) + list(a.defaults)

    def one(arg: ast.arg, default: Any, keyword: bool, spread: bool = False) -> Argument:
        text = "" if arg.annotation is None else ast.unparse(arg.annotation)
        return Argument(
            "input" if arg.arg == "self" else arg.arg,
            _kinds(text),
            default is None and not spread,
            keyword,
            spread,
        )

    found = [one(x, d, False) for x, d in zip(places, defaults, strict=True)]
    if a.vararg is not None:
        found.append(one(a.vararg, None, False, True))
    found += [one(x, d, True) for x, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    return tuple(found[1:] if method else found)


@cache
def _stub(name: str, holder: str = "") -> Mapping[str, list[Call]]:
    """The calls of the functions, or of the methods of a class, in one of PyTorch's stubs."""
    import torch

    tree = ast.parse((Path(torch.__file__).parent / "_C" / name).read_text())
    body = tree.body if not holder else next(
        n.body for n in tree.body if isinstance(n, ast.ClassDef) and n.name == holder
    )  # fmt: skip
    found: dict[str, list[Call]] = defaultdict(list)
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found[node.name].append(_call(node, bool(holder)))
    return found


def _parsed(text: str) -> Call:
    (node,) = ast.parse(f"def f{text}: ...").body
    assert isinstance(node, ast.FunctionDef)
    return _call(node)


def _told(doc: str, name: str) -> list[Call]:
    """The calls that the first line of a docstring shows."""
    text = re.match(rf"\s*(?:[\w.]*\.)?{name}(\(.*?\)) *->", doc, re.S)
    if text is None:
        return []
    try:
        return [_parsed(text[1])]
    except SyntaxError:
        return []


def _of_python(fn: Any, method: bool) -> list[Call]:
    given = [
        Argument(
            "input" if p.name == "self" else p.name,
            _kinds(str(p.annotation)) if p.annotation is not p.empty else frozenset(),
            p.default is p.empty and p.kind is not p.VAR_POSITIONAL,
            p.kind is p.KEYWORD_ONLY,
            p.kind is p.VAR_POSITIONAL,
        )
        for p in inspect.signature(fn).parameters.values()
        if p.kind is not p.VAR_KEYWORD and not p.name.startswith("_")
    ]
    return [tuple(given[1:] if method else given)]


def theirs(space: str, name: str, fn: Any) -> list[Call]:
    """How one of PyTorch's functions may be called; empty where it does not say."""
    method = space == "torch.Tensor"
    if isinstance(fn, FunctionType):
        return [c for c in _of_python(fn, method) if _says(name, c)]
    found = list(_stub("__init__.pyi", "TensorBase" if method else "").get(name, ()) if method else ())
    if space in ("torch", "torch.nn.functional"):
        found += _stub("_VariableFunctions.pyi").get(name, ())
    if not found and space == "torch.nn.functional":
        found += _stub("_nn.pyi").get(name, ())
    if not found:
        found = _told(fn.__doc__ or "", name)
    return [c for c in found if _says(name, c)]


def _says(name: str, call: Call) -> bool:
    """Whether a call says what it takes, has no names of dimensions, and is not of before PyTorch 1.5 with
    numbers before tensors (tests/client/test_former_calls.py has these).
    """
    op = REGISTRY.get(name)
    if any(a.name == "names" or "name" in a.kinds for a in call):
        return False
    former = op.surface.numbers_first.split() if op is not None else []
    return not any((a.name in former and not a.keyword) or (a.spread and a.name == "args") for a in call)


def documented(space: str) -> Iterator[tuple[str, Any]]:
    """PyTorch's public functions of a namespace that have a docstring."""
    import torch

    holder: Any = torch
    for part in space.split(".")[1:]:
        holder = getattr(holder, part)
    for name in sorted(vars(torch._C.TensorBase) | vars(holder) if space == "torch.Tensor" else dir(holder)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fn = getattr(holder, name)
        if (
            name.startswith(("_", "has_torch_function"))
            or not callable(fn)
            or isinstance(fn, type)
            or not fn.__doc__
        ):
            continue
        if not _computes(space, fn):
            continue
        yield name, fn


def _computes(space: str, fn: Any) -> bool:
    """Whether it computes with tensors: a built-in function, or one that the namespace's own files have."""
    module = getattr(fn, "__module__", None) or ""
    if space == "torch":
        return not isinstance(fn, FunctionType) or module == "torch.functional"
    return module not in ("torch.overrides", "typing", "torch._jit_internal")


def ours(space: str, name: str) -> tuple[Any, list[Form]] | None:
    """gradd's function of a name, and its forms."""
    import gradd

    holder: Any = gradd
    for part in space.split(".")[1:]:
        holder = getattr(holder, part)
    fn = getattr(holder, name, None)
    return None if not callable(fn) else (fn, forms_of(fn, name, SPACES[space]))


def _fits(argument: Argument, kinds: frozenset[str]) -> bool:
    """Whether a parameter of these kinds takes what the argument may be."""
    if not kinds or not argument.kinds or argument.name in ("out", "dtype"):
        return True
    wide = kinds | ({"int", "bool"} if "Number" in kinds else set()) | ({"bool"} if "int" in kinds else set())
    return argument.kinds <= wide or (argument.kinds <= {"int", "ints"} and "ints" in kinds)


def _takes(form: Form, call: Call) -> bool:
    """Whether a form takes a call, whose arguments are given by position where they may be."""
    own = [p for p in form.parameters if p.how != KEYWORD]
    by_name = {p.name: p for p in form.parameters}
    places = iter(own)
    met = set()
    for argument in call:
        if argument.keyword:
            p = by_name.get(argument.name)
        elif argument.spread:
            p = next((q for q in own if q.how == SPREAD), None)
        else:
            p = next(places, None)
            if p is not None and p.how == SPREAD:
                places = iter([p])
        if p is None or not _fits(argument, _kinds(p.type)):
            return False
        met.add(p.name)
    return all(p.name in met or p.default is not None or p.how == SPREAD for p in form.parameters)


def missing(space: str, name: str, fn: Any) -> Iterator[str]:
    """What gradd's function does not take of what PyTorch's does, by name, or a whole call as PyTorch has it;
    "absent" where there is no such function.
    """
    mine = ours(space, name)
    if mine is None:
        yield "absent"
        return
    calls, forms = theirs(space, name, fn), mine[1]
    names = {p.name for form in forms for p in form.parameters} | ALIASES
    lacking = {a.name for call in calls for a in call if not a.spread} - names
    yield from sorted(lacking)
    known = [call for call in calls if not lacking & {a.name for a in call}]
    for call in dict.fromkeys(known):
        if not any(_takes(form, call) for form in forms):
            yield f"({', '.join(map(str, call))})"


def all_missing() -> dict[str, list[str]]:
    """What is missing: by function, or by ``function:argument``, the calls that it is of; ``function:call``
    where all arguments are known, and not together.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for space in SPACES:
        for name, fn in documented(space):
            for gap in missing(space, name, fn):
                known = f"{space}.{name}"
                tail = "" if gap == "absent" else ":call" if gap.startswith("(") else f":{gap}"
                found[known + tail].append(gap)
    return found
