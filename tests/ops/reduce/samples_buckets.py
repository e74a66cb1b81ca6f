"""Samples of where values fall."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

SORTED = V([1.0, 2.0, 2.0, 4.0], grad=False)

SAMPLES = {
    "searchsorted": [
        S(SORTED, V([0.0, 2.0, 5.0], grad=False)).no_grad().dtypes("float32 bool complex64"),
        S(SORTED, V([[0.0, 2.0], [5.0, 1.0]], grad=False), right=True).no_grad().dtypes(""),
        S(SORTED, 2.0, side="right", out_int32=True).no_grad().dtypes(""),
        S(V([[1.0, 3.0], [2.0, 4.0]], grad=False), V([[2.0], [2.0]], grad=False)).no_grad().dtypes(""),
        S(V([3.0, 1.0, 2.0], grad=False), V([1.5], grad=False), sorter=I([1, 2, 0])).no_grad().dtypes(""),
    ],
    "bucketize": [
        S(V([[0.0, 2.0], [5.0, 1.0]], grad=False), SORTED).no_grad().dtypes("float32 bool complex64"),
        S(2.0, SORTED, right=True).no_grad().dtypes(""),
    ],
    "isin": [
        S(I([[1, 2], [3, 4]]), I([2, 4])),
        S(T(2, 2, grad=False), T(3, grad=False)).no_grad().dtypes(""),
        S(I([1, 2]), 2, invert=True),
        S(2, I([1, 2])),
    ],
    "histc": [
        S(T(9, grad=False), 4, -1, 1).no_grad().dtypes("float32 int64"),
        S(T(9, grad=False), bins=3).no_grad().dtypes("").no_layouts(),
    ],
    "bincount": [
        S(I([0, 2, 2, 5])).dynamic(),
        S(I([0, 2, 2]), V([0.5, 1.0, 2.0], grad=False), minlength=6).no_grad().dtypes("float32").dynamic(),
    ],
}
