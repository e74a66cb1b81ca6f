"""Samples of checks of values."""

from __future__ import annotations

from typing import Any

from gradd_engine.ops.reduce import BLANK

from tests.ops.table import S, T, V

_TRUE = V([True, True], dtype="bool", grad=False)


def _all(torch: Any, ok: Any, shown: Any, message: str) -> Any:
    return ok.all()


SAMPLES = {
    "require": [
        S(_TRUE, [], "all are true").dtypes().torch(_all),
        S(_TRUE, [T(2, grad=False), T(grad=False)], f"{BLANK} and {BLANK}").dtypes().torch(_all),
    ],
}
