"""Samples of copies."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    "clone": [S(T(2, 3)).complex_too(), S(T()), S(I(3, 9))],
    "sum_to_size": [S(T(2, 3, 4), [3, 1]).complex_too().no_graph()],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "sum_to_size": [S(T(2), [3])],
}
