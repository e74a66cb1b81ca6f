"""Samples of quantiles and the most frequent value."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

NAN = float("nan")
Q = V([0.0, 0.3, 1.0], grad=False)

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
}
