"""Samples of writing by index tensors and masks."""

from __future__ import annotations

from tests.ops.table import I, S, T

B = "bool"
M = I([True, False, True, True], dtype=B)

SAMPLES = {
    "index_put": [
        *(S(T(4, 2), [I([0, 2])], T(2)).complex_too(), S(T(4, 2), [I([0, 2, 0])], T(3, 2), True)),
        *(S(T(4, 2), [M], T(2)).dynamic(), S(T(4, 2), [M], T()), S(T(4, 2), [I([0, 2]), I([1, 1])], T())),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "index_put": [S(T(4, 2), [I([0, 2])], T(3)), S(T(4), [I([0, 2])], I(3, 9))],
}
