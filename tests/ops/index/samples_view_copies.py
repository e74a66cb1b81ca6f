"""Samples of what views show, copied."""

from __future__ import annotations

from gradd_engine.data.dtypes import int64

from tests.ops.table import S, T


def _one(*args: object, **attrs: object) -> list:
    return [S(T(3, 4), *args, **attrs).complex_too().no_graph()]


SAMPLES = {
    "alias_copy": _one(),
    "as_strided_copy": [S(T(3, 4), [2, 2], [1, 3], 1).dtypes("").no_graph().no_layouts()],
    "detach_copy": [S(T(3, 4)).no_grad()],
    "expand_copy": _one([2, 3, 4]),
    "narrow_copy": _one(1, 1, 2),
    "permute_copy": _one([1, 0]),
    "select_copy": _one(1, 2),
    "slice_copy": [*_one(1, 0, 3, 2), S(T(3, 4)).dtypes("").no_graph()],
    "squeeze_copy": [S(T(1, 3, 1)).no_graph(), S(T(1, 3, 1), 0).dtypes("").no_graph()],
    "t_copy": _one(),
    "transpose_copy": _one(0, 1),
    "unfold_copy": _one(1, 2, 1),
    "unsqueeze_copy": _one(1),
    "view_as_complex_copy": [S(T(3, 2)).no_grad().dtypes("float32").no_layouts()],
    "view_as_real_copy": [S(T(3, dtype="complex128")).dtypes("").no_graph()],
    "view_copy": [
        S(T(3, 4), [2, 6]).no_graph().no_layouts(),
        S(T(3, 4), dtype=int64).no_grad().dtypes("").no_layouts(),
    ],
    "split_copy": [S(T(5, 2), 2).no_graph(), S(T(5, 3), 2, 1).dtypes("").no_graph()],
    "split_with_sizes_copy": [S(T(5, 2), [2, 3]).no_graph()],
    "unbind_copy": [S(T(3, 2)).no_graph(), S(T(3, 2), 1).dtypes("").no_graph()],
}
