"""Samples of square brackets."""

from __future__ import annotations

from typing import Any

from tests.ops.table import I, S, Sample, T

ALL = slice(None)
B = "bool"


def _get(x: Any, key: Any) -> Any:
    return x[key]


def _got(torch: Any, x: Any, key: Any) -> Any:
    return x[key]


def G(x: Any, key: Any) -> Sample:
    """x[key]."""
    return S(x, key).calls(_get).torch(_got)


def _set(x: Any, key: Any, value: Any) -> Any:
    out = x.clone()
    out[key] = value
    return out


def P(x: Any, key: Any, value: Any) -> Sample:
    """x[key] = value, on a copy."""
    return S(x, key, value).calls(_set).torch(lambda torch, *a: _set(*a))


X = T(4, 3, 2)
M = I([True, False, True, True], dtype=B)
M2 = I([[True, False, True]] * 4, dtype=B)
KEYS = (
    *(0, -1, ALL, Ellipsis, None, slice(1, 3), slice(None, None, 2), slice(-3, -1), slice(3, 1)),
    *((), (ALL, 0), (ALL, ALL), (slice(1, 3), None, Ellipsis, 0), (Ellipsis, slice(0, 1)), (0, 1)),
    *([0, 1], [[0, 1], [1, 0]], (0, [1, 0]), ([0], ALL, [1]), (ALL, [0, 1, 1]), ([0, 1], 0), []),
    *(True, False, (True, [0, 1]), (ALL, True), (None, None), range(2), (slice(0, 2), [0, 1], 0)),
    *(I([0, 1, 1, -1]), I([[0, 1], [2, 3]]), (I([0, 1]), I([[0], [1]])), (ALL, ALL, I([0, 1, 1]))),
    *(I([0, 1], dtype="int32"), (Ellipsis, I([1, 0])), (I([0, 1, 1]), ALL, I([0, 1, 0]))),
)

#: keys whose result's shape depends on values
LATE = (
    *(M, (M, 1), (M, I([0, 1, 1])), M2, (None, M), (0, I([True, False, True], dtype=B))),
    *(I(1), (I(0), I([0, 1])), I(True, dtype=B)),
)

SAMPLES = {
    "getitem": [
        *(G(X, k) for k in KEYS),
        *(G(X, k).dynamic() for k in LATE),
        *(G(X, 1).complex_too(), G(X, I([0, 0, 1])).complex_too()),
        *(G(T(), Ellipsis), G(T(), None), G(T(), True), G(T(3), I([2, 2])), G(T(0, 2), [])),
    ],
    "setitem": [
        *(P(X, 0, 1.5), P(X, 0, T(2)), P(X, 0, T()), P(X, (0, 0, 0), T()), P(X, (0, 0, 0), 2.0)),
        *(P(X, Ellipsis, T(2)), P(X, ALL, T(3, 2)), P(X, None, 1.0), P(X, True, 1.0), P(X, False, 1.0)),
        *(P(X, [0, 1], 1.0), P(X, [0, 1], T(2)), P(X, (0, [0, 1]), T(2)), P(X, I([0, 2]), T(1, 1, 2, 3, 2))),
        *(P(X, (ALL, 0), 1), P(X, slice(1, 3), T(2, 3, 2)), P(X, 0, T(1, 1, 1, 3, 2))),
        *(P(X, M, 0.0), P(X, M, T()), P(X, M2, 1.0)),
        *(P(X, M, T(2)).dynamic(), P(X, M2, T(2)).dynamic(), P(X, (M, 1), 2.0)),
        P(X, 0, T(2, dtype="float32", grad=False)).dtypes("bfloat16 int64").complex_too(),
        P(X, I([0, 1]), T(2)).complex_too(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "getitem": [
        *(G(X, k) for k in (5, -5, (ALL, 5), (0, ALL, 5), (Ellipsis, 5), (0, 0, 0, 0), 1.5, {})),
        *(
            G(X, k)
            for k in (slice(None, None, -1), slice(0, 1.5), ([0, 1], [0, 1, 2]), I([True, False], dtype=B))
        ),
        *(G(X, k) for k in (I([0, 1], dtype="int16"), T(2, grad=False))),
        *(G(T(), 0), G(T(), ALL), G(T(0, 2), [0])),
    ],
    "setitem": [
        *(P(X, 0, T(3)), P(X, [0, 1], T(3)), P(X, [0], T(2, dtype="float32")), P(X, 0, [1.0, 2.0])),
        *(P(X, 0, "a"), P(X, 5, 1.0), P(X, I([True, False], dtype=B), 1.0)),
    ],
}

#: calls that raise only where there are values
VALUE_ERRORS = {
    "getitem": [G(X, I([5])), G(X, (ALL, I([0, 5]))), G(X, (I([0]), I([-4]))), G(X, [5])],
    "setitem": [P(X, I([5]), 1.0), P(X, M, T(5))],
}
