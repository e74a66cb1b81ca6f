"""Samples of views."""

from __future__ import annotations

from typing import Any

from tests.ops.table import I, S, T


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
    "as_strided_scatter": [
        S(T(3, 4), T(2, 2), [2, 2], [4, 1], 1).torch(_scatter).no_layouts().no_graph(),
        S(T(6), T(2), [2], [2], 0).torch(_scatter).no_layouts().no_graph(),
    ],
    # detach_ writes nothing: no version counts
    "detach": [S(T(2, 3, grad=False)).no_inplace(), S(I(3, 9)).no_inplace()],
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
}
