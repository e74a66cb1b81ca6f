"""Samples of covariances and correlations."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    "cov": [
        S(T(3, 5)).complex_too().no_graph(),
        S(T(5)).no_graph(),
        S(T(2, 4), correction=0).no_graph(),
        S(T(2, 4), fweights=I([1, 2, 1, 3])).no_graph(),
        S(T(2, 4), aweights=T(4, low=0.5, grad=False)).no_graph(),
        S(T(2, 4), fweights=I([1, 2, 1, 3]), aweights=T(4, low=0.5, grad=False)).no_graph(),
    ],
    "corrcoef": [S(T(3, 5)).complex_too().no_graph(), S(T(5, low=0.5)).no_graph()],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "cov": [
        S(T(2, 2, 2)),
        S(T(2, 4), fweights=I([1, 2])),
        S(T(2, 4), fweights=T(4)),
        S(T(2, 4), aweights=I([1, 2, 1, 3])),
        S(T(2, 4), fweights=I([[1, 2, 1, 3]])),
    ],
    "corrcoef": [S(T(2, 2, 2))],
}

#: calls that raise only where there are values
VALUE_ERRORS = {
    "cov": [
        S(T(2, 4), fweights=I([1, -2, 1, 3])),
        S(T(2, 4), aweights=T(4, low=-2.0, high=-1.0)),
    ],
}
