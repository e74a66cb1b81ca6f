"""Samples of norms of matrices and condition numbers."""

from __future__ import annotations

from gradd_engine.data import dtypes

from tests.ops.makers import M, well
from tests.ops.table import S, T, V

LOW = "float32 complex64"
INF = float("inf")
TIES = V([[1.0, -1.0], [0.5, 1.0]])

SAMPLES = {
    "linalg.cond": [
        M(lambda L, T_, A: L("cond")(well(A)), T(3, 3)).complex_too().dtypes(LOW),
        S(T(4, 3), -2).no_graph().dtypes(""),
        S(T(2, 3, 3), "fro").no_graph().own_gradient().dtypes(""),
        S(T(3, 3), 1).no_graph().own_gradient().dtypes(""),
        S(T(3, 3), float("-inf")).no_graph().own_gradient().dtypes(""),
        S(T(3, 3), "nuc").no_graph().own_gradient().dtypes(""),
    ],
    "linalg.matrix_norm": [
        S(T(3, 2)).complex_too(),
        *(S(T(2, 3, 2), p).no_graph().complex_too().dtypes("float32") for p in (1, -1, INF, -INF)),
        *(S(T(2, 3, 2), p).no_graph().dtypes("float32") for p in (2, -2, "nuc")),
        S(T(3, 2, 2), "nuc", dim=(0, 2), keepdim=True).no_graph().dtypes(""),
        S(T(3, 2, 2), 2, dim=(2, 0), keepdim=True).no_graph().dtypes(""),
        S(T(3, 2, 2), 1, dim=(0, 2)).no_graph().dtypes(""),
        S(T(2, 3, dtype="float32"), 1, dtype=dtypes.float64).no_grad().dtypes(""),
    ],
    "linalg.norm": [
        S(T(3, 2)).complex_too(),
        S(T(3), 3),
        S(T(3, 2), 1).no_graph().dtypes(""),
        S(T(3, 2), "nuc").no_graph().dtypes(""),
        S(T(2, 3, 2), 2, dim=(0, 1)).no_graph().dtypes(""),
        S(T(2, 3, 2), INF, dim=1, keepdim=True).dtypes(""),
        S(TIES, INF, dim=(0,)).kink().dtypes(""),
    ],
    "norm": [
        S(T(2, 3)).complex_too(),
        S(T(2, 3), 1),
        S(T(2, 3), "fro", dim=1, keepdim=True),
        S(T(2, 3), p=3, dim=0),
        S(T(2, 3), "nuc").no_graph().dtypes("float32"),
        S(T(2, 3, 2), "nuc", dim=(0, 2)).no_graph().dtypes(""),
        S(T(2, 3), 2, dtype=dtypes.float64).dtypes("float32"),
    ],
    "frobenius_norm": [
        S(T(2, 3), dim=(0, 1)).no_graph().dtypes(""),
        S(T(2, 3), dim=[1]).no_graph().dtypes(""),
    ],
    "nuclear_norm": [
        S(T(2, 3)).no_graph().dtypes(""),
        S(T(2, 3, 2), dim=(0, 1), keepdim=True).no_graph().dtypes(""),
    ],
}
