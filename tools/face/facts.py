"""What an op says of its results and of what it refuses: asked of it on the meta backend, with geometries
that ops take, and read off the refusals that its `infer` is written with.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import warnings
from collections.abc import Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from gradd_engine.backends.meta import MetaBackend
from gradd_engine.data import ambient, dtypes
from gradd_engine.ops.shared.constants import zeros
from gradd_engine.schema.schema import REQUIRED

if TYPE_CHECKING:
    from gradd_engine.data import DType
    from gradd_engine.schema import Op, Param

META = MetaBackend()
#: shapes that tensor inputs are tried with, in order; the last one stands for all that follow
_GEOMETRIES = (
    ((2, 3),),
    ((3, 3),),
    ((2, 3), (3, 4)),
    ((2, 3), (3,)),
    ((3,),),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 3, 8), (4, 3, 2), (4,)),
    ((2, 3, 8, 8), (4, 3, 2, 2), (4,)),
    ((2, 3, 8, 8, 8), (4, 3, 2, 2, 2), (4,)),
    ((2, 3, 8, 8),),
)
#: what required parameters are given, by kind
_GIVEN: dict[str, Any] = {
    "int": 1, "int[]": [1], "float": 0.5, "float[]": [0.5], "bool": False, "Number": 1, "any": 1,
}  # fmt: skip
_DTYPES = (dtypes.float32, dtypes.int64, dtypes.bool_, dtypes.complex64)
_KINDS = {"int64": "integers", "bool": "bools", "complex64": "complex numbers", "float32": "floats"}
_REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)
#: refusals that are quoted, at most, and how deep they are looked for below `infer`
_QUOTED, _DEEP = 3, 1


def _value(p: Param, shapes: Iterator[tuple[int, ...]], dtype: DType) -> Any:
    if p.kind.startswith("Tensor"):
        places = p.name in ("index", "indices", "target")
        made = zeros(list(next(shapes)), dtype=dtypes.int64 if places else dtype)
        return [made, zeros(list(made.shape), dtype=dtype)] if "[" in p.kind else made
    return _GIVEN[p.kind]


def _tried(op: Op, geometry: tuple[tuple[int, ...], ...], dtype: DType) -> list[Any]:
    """The outputs of an op for inputs of a geometry and a dtype; raises what it raises."""

    def shapes() -> Iterator[tuple[int, ...]]:
        yield from geometry
        while True:
            yield geometry[-1]

    given = shapes()
    with ambient(backend=META), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = {p.name: _value(p, given, dtype) for p in op.schema.params if p.default is REQUIRED}
        found = op.call(**values)
    return list(found) if isinstance(found, (tuple, list)) else [found]


def _shape(op: Op, geometry: tuple[tuple[int, ...], ...]) -> list[tuple[int, ...]] | None:
    try:
        return [tuple(t.shape) for t in _tried(op, geometry, dtypes.float32)]
    except (*_REFUSALS, KeyError, AttributeError, ArithmeticError):
        return None


@functools.cache
def _fitting(name: str, op: Op) -> tuple[tuple[int, ...], ...] | None:
    return next((g for g in _GEOMETRIES if _shape(op, g) is not None), None)


def _on_shapes(op: Op) -> str | None:
    tensors = [p for p in op.schema.tensors if p.default is REQUIRED]
    geometry = _fitting(op.name, op)
    if geometry is None or not tensors or any(r.kind.endswith("[]") for r in op.schema.returns):
        return None
    same = [_shape(op, (s,)) == [s] for s in ((2, 3), (3,), (4, 2, 3))]
    if all(same):
        if len(tensors) == 1:
            return "Shape: the input's."
        if _shape(op, ((2, 1), (3,))) == [(2, 3)]:
            return "Shape: the inputs', broadcast."
        return "Shape: that of the inputs, which is one."
    inside = [str(geometry[min(i, len(geometry) - 1)]) for i in range(len(tensors))]
    inside = [f"[{s}, {s}]" if "[" in p.kind else s for p, s in zip(tensors, inside, strict=True)]
    outside = [str(s) for s in _shape(op, geometry) or ()]
    return f"Shapes: {', '.join(inside)} -> {', '.join(outside)}."


def _joined(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _on_dtypes(op: Op) -> list[str]:
    geometry = _fitting(op.name, op)
    if geometry is None or not any(p.default is REQUIRED for p in op.schema.tensors):
        return []
    found: dict[DType, list[str]] = {}
    refused: dict[str, list[str]] = {}
    for dtype in _DTYPES:
        try:
            found[dtype] = [t.dtype.name for t in _tried(op, geometry, dtype)]
        except _REFUSALS as error:
            refused.setdefault(type(error).__name__, []).append(_KINDS[dtype.name])
    given: dict[str, list[str]] = {}
    fixed = [len(found) > 1 and len(set(names)) == 1 for names in zip(*found.values(), strict=False)]
    for dtype, names in found.items():
        words = [
            name if always or name != dtype.name else "the input's"
            for name, always in zip(names, fixed, strict=False)
        ]
        given.setdefault(", ".join(words), []).append(_KINDS[dtype.name])
    facts = []
    if given:
        common = max(given, key=lambda words: len(given[words]))
        others = [f"{words} of {_joined(kinds)}" for words, kinds in given.items() if words != common]
        facts.append(f"dtype: {'; '.join([common, *others])}.")
    facts += [f"{error} for {_joined(kinds)}." for error, kinds in refused.items() if given]
    return facts


# -- refusals -------------------------------------------------------------------------------------------


@functools.cache
def _tree(file: str) -> ast.Module:
    with open(file) as f:
        return ast.parse(f.read())


def _body(fn: FunctionType) -> ast.AST | None:
    """The text of a function, or of a lambda, that stands in a file of the engine."""
    file, line = fn.__code__.co_filename, fn.__code__.co_firstlineno
    if "gradd_engine" not in file or not file.endswith(".py"):
        return None
    for node in ast.walk(_tree(file)):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node.lineno == line:
            return node
    return None


def _text(node: ast.expr) -> str:
    """A message as it is written; what is put in when it is raised stands as its expression."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "..." for v in node.values)
    return ""


def _raised(fn: Any, deep: int = _DEEP) -> Iterator[tuple[str, str]]:
    """The exceptions that a function is written with, class and message, and those of what it calls."""
    fn = inspect.unwrap(fn)
    body = _body(fn) if isinstance(fn, FunctionType) else None
    if body is None:
        return
    for node in ast.walk(body):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            error = ast.unparse(node.exc.func)
            message = _text(node.exc.args[0]).strip()
            said = len(message.replace("...", "").split()) > 2 and not message.startswith('"...')
            if said and error.endswith("Error"):
                yield error, message
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and deep:
            yield from _raised(fn.__globals__.get(node.func.id), deep - 1)


def _on_refusals(op: Op) -> list[str]:
    found: dict[tuple[str, str], None] = {}
    # Which dtypes a kernel has not is asked.
    for fn in (op.infer, op.check_values, op.composite if op.infer is None else None):
        if fn is not None:
            found.update(dict.fromkeys(_raised(fn)))
    return [
        f"{error}: {textwrap.shorten(message, 100, placeholder=' ...')}"
        for error, message in list(found)[:_QUOTED]
    ]


def facts_of(op: Op) -> list[str]:
    """Sentences on the shape and dtype of an op's result, and on what it refuses; of the forms in place
    those of the other.
    """
    if op.base is not None or not op.tensor_slots:
        return []
    shape = _on_shapes(op)
    types, *refused = _on_dtypes(op) or [""]
    first = " ".join(filter(None, (shape, types)))
    raises = [f"Raises {fact}" for fact in [*refused, *_on_refusals(op)]]
    return [line for line in (first, *raises) if line]
