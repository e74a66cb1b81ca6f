"""Samples of checks of values."""

from __future__ import annotations

from typing import Any

from gradd_engine.ops.reduce import BLANK

from tests.ops.table import S, T, V

_TRUE = V([True, True], dtype="bool", grad=False)


def _all(torch: Any, ok: Any, shown: Any, message: str) -> Any:
    return ok.all()


def _true(torch: Any, numbers: Any, shown: Any, message: str, **test: Any) -> Any:
    return torch.ones_like(numbers, dtype=torch.bool).all()


SAMPLES = {
    "require": [
        S(_TRUE, [], "all are true").dtypes().torch(_all),
        S(_TRUE, [T(2, grad=False), T(grad=False)], f"{BLANK} and {BLANK}").dtypes().torch(_all),
        *(
            S(V([0.0, 1.0], grad=False), [], "it holds", test=test, bounds=bounds).dtypes().torch(_true)
            for test, bounds in (
                ("number", []),
                ("truth", []),
                ("above", [-1.0]),
                ("from", [0.0]),
                ("below", [1.5]),
                ("between", [0.0, 1.0]),
                ("between, without the end", [0.0, 1.5]),
            )
        ),
    ],
}
