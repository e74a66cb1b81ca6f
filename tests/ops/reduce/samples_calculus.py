"""Samples of differences, slopes and areas of sampled functions."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

SAMPLES = {
    "diff": [
        S(T(2, 4)).complex_too(),
        S(T(2, 4), 2, 1),
        S(T(2, 4), 1, 0, T(1, 4), T(2, 4)),
        S(T(2, 4), 7),
        S(V([True, False, False], "bool", False)),
        S(T()).fails(),
    ],
    "gradient": [
        S(T(3, 4)).no_graph(),
        S(T(4), spacing=2.0, edge_order=2).no_graph(),
        S(T(4, 3), spacing=[V([0.0, 1.0, 3.0, 4.0], grad=False)], dim=0).no_graph().dtypes("float32"),
        S(T(4, 3), spacing=[V([0.0, 1.0, 3.0, 4.0], grad=False)], dim=0, edge_order=2)
        .no_graph()
        .dtypes("float32"),
        S(I([1, 4, 9])),
        S(T(2, 3), dim=5).fails(),
        S(T(1, 3), dim=0).fails(),
        S(T(2, 3), spacing=[1.0, 2.0, 3.0]).fails(),
        S(T(2, 3), dim=(0, 0)).fails(),
    ],
    **{
        name: [
            S(T(3, 4)).no_graph(),
            S(T(3, 4), dx=2.0, dim=0).no_graph(),
            S(T(3, 4), T(4)).no_graph(),
            S(T(3, 4), T(3, 4), dim=0).no_graph(),
            S(I([1, 2, 4])),
            S(T(3, 4), T(3)).fails(),
        ]
        for name in ("trapezoid", "trapz", "cumulative_trapezoid")
    },
}
