"""Samples of tensors put together, repeated and turned round."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    "cat": [
        S([T(2, 3), T(1, 3)]).complex_too(),
        S([T(2, 3), T(2, 2)], -1),
        S([T(2, 3), T(0), T(1, 3)]),
        S([T(0), T(0)]),
        S([T(2, 3), I((2, 3), 5)]),
    ],
    "concat": [S([T(2, 3), T(1, 3)])],
    "concatenate": [S([T(2, 3), T(2, 3)], 1)],
    "stack": [S([T(2, 3), T(2, 3)]).complex_too(), S([T(2, 3), T(2, 3)], -1), S([T(), T()])],
    "hstack": [S([T(2, 3), T(2, 1)]), S([T(2), T(3)]), S([T(), T()])],
    "vstack": [S([T(2, 3), T(1, 3)]), S([T(2), T(2)])],
    "dstack": [S([T(2, 3), T(2, 3)]), S([T(2), T(2)])],
    "column_stack": [S([T(2, 3), T(2)]), S([T(2), T(2)])],
    "repeat": [S(T(2, 3), [2, 1]).complex_too(), S(T(2, 3), [3, 1, 2]), S(T(), [2]), S(T(2), [0])],
    "tile": [S(T(2, 3), (2,)).complex_too(), S(T(2, 3), (2, 1, 2))],
    "flip": [S(T(2, 3), [0]).complex_too(), S(T(2, 3), [0, -1])],
    "fliplr": [S(T(2, 3))],
    "flipud": [S(T(2, 3))],
    "roll": [S(T(2, 3), 1, 1).complex_too(), S(T(2, 3), 4), S(T(2, 3), (1, -1), (0, 1))],
    "meshgrid": [
        S(T(2), T(3), indexing="ij").complex_too(),
        S(T(2), T(3), indexing="xy"),
        S([T(2), T(3), T()], indexing="ij"),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "cat": [S([T(2, 3), T(2)]), S([T(2, 3), T(1, 2)]), S([T()]), S([])],
    "stack": [S([T(2), T(3)]), S([])],
    "repeat": [S(T(2, 3), [2]), S(T(2), [-1])],
    "flip": [S(T(2), [0, 0]), S(T(2), [3])],
    "fliplr": [S(T(2))],
    "flipud": [S(T())],
    "roll": [S(T(2, 3), (1, 2), 0)],
    "meshgrid": [S(T(2), T(3), indexing="no")],
}
