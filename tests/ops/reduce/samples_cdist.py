"""Samples of distances between rows."""

from __future__ import annotations

from tests.ops.table import S, T, V

INF = float("inf")

SAMPLES = {
    "cdist": [
        *(S(T(2, 3, 2), T(4, 2), p).no_jvp().no_second() for p in (1.0, 2.0, 3.0, 0.5, INF)),
        S(T(3, 2), T(2, 2), 0.0).no_jvp().no_second().dtypes("float32"),
        S(V([[1.0, 2.0]]), V([[1.0, 2.0], [0.0, 1.0]])).kink().dtypes(""),
        S(T(30, 2), T(3, 2)).no_jvp().dtypes("float32"),
        S(T(3, 2), T(2, 2), compute_mode="use_mm_for_euclid_dist").no_jvp().dtypes("float32"),
        S(T(3, 2), T(2, 2), compute_mode="donot_use_mm_for_euclid_dist").no_jvp().dtypes(""),
    ],
    "_euclidean_dist": [
        S(T(3, 2), T(4, 2)).no_jvp().dtypes("float32"),
        S(T(2, 3, 2), T(4, 2)).no_jvp().dtypes("float32"),
    ],
    "nn.functional.pdist": [
        *(S(T(4, 2), p).no_jvp().no_second().dtypes("float32") for p in (1.0, 2.0, 3.0, INF)),
        S(T(4, 2), 0.0).no_jvp().no_second().dtypes(""),
        S(V([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])).kink().dtypes(""),
    ],
}
