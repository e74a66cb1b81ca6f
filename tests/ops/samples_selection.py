"""Samples of quantiles, modes and places among others."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

NAN = float("nan")
Q = V([0.0, 0.3, 1.0], grad=False)
SORTED = V([1.0, 2.0, 2.0, 4.0], grad=False)

SAMPLES = {
    "quantile": [
        S(T(5), 0.3).no_graph().dtypes("float32 int64"),
        S(T(2, 5), 0.5, dim=1).no_graph().dtypes(""),
        S(T(2, 5), Q, dim=0, keepdim=True).no_graph().dtypes(""),
        S(T(2, 3, 2), Q).no_graph().dtypes(""),
        *(
            S(T(6), 0.4, interpolation=m).no_graph().dtypes("")
            for m in ("lower", "higher", "midpoint", "nearest")
        ),
        S(V([1.0, NAN, 3.0]), 0.5).no_graph().kink().dtypes(""),
        S(T(), 0.5).no_graph().dtypes(""),
    ],
    "nanquantile": [
        S(V([1.0, NAN, 3.0, 7.0]), 0.3).no_graph().kink().dtypes(""),
        S(V([[1.0, NAN], [4.0, 5.0]]), Q, dim=1).no_graph().kink().dtypes(""),
        S(T(3, 2), 0.5, dim=0, keepdim=True).no_graph().dtypes(""),
    ],
    "mode": [
        S(V([3.0, 1.0, 3.0, 1.0, 2.0])).kink().dtypes("float32"),
        S(I([[1, 2, 2], [3, 3, 1]]), 0, keepdim=True),
        S(T(2, 4)).dtypes(""),
        S(T(4, 3), 0, True).dtypes(""),
        S(T()).dtypes(""),
    ],
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
        S(T(9, grad=False), bins=3).no_grad().dtypes("").dynamic().no_layouts(),
    ],
    "bincount": [
        S(I([0, 2, 2, 5])).dynamic(),
        S(I([0, 2, 2]), V([0.5, 1.0, 2.0], grad=False), minlength=6).no_grad().dtypes("float32").dynamic(),
    ],
}
