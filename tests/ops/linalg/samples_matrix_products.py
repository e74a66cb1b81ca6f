"""Samples of powers, exponentials and chains of matrices, and products of vectors."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
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
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "cross": [S(T(2, 2), T(2, 2)), S(T(2, 3), T(3))],
    "addbmm": [S(T(5), T(2, 2, 3), T(2, 3, 4)), S(T(4), T(2, 2, 3), T(2, 2, 3)), S(T(4), T(2, 3), T(2, 3))],
}
