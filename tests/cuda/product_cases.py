"""Calls of products of matrices; test_products.py has more of their layouts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cuda.cases import Case, Make


def _given(*shapes: tuple[int, ...], **attrs: Any) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        return [np.asarray(rng.normal(size=shape)).astype(t) for shape in shapes], attrs

    return make


_PLAIN: dict[str, Any] = {"beta": 1, "alpha": 1}
_SCALED: dict[str, Any] = {"beta": 0.5, "alpha": -2}

CASES = [
    Case("mm", _given((3, 5), (5, 4))),
    Case("mm", _given((70, 33), (33, 65)), "large", 256),
    Case("mm", _given((1, 7), (7, 1)), "dot"),
    Case("mm", _given((2, 0), (0, 3)), "no-columns"),
    Case("mm", _given((0, 2), (2, 3)), "no-rows"),
    Case("mv", _given((9, 4), (4,))),
    Case("mv", _given((3, 0), (0,)), "no-columns"),
    Case("bmm", _given((4, 3, 5), (4, 5, 2))),
    Case("bmm", _given((0, 3, 5), (0, 5, 2)), "none"),
    Case("bmm", _given((2, 3, 0), (2, 0, 2)), "no-columns"),
    Case("addmm", _given((4,), (3, 5), (5, 4), **_PLAIN)),
    Case("addmm", _given((3, 1), (3, 5), (5, 4), **_SCALED), "scaled"),
    Case("addmm", _given((3, 4), (3, 5), (5, 4), beta=0, alpha=3), "not-added"),
    Case("addmm", _given((3, 4), (3, 0), (0, 4), **_SCALED), "no-columns"),
    Case("addmv", _given((1,), (3, 5), (5,), **_SCALED)),
    Case("baddbmm", _given((2, 1, 4), (2, 3, 5), (2, 5, 4), **_SCALED)),
    Case("baddbmm", _given((2, 3, 4), (2, 3, 0), (2, 0, 4), beta=True, alpha=1), "no-columns"),
]
