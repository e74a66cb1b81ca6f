"""What an instruction computes of each element, as C++: from the recipe of its kernel, or a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gradd_engine.tracing import Copy, KernelCall, Place, RuntimeValue

from .recipes import recipe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.backends.array import ArrayBackend
    from gradd_engine.data import DType, Meta

    from .recipes import Recipe

#: recipes that a process remembers
KINDS = 4096
#: sizes at which kernels are watched, whatever theirs are
_SMALL = 3


class Operand(NamedTuple):
    """What is read: a place, a run-time number or a constant; and the dtype's character as which the
    expression takes it.
    """

    of: Any
    kind: str


class Formula(NamedTuple):
    """Lines of C++, the last of which is the result. Names of operands, then of lines before, are written as
    ``{0}``, ``{1}`` and so on; ``{key}`` is a random key.
    """

    operands: tuple[Operand, ...]
    #: (expression, dtype's character)
    lines: tuple[tuple[str, str], ...]
    shape: tuple[int, ...]
    random: bool = False


def kind_of(dtype: DType) -> str | None:
    """The character of a dtype that fused kernels know; None for others."""
    char = "E" if dtype.np.name == "bfloat16" else {"l": "q"}.get(dtype.np.char, dtype.np.char)
    return char if char in "fdeEqihbB?" else None


_recipes: dict[Any, Recipe | None] = {}


def formula(i: Any, backend: ArrayBackend, fusing: Any) -> Formula | None:
    """What an instruction computes; None unless each element of its one result is computed from the elements
    at its place, and how is known.
    """
    if isinstance(i, Copy):
        kind = kind_of(i.source.dtype)
        same = kind == kind_of(i.target.dtype) and i.source.shape == i.target.shape
        return None if kind is None or not same else Formula((Operand(i.source, kind),), (), i.target.shape)
    if not isinstance(i, KernelCall) or i.op.many or len(i.metas) != 1 or any(i.op.written):
        return None
    meta = i.metas[0]
    made = kind_of(meta.dtype)
    if made is None or any(isinstance(v, RuntimeValue) for v in i.attrs.values()):
        return None
    operands = _operands(i, meta, backend)
    if operands is None:
        return None
    make = fusing.ELEMENTS.get(i.op.name)
    found = None if make is None else make([o.kind for o in operands], made, i.attrs)
    if found is not None:
        reads = operands[len(operands) - found.reads :]
        return Formula(reads, found.lines, tuple(meta.shape), found.random)
    return None if i.op.random else _composed(i, operands, made, fusing)


def _operands(i: KernelCall, meta: Meta, backend: ArrayBackend) -> tuple[Operand, ...] | None:
    """The arguments that are not None, in the dtypes that the kernel gets them in."""
    found = []
    for a in i.args:
        if a is None:
            continue
        compute = meta.compute
        if isinstance(a, Place):
            wide = a.dtype.is_half if compute is None else compute.is_half
            kind = "f" if wide else kind_of(a.dtype if compute is None else compute)
            if kind_of(a.dtype) is None:
                return None
        elif isinstance(a, (RuntimeValue, bool, int, float)):
            if compute is None:
                return None
            kind = "f" if compute.is_half else kind_of(compute)
            if not isinstance(a, RuntimeValue):
                a = backend.number(a, compute)
        else:
            return None
        if kind is None:
            return None
        found.append(Operand(a, kind))
    return tuple(found)


def _composed(i: KernelCall, operands: Sequence[Operand], made: str, fusing: Any) -> Formula | None:
    """A kernel that calls ufuncs alone: what it is watched at are small arrays."""
    op, shape = i.op, tuple(i.metas[0].shape)
    if not op.elementwise:
        return None
    small = tuple(_SMALL + d for d in range(len(shape))) or (1,)
    geometry = []
    for o in operands:
        sizes = o.of.shape if isinstance(o.of, Place) else ()
        begin = len(shape) - len(sizes)
        form = tuple(1 if n == 1 != shape[begin + d] else small[begin + d] for d, n in enumerate(sizes))
        # A result of no dimensions would be a scalar between two calls.
        geometry.append((form if shape else small, np.dtype(o.kind)))
    nones = tuple(a is None for a in i.args)
    worked = "f" if made in "eE" else made
    key = (op.name, tuple(geometry), nones, tuple((n, type(v), repr(v)) for n, v in i.attrs.items()), worked)
    if key not in _recipes:
        if len(_recipes) >= KINDS:
            _recipes.clear()

        def run(xp: Any, *given: Any, **attrs: Any) -> Any:
            rest = iter(given)
            return op.impl(xp, *[None if none else next(rest) for none in nones], **attrs)

        _recipes[key] = recipe(run, np, geometry, i.attrs, (small, np.dtype(worked)))
    calls = _recipes[key]
    if calls is None:
        return None
    lines = []
    for call in calls:
        names = []
        for (at, number), kind in zip(call.operands, call.kinds, strict=False):
            given = fusing.literal(np.frombuffer(number, kind)[0]) if number else f"{{{at}}}"
            names.append(given)
        text = fusing.ufunc(call.ufunc.__name__, call.kinds, names)
        if text is None:
            return None
        lines.append((text, {"l": "q"}.get(call.kinds[-1], call.kinds[-1])))
    last = len(operands) + len(lines) - 1
    return Formula(tuple(operands), (*lines, *fusing.cast_lines(f"{{{last}}}", worked, made)), shape)
