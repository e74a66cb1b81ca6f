"""Samples of histograms."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

_W = T(2, 3, low=0.1, grad=False)
_EDGES = V([-1.0, -0.2, 0.1, 1.3], grad=False)


def _s(*args: object, **attrs: object):
    return S(*args, **attrs).no_grad().dtypes("float32")


SAMPLES = {
    "histogram": [
        _s(T(2, 3, grad=False), 4),
        _s(T(2, 3, grad=False), _EDGES),
        _s(T(2, 3, grad=False), _EDGES, weight=_W, density=True),
        _s(T(2, 3, grad=False), 3, range=(-1.0, 0.5), weight=_W),
        _s(V([2.0, 2.0], grad=False), 3, range=(2.0, 2.0)),
        _s(V([2.0, 2.0], grad=False), 3),
        _s(T(0, grad=False), 3),
    ],
    "histogramdd": [
        _s(T(5, 2, grad=False), 3),
        _s(T(2, 4, 2, grad=False), [2, 3], range=[-1.0, 1.0, -0.5, 0.5], weight=T(2, 4, grad=False)),
        _s(T(5, 1, grad=False), [_EDGES], density=True),
    ],
    "histogram_edges": [
        _s(T(5, 2, grad=False), 3, 1).torch(lambda torch, x, bins, dim: torch.histogramdd(x, bins)[1][dim])
    ],
    "histogramdd_counts": [
        _s(T(5, 1, grad=False), [_EDGES], T(5, grad=False), False).torch(
            lambda torch, x, edges, weight, density: torch.histogramdd(x, edges, weight=weight)[0]
        )
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "histogram": [
        S(T(3, grad=False), 0),
        S(I([1, 2]), 3),
        S(T(3, grad=False), I([0, 1])),
        S(T(3, grad=False), 3, range=(2.0, 1.0)),
        S(T(3, grad=False), T(2, 2, grad=False)),
        S(T(3, grad=False), 2, weight=T(2, grad=False)),
    ],
    "histogramdd": [S(T(3, grad=False), 2), S(T(3, 2, grad=False), [2])],
}
#: calls that raise only where there are values
VALUE_ERRORS = {"histogram": [S(V([1.0, float("inf")], grad=False), 3)]}
