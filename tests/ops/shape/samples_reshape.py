"""Samples of shapes: squeezed, flattened, moved, and other spellings of views."""

from __future__ import annotations

from tests.ops.table import S, T

SAMPLES = {
    "squeeze": [
        S(T(1, 3, 1)).complex_too(),
        S(T(1, 3, 1), 0),
        S(T(1, 3, 1), (0, -1)),
        S(T(1, 3, 1), 1),
        S(T()),
        S(T(), 0),
    ],
    "unsqueeze": [S(T(2, 3), 0).complex_too(), S(T(2, 3), -1), S(T(2, 3), 1), S(T(), 0)],
    "flatten": [S(T(2, 3, 4)).complex_too(), S(T(2, 3, 4), 1), S(T(2, 3, 4), 0, 1), S(T())],
    "unflatten": [S(T(4, 3), 0, (2, 2)).complex_too(), S(T(4, 6), -1, (3, -1))],
    "movedim": [S(T(2, 3, 4), 0, 2).complex_too(), S(T(2, 3, 4), (0, 2), (1, 0))],
    "moveaxis": [S(T(2, 3, 4), 0, 2)],
    "swapaxes": [S(T(2, 3, 4), 0, 2)],
    "swapdims": [S(T(2, 3, 4), 0, 2)],
    "ravel": [S(T(2, 3)).complex_too(), S(T(3))],
    "broadcast_to": [S(T(3, 1), (2, 3, 4)).complex_too()],
    "atleast_1d": [S(T()), S(T(2)).no_graph()],
    "atleast_2d": [S(T()), S(T(2)), S(T(2, 3)).no_graph()],
    "atleast_3d": [S(T()), S(T(2)), S(T(2, 3)), S(T(2, 3, 1)).no_graph()],
    "broadcast_tensors": [S(T(3, 1), T(4))],
    "broadcast_shapes": [S((3, 1), (4,)).no_grad()],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "squeeze": [S(T(3), 4), S(T(1, 1), (0, 0))],
    "unsqueeze": [S(T(2), 4)],
    "flatten": [S(T(2, 3), 1, 0)],
    "unflatten": [S(T(4), 0, (3, 2)), S(T(4), 0, ())],
    "movedim": [S(T(2, 3), (0, 0), (0, 1)), S(T(2), 3, 0)],
    "broadcast_to": [S(T(3), (2,))],
    "broadcast_tensors": [S(T(3), T(4))],
}
