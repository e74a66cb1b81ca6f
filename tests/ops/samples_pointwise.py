"""Samples of special functions by series, steps, neighbours and flat places."""

from __future__ import annotations

from typing import Any

from tests.ops.table import I, S, T, V

NAN, INF = float("nan"), float("inf")
_EDGES = V([0.0, -0.0, INF, -INF, NAN], grad=False)


def _erfinv(torch: Any, x: Any) -> Any:
    return torch.erfinv(x)


SAMPLES = {
    **{
        name: [
            S(T(2, 3, low=-4.0, high=4.0)),
            S(V([-30.0, -11.0, 11.0, 24.9, 25.1, 60.0])).no_second(),
            S(_EDGES).dtypes("float32"),
            S(I([1, 0, -2])),
        ]
        for name in ("special.i0e", "special.i1e")
    },
    **{
        name: [
            S(T(2, 3, low=-4.0, high=4.0)),
            S(V([-20.0, 3.0, 24.0, 27.0])).no_grad().dtypes("float32"),
            S(_EDGES).dtypes("float32"),
            S(I([1, 0, -2])),
        ]
        for name in ("special.i0", "special.i1")
    },
    "erfinv": [
        S(T(2, 3, low=-0.9, high=0.9)),
        S(V([-0.999999, 1e-9, 0.5, 0.4999999, 0.99])).no_grad(),
        S(V([0.0, 1.0, -1.0, 1.5, NAN], grad=False)).dtypes("float32"),
        S(I([0, 1, -1])),
    ],
    "special.erfcx": [
        S(T(2, 3, low=-2.0, high=3.0)),
        S(V([-5.0, 10.0, 25.9, 26.1, 1e3, 1e8])).no_grad().dtypes("float32"),
        S(_EDGES).dtypes("float32"),
        S(I([1, 0, -2])),
    ],
    "special.ndtr": [S(T(2, 3)).no_graph(), S(_EDGES).dtypes("float32"), S(I([1, 0, -2]))],
    "special.log_ndtr": [
        S(T(2, 3, low=-3.0, high=3.0)),
        S(V([-40.0, -1.0, -1.001, 8.0])).no_second().dtypes("float32"),
        S(_EDGES).dtypes("float32"),
        S(I([1, 0, -2])),
    ],
    "special.ndtri": [
        S(T(2, 3, low=0.05, high=0.95)),
        S(V([1e-12, 1e-200, 0.999, 0.5])).no_grad().dtypes(),
        S(V([0.0, 1.0, -0.5, 1.5, NAN], grad=False)).dtypes("float32"),
        S(I([0, 1])),
    ],
    "special.entr": [
        S(T(2, 3, low=0.2, high=2.0)),
        S(V([0.0, -1.0, NAN, INF], grad=False)).dtypes("float32"),
        S(V([0.0, 1.0])).kink(),
        S(I([0, 2, -1])),
    ],
    "special.xlog1py": [
        S(T(2, 3), T(3, low=-0.5, high=2.0)),
        S(T(2, 3), 0.5),
        S(2.0, T(2, 3, low=-0.5, high=2.0)),
        S(V([0.0, 0.0, 1.0]), V([-1.0, NAN, -1.0])).kink().dtypes("float32"),
        S(I([0, 2]), I([1, 3])),
    ],
    "heaviside": [
        S(V([-1.0, 0.0, 2.0], grad=False), V([0.5, 0.25, 0.75], grad=False)),
        S(I([1, 0, -1]), I([5, 6, 7])),
        S(T(2, grad=False), T(2, dtype="float32", grad=False)).fails(),
    ],
    "nextafter": [
        S(T(2, 3, grad=False), T(3, grad=False)).dtypes("float32 bfloat16"),
        S(V([0.0, 1.0, -1.0, NAN], grad=False), V([1.0, 1.0, -2.0, 0.0], grad=False)).dtypes(
            "float32 bfloat16"
        ),
        S(V([1.0, 2.0]), V([3.0, 2.0])).kink().dtypes(),
        S(I([1]), I([2])).fails(),
    ],
    "ldexp": [S(T(2, 3), I([1, 2, 3])).no_graph(), S(T(2, 3), T(3)).no_graph(), S(I([1, 2]), I([1, 3]))],
    "positive": [S(T(2, 3)).no_grad(), S(V([True], "bool", False)).fails()],
    **{
        name: [
            S(T(2, 3, low=1.3, high=4.0), 2),
            S(T(2, 3, low=1.6, high=4.0), 3),
            S(I([3, 4]), 2),
            S(T(2), 0).fails(),
        ]
        for name in ("mvlgamma", "special.multigammaln")
    },
    "take": [
        S(T(2, 3), I([1, -1, 1])).complex_too(),
        S(T(2, 3), I([[0, 5]])),
        S(T(), I([0, 0])),
        S(T(2, 3), I([6])).fails().no_meta(),
        S(T(2, 3), I([1], dtype="int32")).fails(),
        S(T(0), I([0])).fails(),
    ],
    "put": [
        S(T(2, 3), I([1, 4]), T(2)).torch(lambda torch, x, *a: x.put(*a)).complex_too(),
        S(T(2, 3), I([1, -5, 1]), T(3), True).torch(lambda torch, x, *a: x.put(*a)),
        S(T(2, 3), I([1, 9]), T(2)).torch(lambda torch, x, *a: x.put(*a)).fails().no_meta(),
        S(T(2, 3), I([1, 2]), T(3)).torch(lambda torch, x, *a: x.put(*a)).fails(),
    ],
    "unique": [
        S(V([[3.0, 1.0, NAN], [1.0, 3.0, NAN]], grad=False), return_inverse=True, return_counts=True)
        .dynamic()
        .dtypes("float32"),
        S(I([[3, 1], [1, 2]])).dynamic(),
        S(I([[3, 1], [3, 1], [1, 2]]), return_inverse=True, return_counts=True, dim=0).dynamic(),
        S(I([[3, 3, 1], [1, 1, 2]]), dim=-1).dynamic(),
        S(V([True, False, True], "bool", False)).dynamic(),
        S(T(0, grad=False)).dynamic().dtypes("float32"),
    ],
    "unique_consecutive": [
        S(I([[1, 1], [2, 1]]), return_inverse=True, return_counts=True).dynamic(),
        S(I([[1, 1], [1, 1], [2, 1]]), True, True, 0).dynamic(),
    ],
    "count_distinct": [S(I([3, 1, 3]), 0, True).torch(lambda torch, x, d, o: torch.tensor(2))],
    "distinct": [
        S(I([3, 1, 3]), 2, None, True).torch(lambda torch, x, n, d, o: torch.unique(x, True, True, True))
    ],
    "dist": [
        *(S(T(2, 3), T(3), p) for p in (2, 1, 3.0, INF, 1.5)),
        S(T(2, 3), T(3), 0).no_grad(),
        S(T(2, 3), T(2, 3)).complex_too(),
        S(V([0.0, 1.0]), V([0.0, 1.0])).kink().dtypes("float32"),
        S(I([1, 2]), I([1, 3])).fails(),
    ],
    "renorm": [
        *(S(T(3, 4), p, 0, 0.9).tol(1e-5) for p in (2, 1, 3.0)),
        S(T(3, 4), 2, -1, 1.5).complex_too(),
        S(T(2, 3, 2), 2, 1, 1.0),
        S(T(3, 4), 2, 0, -1.0).fails(),
        S(T(3), 2, 0, 1.0).fails(),
        S(T(3, 4), 0, 0, 1.0).fails(),
    ],
}
