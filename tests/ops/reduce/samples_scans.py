"""Samples of running sums and products."""

from __future__ import annotations

from typing import Any

from gradd_engine.data import dtypes

from tests.ops.table import I, S, Sample, T, V


def _recur(torch: Any, a: Any, b: Any, dim: int, forward: bool) -> Any:
    """s[k] = b[k] + a[k] * s[k - 1], spelled out."""
    out = [b[0]]
    for x, y in zip(a[1:], b[1:], strict=True):
        out.append(y + x * out[-1])
    return torch.stack(out)


def _scanned() -> list[Sample]:
    return [
        S(T(5), 0).complex_too(),
        S(T(2, 3, 4), 1).complex_too(),
        S(T(2, 3), dim=-1),
        S(T(), 0),
        S(I((2, 3), 9, dtype="int32"), 1),
        S(T(2, 3, dtype="float32", grad=False), 1, dtype=dtypes.float64),
        S(T(2, 3), 2).fails(),
        S(T(2, 0), 1),
    ]


SAMPLES = {
    "cumsum": _scanned(),
    "cumprod": [*_scanned(), S(V([2.0, 0.0, 3.0]), 0), S(V([[0.0, 2.0, 0.0, 3.0]]), 1)],
    "recurrence": [
        S(T(4), T(4), 0, True).torch(_recur).no_graph().complex_too(),
        S(T(4, 2), T(4, 2), 0, True).no_layouts().torch(_recur).no_graph(),
    ],
}
