"""Samples of slices, selections and splits as views, and of their transposes."""

from __future__ import annotations

from tests.ops.table import S, T

SAMPLES = {
    "slice_from": [
        S(T(5, 3), 0, 1, 2).torch(lambda torch, x, *_: x[1:3]).complex_too(),
        S(T(5, 3), 0, 1, 2, 3).torch(lambda torch, x, *_: x[1:5:3]),
        S(T(5, 3), 1, 3, 0).torch(lambda torch, x, *_: x.narrow(1, 3, 0)),
    ],
    "slice": [
        S(T(5, 3), 0, 1, 3).torch(lambda torch, x, *_: torch.ops.aten.slice(x, 0, 1, 3)),
        S(T(5, 3), 1, -2, None, 2).torch(lambda torch, x, *_: torch.ops.aten.slice(x, 1, -2, None, 2)),
        S(T(5), 0, 4, 2).torch(lambda torch, x, *_: torch.ops.aten.slice(x, 0, 4, 2)),
    ],
    "narrow": [S(T(5, 3), 0, 1, 3).complex_too(), S(T(5, 3), -1, -2, 2)],
    "select": [S(T(5, 3), 0, 1).complex_too(), S(T(5, 3), -1, -3), S(T(5), 0, 2)],
    "unbind": [S(T(3, 2)).complex_too(), S(T(3, 2), -1)],
    "split": [S(T(5, 3), 2).complex_too(), S(T(5, 3), [1, 4]), S(T(5, 3), 5, 1), S(T(0, 3), 0)],
    "split_with_sizes": [S(T(2, 5), [2, 0, 3], 1).complex_too()],
    "chunk": [S(T(5, 3), 2).complex_too(), S(T(5, 3), 4, 1), S(T(0, 3), 2)],
    "tensor_split": [S(T(7, 2), 3).complex_too(), S(T(7, 2), [1, 5]), S(T(2, 4), [1, 3], 1)],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "narrow": [S(T(5), 0, 3, 4), S(T(5), 0, -6, 1), S(T(5), 0, 0, -1), S(T(), 0, 0, 0)],
    "select": [S(T(5), 0, 5), S(T(), 0, 0)],
    "unbind": [S(T()), S(T(2), 3)],
    "split": [S(T(5), 0), S(T(5), -1), S(T(5), [2, 2]), S(T(5), [-1, 6])],
    "chunk": [S(T(5), 0), S(T(), 1)],
    "tensor_split": [S(T(5), 0)],
}
