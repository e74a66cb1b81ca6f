"""Hostile variations of calls, made from the declarations of their ops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from gradd_engine.data import dtypes
from gradd_engine.data.dtypes import DType
from gradd_engine.declare.declarators import REGISTRY
from gradd_engine.schema.op import Op
from gradd_engine.schema.schema import Param

from .valid import Call, Given, tensors

Rng = np.random.Generator
DTYPES = tuple(
    dtypes.by_name(n)
    for n in (
        "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
        "complex64", "complex128",
    )
)  # fmt: skip
LAYOUTS = ("contiguous", "transposed", "sliced", "expanded", "overlapping", "negative")
SHAPES = (
    (), (0,), (1,), (2,), (3,), (7,), (600,), (1, 1), (2, 3), (3, 2), (0, 3), (3, 0), (5, 5), (40, 30),
    (1, 2, 3), (2, 0, 3), (2, 3, 4), (4, 3, 3), (1, 2, 3, 4), (2, 3, 5, 6), (1, 1, 1, 1),
    (2, 2, 2, 2, 2), (1,) * 8,
)  # fmt: skip
FAR = (1 << 31, -(1 << 31), (1 << 31) - 1, 1 << 62, -(1 << 62), (1 << 63) - 1, -(1 << 63))
INTS = (0, 1, -1, 2, 3, -2, 5, 7, -7, 100, -300000, 300000, *FAR)
#: among static parameters a number without a sign may stand too
STATIC_INTS = (*INTS, (1 << 64) - 1)
FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, 2.5, float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 5e-324, 3e38,
    1e-40,
)  # fmt: skip
COMPLEX = (1j, complex("nan+nanj"), complex("inf-infj"), 1e308 + 1e308j)
STRINGS = (
    "none",
    "mean",
    "sum",
    "",
    "nope",
    "constant",
    "reflect",
    "amax",
    "prod",
    "linear",
    "tanh",
    "U",
    "A",
)


def _one(rng: Rng, some: Any) -> Any:
    return some[int(rng.integers(len(some)))]


def _values(rng: Rng, shape: tuple[int, ...], dtype: DType, tame: bool = False) -> Any:
    """Hostile values of a dtype, or tame ones (small, positive)."""
    if dtype is dtypes.bool_:
        return rng.random(shape) < 0.5
    if dtype.category == dtypes.INT:
        if tame:
            return rng.integers(0, 2, shape).astype(dtype.np)
        far = np.array([x for x in INTS if -(1 << 63) <= x < (1 << 63)], np.int64)
        mixed = np.where(rng.random(shape) < 0.4, rng.choice(far, shape), rng.integers(-3, 9, shape))
        return mixed.astype(dtype.np)
    found = rng.uniform(0.1, 1.5, shape)
    if not tame:
        wild = rng.choice(np.array(FLOATS), shape)
        found = np.where(rng.random(shape) < 0.4, wild, found - 0.8)
    if dtype.is_complex:
        found = found + 1j * rng.uniform(-1, 1, shape)
    with np.errstate(all="ignore"):
        return found.astype(dtype.np)


def _tensor(rng: Rng) -> Given:
    dtype = _one(rng, DTYPES)
    return Given(_values(rng, _one(rng, SHAPES), dtype), dtype, _one(rng, LAYOUTS))


def _shape(rng: Rng, shape: tuple[int, ...]) -> tuple[int, ...]:
    way = int(rng.integers(8))
    sizes = list(shape)
    if not sizes or way == 0:
        return _one(rng, SHAPES)  # type: ignore[no-any-return]
    at = int(rng.integers(len(sizes)))
    if way == 1:
        del sizes[at]
    elif way == 2:
        sizes.insert(at, int(_one(rng, (0, 1, 2, 3))))
    elif way == 3:
        sizes[at] = 0
    elif way == 4:
        sizes[at] = 1
    elif way == 5:
        sizes[at] = max(sizes[at] - 1, 0)
    elif way == 6:
        sizes[at] = sizes[at] + int(_one(rng, (1, 2, 50)))
    else:
        sizes.reverse()
    return tuple(sizes)


def _vary_tensor(rng: Rng, g: Given, count: int) -> Any:
    way = int(rng.integers(10))
    if way < 3:
        shape = _shape(rng, g.shape)
        return Given(_values(rng, shape, g.dtype, bool(rng.integers(2))), g.dtype, g.layout)
    if way == 3:
        dtype = _one(rng, DTYPES)
        with np.errstate(all="ignore"):
            return Given(np.asarray(g.values).astype(dtype.np), dtype, g.layout)
    if way == 4:
        return replace(g, layout=_one(rng, LAYOUTS))
    if way < 8:
        return Given(_values(rng, g.shape, g.dtype), g.dtype, g.layout)
    if way == 8 and count > 1:
        return replace(g, same_as=int(rng.integers(count)))
    return _tensor(rng)


def _input(rng: Rng, p: Param, x: Any, count: int) -> Any:
    """Another argument for a tensor parameter."""
    kind = p.kind
    if "[" in kind:
        items = list(x or [])
        way = int(rng.integers(5))
        if items and way == 0:
            del items[int(rng.integers(len(items)))]
        elif way == 1:
            items.insert(int(rng.integers(len(items) + 1)), _tensor(rng))
        elif way == 2 and kind == "Tensor?[]":
            items.insert(int(rng.integers(len(items) + 1)), None)
        elif items:
            at = int(rng.integers(len(items)))
            items[at] = _vary_tensor(rng, items[at], count) if isinstance(items[at], Given) else _tensor(rng)
        return items
    if (kind.endswith("?") or p.default is None) and rng.random() < 0.15:
        return None
    if "Number" in kind and rng.random() < 0.3:
        return _one(rng, (*INTS, *FLOATS, *COMPLEX, True))
    return _vary_tensor(rng, x, count) if isinstance(x, Given) else _tensor(rng)


def _scalar(rng: Rng, kind: str, value: bool) -> Any:
    if kind == "int":
        return _one(rng, INTS if value else STATIC_INTS)
    if kind == "float":
        return _one(rng, (*FLOATS, *INTS))
    if kind == "bool":
        return bool(rng.integers(2))
    if kind == "str":
        return _one(rng, STRINGS)
    if kind == "dtype":
        return _one(rng, DTYPES)
    if kind == "Number":
        return _one(rng, (*INTS, *FLOATS, *COMPLEX, True))
    return _one(rng, (None, 3, -1, 1 << 62, 2.5, "x", True, [], [1, 2], [[1], [2]], [None], [True, "y"]))


def _attribute(rng: Rng, p: Param, v: Any) -> Any:
    """Another value for a static or run-time parameter."""
    if p.optional and rng.random() < 0.1:
        return None
    if not p.kind.endswith("[]"):
        return _scalar(rng, p.kind, p.value)
    kind = p.kind[:-2]
    items = list(v) if isinstance(v, (list, tuple)) else [v] if v is not None else []
    way = int(rng.integers(6))
    if way == 0 and items:
        del items[int(rng.integers(len(items)))]
    elif way == 1:
        items.insert(int(rng.integers(len(items) + 1)), _scalar(rng, kind, False))
    elif way == 2 and kind == "int":
        return list(_one(rng, SHAPES))
    elif way == 3 and items and kind == "int":
        items[int(rng.integers(len(items)))] += int(_one(rng, (-1, 1, 2)))
    elif items:
        items[int(rng.integers(len(items)))] = _scalar(rng, kind, False)
    return items


def _anything(rng: Rng, op: Op, call: Call) -> Call:
    """Arguments that need not have to do with each other."""
    inputs = tuple(
        _input(rng, p, [_tensor(rng)] if "[" in p.kind else _tensor(rng), 1) for p in op.schema.tensors
    )
    attrs = {p.name: _attribute(rng, p, call.attrs.get(p.name)) for p in op.schema.attrs}
    return replace(call, inputs=inputs, attrs=attrs)


def vary(rng: Rng, call: Call) -> Call:
    """A call like `call`, wrong in one place or a few."""
    op = REGISTRY[call.op]
    how = rng.random()
    if how < 0.15:
        return _anything(rng, op, call)
    for _ in range(1 if how < 0.75 else 2 if how < 0.92 else 3):
        places: list[Callable[[Call], Call]] = []
        count = len(list(tensors(call.inputs)))
        for n, p in enumerate(op.schema.tensors):
            places += [lambda c, n=n, p=p, m=count: _with_input(rng, c, n, p, m)] * 2  # type: ignore[misc]
        for p in op.schema.attrs:
            places.append(  # type: ignore[misc]
                lambda c, p=p: replace(c, attrs={**c.attrs, p.name: _attribute(rng, p, c.attrs.get(p.name))})
            )
        if places:
            call = _one(rng, places)(call)
    return call


def _with_input(rng: Rng, call: Call, n: int, p: Param, count: int) -> Call:
    inputs = list(call.inputs)
    inputs[n] = _input(rng, p, inputs[n], count)
    return replace(call, inputs=tuple(inputs))


def tamed(rng: Rng, call: Call, valid: Call) -> Call:
    """The same geometry, kinds of numbers and static parameters with harmless values: those of `valid` where
    they fit.
    """
    known = iter(tensors(valid.inputs))
    op = REGISTRY[call.op]

    def tame(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [tame(e) for e in x]
        if isinstance(x, Given):
            other = next(known, None)
            if other is not None and other.shape == x.shape and other.dtype is x.dtype:
                return replace(x, values=other.values)
            return replace(x, values=_values(rng, x.shape, x.dtype, True))
        if isinstance(x, bool) or x is None:
            return x
        return type(x)(1)

    def harmless(n: str, v: Any) -> Any:
        late = op.params[n].value and isinstance(v, (int, float, complex)) and type(v) is not bool
        return type(v)(1) if late else v

    attrs = {n: harmless(n, v) for n, v in call.attrs.items()}
    return replace(call, inputs=tuple(tame(x) for x in call.inputs), attrs=attrs)
