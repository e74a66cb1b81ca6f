"""Calls of products of matrices, and operands of every layout."""

from __future__ import annotations

from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from tests.cuda.cases import Case, Make

DTYPES = (np.float32, np.float64, np.float16, bfloat16)
#: of two matrices: rows, what is added up, columns
SHAPES = [(3, 5, 4), (1, 6, 3), (4, 1, 5), (5, 3, 1), (1, 1, 1), (1, 7, 1), (17, 33, 9)]
#: how a matrix may lie: by rows or by columns, in a larger array, and so that nothing in it has neighbours
LAYOUTS = ("rows", "columns", "inside", "columns inside", "apart")


def laid(xp: Any, values: Any, layout: str) -> Any:
    """An array of the device with these values; what is around it is nan. "between" is for batches: rows of a
    matrix lie between those of the others, as the heads of attention do.
    """
    if layout == "rows":
        return xp.asarray(values)
    if layout == "between":
        return xp.asarray(np.moveaxis(values, 0, -2)).swapaxes(-2, -3)
    if layout.startswith("columns"):
        turned = layout.removeprefix("columns ").replace("columns", "rows")
        return laid(xp, np.swapaxes(values, -1, -2), turned).swapaxes(-1, -2)
    inside = layout == "inside"
    around = np.full([n + 3 if inside else 2 * n for n in values.shape], np.nan, values.dtype)
    where = tuple(slice(1, n + 1) if inside else slice(None, None, 2) for n in values.shape)
    around[where] = values
    return xp.asarray(around)[where]


def whole_numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    """Whole numbers whose sums of products are exact in every dtype, in any order."""
    return rng.integers(-2, 3, shape).astype(dtype)


def _given(*shapes: tuple[int, ...], **attrs: Any) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        return [np.asarray(rng.normal(size=shape)).astype(t) for shape in shapes], attrs

    return make


_PLAIN: dict[str, Any] = {"beta": 1, "alpha": 1}
_SCALED: dict[str, Any] = {"beta": 0.5, "alpha": -2}

CASES = [
    Case("mm", _given((3, 5), (5, 4))),
    Case("mm", _given((70, 33), (33, 65)), "large", 256),
    Case("mm", _given((1, 7), (7, 1)), "dot"),
    Case("mm", _given((2, 0), (0, 3)), "no-columns"),
    Case("mm", _given((0, 2), (2, 3)), "no-rows"),
    Case("mv", _given((9, 4), (4,))),
    Case("mv", _given((3, 0), (0,)), "no-columns"),
    Case("bmm", _given((4, 3, 5), (4, 5, 2))),
    Case("bmm", _given((0, 3, 5), (0, 5, 2)), "none"),
    Case("bmm", _given((2, 3, 0), (2, 0, 2)), "no-columns"),
    Case("addmm", _given((4,), (3, 5), (5, 4), **_PLAIN)),
    Case("addmm", _given((3, 1), (3, 5), (5, 4), **_SCALED), "scaled"),
    Case("addmm", _given((3, 4), (3, 5), (5, 4), beta=0, alpha=3), "not-added"),
    Case("addmm", _given((3, 4), (3, 0), (0, 4), **_SCALED), "no-columns"),
    Case("addmv", _given((1,), (3, 5), (5,), **_SCALED)),
    Case("baddbmm", _given((2, 1, 4), (2, 3, 5), (2, 5, 4), **_SCALED)),
    Case("baddbmm", _given((2, 3, 4), (2, 3, 0), (2, 0, 4), beta=True, alpha=1), "no-columns"),
]
