"""Calls of what joins arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cuda.cases import Case, Make


def _parts(shapes: list[tuple[int, ...]], dim: int, kind: str = "", turned: bool = False) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        arrays = [rng.integers(-99, 99, s).astype(kind or t) for s in shapes]
        return [[np.asfortranarray(a) if turned else a for a in arrays]], {"dim": dim}

    return make


CASES = [
    Case("cat", _parts([(3,), (0,), (70,), (1,)], 0), "vectors", 0),
    Case("cat", _parts([(2, 3, 5), (2, 4, 5), (2, 1, 5)], 1), "middle", 0),
    Case("cat", _parts([(300, 30), (300, 2)], -1), "last", 0),
    Case("cat", _parts([(2, k % 5) for k in range(250)], 1), "many", 0),
    Case("cat", _parts([(0,), (2, 0), (2, 3)], 1, turned=True), "empty", 0),
    Case("cat", _parts([(2, 0)], 1), "none", 0),
    *(Case("cat", _parts([(3, 5), (3, 2)], 1, kind), kind, 0) for kind in ("bool", "int16", "int64")),
    Case("cat", _parts([(3, 5), (3, 2)], 1, "complex128"), "complex", 0),
    Case("stack", _parts([()] * 5, 0), "numbers", 0),
    Case("stack", _parts([(3, 4)] * 3, 1), "middle", 0),
    Case("stack", _parts([(3, 4)] * 2, -1, turned=True), "last", 0),
    Case("stack", _parts([(4, 30)] * 100, 0, "uint8"), "many", 0),
]
