"""Samples of quarter turns, blocks, products of sets, and parts set into copies."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    "rot90": [S(T(2, 3)).complex_too(), S(T(2, 3), 2), S(T(2, 3, 2), -1, [2, 0]), S(T(2, 3), 0)],
    "select_scatter": [S(T(2, 3), T(2), 1, 2).complex_too(), S(T(2, 3), T(3), 0, -1)],
    "slice_scatter": [
        S(T(2, 5), T(2, 2), 1, 1, 4, 2).complex_too(),
        S(T(3, 2), T(3, 2)),
        S(T(3, 2), T(1, 2), 0, -1),
    ],
    "diagonal_scatter": [
        S(T(3, 3), T(3)).complex_too(),
        S(T(2, 4), T(1), -1),
        S(T(2, 3, 4), T(2, 2), 2, 1, 2),
    ],
    "block_diag": [S(T(2, 3), T(3), T(), I((1, 2), 5)).complex_too(), S(T(2, 2))],
    "cartesian_prod": [S(T(2), T(3), T(2)).complex_too()],
    "combinations": [S(T(4)).complex_too(), S(T(3), 3), S(T(3), 2, True), S(T(3), r=1)],
    "unravel_index": [S(I([5, 0, 3]), (2, 3)), S(I(7), (2, 2, 2)), S(I([1]), 3)],
    "row_stack": [S([T(2, 3), T(1, 3)])],
    "hsplit": [S(T(2, 4), 2).complex_too(), S(T(2, 4), [1, 3]), S(T(4), 2)],
    "vsplit": [S(T(4, 2), 2), S(T(4, 2), [1])],
    "dsplit": [S(T(2, 2, 4), 2), S(T(2, 2, 4), [3])],
    "repeat_interleave": [
        S(T(2, 3), 2).complex_too(),
        S(T(2, 3), 2, 1),
        S(T(2, 3), I([1, 0, 2]), 1).complex_too().dynamic(),
        S(T(2, 3), I([2])).dynamic(),
        S(T(2, 3), I([1, 2]), dim=0, output_size=3),
        S(I([1, 0, 2])).dynamic(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "rot90": [S(T(2, 3), 1, [0, 0]), S(T(2)), S(T(2, 3), 1, [0])],
    "select_scatter": [S(T(2, 3), T(3), 1, 2)],
    "slice_scatter": [S(T(2, 3), T(3), 1, 0, 2)],
    "diagonal_scatter": [S(T(2, 3), T(3))],
    "block_diag": [S(T(2, 2, 2))],
    "combinations": [S(T(2, 2)), S(T(2), -1)],
    "hsplit": [S(T(), 1), S(T(2, 3), 2)],
    "vsplit": [S(T(2), 1), S(T(3, 2), 2)],
    "dsplit": [S(T(2, 2), 1), S(T(2, 2, 3), 2)],
    "repeat_interleave": [
        S(T(2), -1),
        S(T(3), I([1, 2])),
        S(T(2), T(2, grad=False)),
        S(T(2), I([[1, 1]])),
    ],
}

#: calls that raise only where there are values
VALUE_ERRORS = {"repeat_interleave": [S(T(2), I([-1, 1]))]}
