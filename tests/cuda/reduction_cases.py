"""Calls of what reduces dimensions: sums, products, extremes, places and truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cuda.cases import Case, Make

_USUAL: dict[str, Any] = {"dim": None, "keepdim": False, "dtype": None}


def _real(shape: tuple[int, ...], **attrs: Any) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        return [rng.normal(0, 1, shape).astype(t)], attrs

    return make


def _near_one(shape: tuple[int, ...], **attrs: Any) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        return [np.exp(rng.normal(0, 0.01, shape)).astype(t)], {**_USUAL, **attrs}

    return make


def _tied(shape: tuple[int, ...], nan: float = 0.0, kind: str = "", low: int = -9, **attrs: Any) -> Make:
    """Whole numbers with ties, of a dtype of their own if `kind` says so."""

    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        a = rng.integers(low, 9, shape).astype(kind or t)
        if nan:
            a[rng.random(shape) < nan] = np.nan
        return [a], attrs

    return make


def _rare(shape: tuple[int, ...], usual: int, **attrs: Any) -> Make:
    """Ones or zeros but for a few."""

    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        return [np.where(rng.random(shape) < 0.02, 1 - usual, usual).astype(t)], {**attrs, "keepdim": False}

    return make


def _turned(make: Make) -> Make:
    """The same with arrays that lie in memory the other way around."""

    def turned(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        given, attrs = make(rng, t)
        return [np.asfortranarray(a) for a in given], attrs

    return turned


#: rows, columns, the middle, several, all, long ones, numbers
_SHAPES: tuple[tuple[tuple[int, ...], Any], ...] = (
    ((5, 7), 1), ((5, 33), 0), ((300, 3), 1), ((4, 5, 6), 1), ((4, 5, 6), [0, 2]), ((2, 3, 4, 5), [1, 3]),
    ((3, 2, 1, 4), [1, 2]), ((33, 70), None), ((300, 301), None), ((40000, 3), 0),
    ((3, 40000), 1), ((), None), ((1, 1), [0]), ((2, 5000, 40), 1),
)  # fmt: skip
_PLACES = tuple((shape, dim[0] if isinstance(dim, list) else dim) for shape, dim in _SHAPES)
_SIZES = (
    ((9, 4, 33), (33,)), ((9, 4, 33), (4, 33)), ((6, 5), (6, 1)), ((2, 3, 4, 5), (1, 3, 1, 1)), ((7,), ()),
    ((3000, 40), (40,)), ((2, 1, 3), (1, 1, 3)),
)  # fmt: skip

CASES = [
    *(
        Case(op, _real(shape, dim=dim, keepdim=dim == 1, dtype=None), f"{shape}-{dim}", 4096)
        for op in ("sum", "mean")
        for shape, dim in _SHAPES
    ),
    *(Case("sum_to_size", _real(shape, size=list(size)), f"{shape}-{size}", 1024) for shape, size in _SIZES),
    *(Case("prod", _near_one(shape, dim=dim), f"{shape}-{dim}", 4096) for shape, dim in _PLACES[:9:2]),
    *(
        Case(op, _tied(shape, nan, dim=[] if dim is None else dim, keepdim=False), f"{shape}-{dim}-{nan}", 0)
        for op in ("amax", "amin")
        for nan, some in ((0.0, _SHAPES[::2]), (0.01, _SHAPES[1::2]))
        for shape, dim in some
    ),
    *(
        Case(op, _tied(shape, nan, dim=dim, keepdim=dim == 1), f"{shape}-{dim}-{nan}", 0)
        for op in ("max_dim", "min_dim", "argmax", "argmin")
        for nan, some in ((0.0, _PLACES[::2]), (0.01, _PLACES[1::2]))
        for shape, dim in some
        if shape and (dim is not None or op[0] == "a")
    ),
    *(
        Case(op, _rare(shape, usual, dim=dim), f"{shape}-{dim}", 0)
        for op, usual in (("any", 0), ("all", 1))
        for shape, dim in _SHAPES[::3]
    ),
    Case("any", _tied((50, 3), kind="bool", low=0, dim=[0], keepdim=True), "flags", 0),
    Case("all", _tied((50, 3), kind="uint8", low=0, dim=None, keepdim=False), "bytes", 0),
    *(Case("count_nonzero", _tied(shape, dim=dim), f"{shape}-{dim}", 0) for shape, dim in _SHAPES[3:9]),
    Case("count_nonzero", _tied((40, 40), kind="bool", low=0, dim=None), "flags", 0),
    Case("max_all", _tied((70, 9), 0.001), "", 0),
    Case("min_all", _tied((70000,), kind="int64"), "whole", 0),
    Case("aminmax", _tied((9, 70), dim=0, keepdim=True), "", 0),
    Case("sum", _tied((9, 700), kind="int64", **{**_USUAL, "dim": [1]}), "whole", 0),
    Case("prod", _tied((9, 7), kind="int64", **{**_USUAL, "dim": 0}), "whole", 0),
    Case("amin", _tied((9, 7), kind="int32", dim=[0], keepdim=False), "whole", 0),
    Case("argmax", _tied((9, 7), kind="uint8", low=0, dim=1, keepdim=False), "bytes", 0),
    Case("sum", _turned(_real((9, 20), **{**_USUAL, "dim": [0]})), "turned", 256),
    Case("sum", _turned(_real((4, 9, 5), **{**_USUAL, "dim": [1]})), "inside", 256),
    Case("amax", _turned(_tied((4, 3, 2, 5), dim=[1, 3], keepdim=True)), "turned", 0),
    Case("max_dim", _turned(_tied((9, 20), dim=1, keepdim=False)), "turned", 0),
    Case("argmin", _turned(_tied((9, 20), dim=None, keepdim=False)), "turned", 0),
]  # fmt: skip
