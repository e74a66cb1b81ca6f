"""Samples of norms and products of matrices, and of distances."""

from __future__ import annotations

from gradd_engine.data import dtypes

from tests.ops.table import I, S, T, V

INF = float("inf")
TIES = V([[1.0, -1.0], [0.5, 1.0]])

SAMPLES = {
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
    "linalg.matrix_power": [
        *(S(T(2, 3, 3), n).complex_too().no_graph().dtypes("float32") for n in (-2, 1, 2, 3, 5)),
        S(T(3, 3), 0).no_graph().dtypes(""),
    ],
    "matrix_power": [S(T(3, 3), 6).no_graph().dtypes(""), S(T(2, 2), -1).no_graph().dtypes("").tol(1e-5)],
    "linalg.matrix_exp": [
        S(T(3, 3)).complex_too().dtypes("float32 complex64 int64"),
        S(T(2, 2, 2, low=-9, high=9)).dtypes("").tol(1e-4).no_second(),
        S(T(0, 0)).dtypes("").no_layouts(),
    ],
    "matrix_exp": [S(T(2, 2)).dtypes("")],
    "linalg.multi_dot": [
        S([T(2, 3), T(3, 4), T(4, 2)]).no_graph().complex_too(),
        S([T(3), T(3, 4), T(4)]).no_graph().dtypes(""),
        S([T(2, 3), T(3)]).no_graph().dtypes(""),
        S([T(2, 3), T(3, 9), T(9, 1), T(1, 4)]).no_graph().dtypes(""),
    ],
    "chain_matmul": [S(T(2, 3), T(3, 4), T(4, 2)).no_graph().dtypes("")],
    "linalg.cross": [
        S(T(2, 3), T(2, 3)).complex_too(),
        S(T(3, 2), T(3, 1), dim=0).dtypes(""),
        S(T(2, 3), T(3, dtype="float64").__class__((1, 3))).dtypes(""),
    ],
    "cross": [S(T(2, 3), T(2, 3)).dtypes(""), S(T(3, 3), T(3, 3)).dtypes(""), S(T(2, 3), T(2, 3), dim=-1)],
    "linalg.vecdot": [S(T(2, 3), T(2, 3)).complex_too().no_graph(), S(T(3, 2), T(3, 2), dim=0).no_graph()],
    "linalg.vander": [
        S(T(3)).no_graph().complex_too().dtypes("float32 int64"),
        S(T(2, 3), N=4).no_graph().dtypes(""),
        S(I([1, 2, 3])),
    ],
    "vander": [
        S(T(3)).no_graph().own_gradient().dtypes("float32"),
        S(T(3), 2, increasing=True).no_graph().own_gradient().dtypes(""),
        S(T(3), 1).no_graph().no_grad().dtypes(""),
        S(I([1, 2, 3])),
    ],
    "addbmm": [
        S(T(2, 4), T(3, 2, 3), T(3, 3, 4)).complex_too().dtypes("float32 int64 complex64"),
        S(T(4), T(3, 2, 3), T(3, 3, 4), beta=2, alpha=0.5).dtypes("float32"),
    ],
    "cdist": [
        *(S(T(2, 3, 2), T(4, 2), p).no_jvp().no_second() for p in (1.0, 2.0, 3.0, 0.5, INF)),
        S(T(3, 2), T(2, 2), 0.0).no_jvp().no_second().dtypes("float32"),
        S(V([[1.0, 2.0]]), V([[1.0, 2.0], [0.0, 1.0]])).kink().dtypes(""),
        S(T(3, 2), T(2, 2), compute_mode="donot_use_mm_for_euclid_dist").no_jvp().dtypes(""),
    ],
    "nn.functional.pdist": [
        *(S(T(4, 2), p).no_jvp().no_second().dtypes("float32") for p in (1.0, 2.0, 3.0, INF)),
        S(T(4, 2), 0.0).no_jvp().no_second().dtypes(""),
        S(V([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])).kink().dtypes(""),
    ],
}
ERRORS = {
    "cross": [S(T(2, 2), T(2, 2)), S(T(2, 3), T(3))],
    "addbmm": [S(T(5), T(2, 2, 3), T(2, 3, 4)), S(T(4), T(2, 2, 3), T(2, 2, 3)), S(T(4), T(2, 3), T(2, 3))],
}
