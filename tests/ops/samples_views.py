"""Samples of views, copies and layout."""

from __future__ import annotations

from typing import Any

from gradd_engine.data.dtypes import float32, int64

from tests.ops.table import I, S, T, V


def _scatter(torch: Any, x: Any, src: Any, *where: Any) -> Any:
    out = x.clone()
    out.as_strided(*where).copy_(src)
    return out


SAMPLES = {
    "view": [
        S(T(2, 3, 4), [6, 4]).no_layouts().complex_too(),
        S(T(2, 3, 4), [2, -1]).no_layouts(),
        S(T(1, 3), [3, 1, 1]),
    ],
    "reshape": [S(T(2, 3, 4), [6, 4]).complex_too(), S(T(2, 3), [-1]), S(T(2, 3), [2, 3])],
    "expand": [S(T(3, 1), [3, 4]).complex_too(), S(T(3, 1), [2, -1, 4]), S(T(), [2])],
    "permute": [S(T(2, 3, 4), [2, 0, 1]).complex_too(), S(T(2, 3), [-1, 0]), S(T(), [])],
    "transpose": [S(T(2, 3, 4), 0, -1).complex_too(), S(T(2), 0, 0)],
    "t": [S(T(2, 3)).complex_too(), S(T(2)), S(T())],
    "as_strided": [
        S(T(3, 4), [2, 2], [4, 1]).no_layouts().complex_too(),
        S(T(3, 4), [2, 2], [1, 2], 1).no_layouts(),
        S(T(12), [3, 2], [2, 1], 3).no_layouts(),
    ],
    "as_strided_": [S(T(3, 4, grad=False), [2, 2], [4, 1]).no_layouts().no_grad()],
    "as_strided_scatter": [
        S(T(3, 4), T(2, 2), [2, 2], [4, 1], 1).torch(_scatter).no_layouts().no_graph(),
        S(T(6), T(2), [2], [2], 0).torch(_scatter).no_layouts().no_graph(),
    ],
    "clone": [S(T(2, 3)).complex_too(), S(T()), S(I(3, 9))],
    # detach_ writes nothing: no version counts
    "detach": [S(T(2, 3, grad=False)).no_inplace(), S(I(3, 9)).no_inplace()],
    "detach_": [S(T(2, 3, grad=False)), S(I(3, 9))],
    "sum_to_size": [S(T(2, 3, 4), [3, 1]).complex_too().no_graph()],
    "to_copy": [
        S(T(2, 3), float32).torch(lambda torch, x, dtype: x.to(dtype)).tol(1e-3).no_second().dtypes(""),
        S(T(2, 3), int64).no_grad().torch(lambda torch, x, dtype: x.to(dtype)),
    ],
    "conj_physical": [S(T(2, 3)).complex_too().no_graph().no_layouts()],
    "copy": [
        S(T(2, 3), T(3)).torch(lambda torch, a, b: a.clone().copy_(b)).no_graph().complex_too(),
        S(T(2, 3), I(3, 4)).torch(lambda torch, a, b: a.clone().copy_(b)).no_graph(),
    ],
    "fill": [S(T(2, 3), 2.5).no_graph(), S(T(2, 3), T()).no_graph()],
    "zero": [S(T(2, 3)).torch(lambda torch, a: a.clone().zero_()).no_graph()],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "view": [S(T(4), [2, 3]), S(T(2, 3), [-1, -1])],
    "reshape": [S(T(2, 3), [4])],
    "expand": [S(T(2, 3), [2, 4]), S(T(2), [-1, 2])],
    "permute": [S(T(2, 3), [0, 0]), S(T(2, 3), [0])],
    "transpose": [S(T(2, 3), 0, 5)],
    "t": [S(T(2, 3, 4))],
    "as_strided": [S(T(4), [2], [9]).no_layouts()],
    "sum_to_size": [S(T(2), [3])],
    "fill": [S(T(2), V([1.0]))],
}
