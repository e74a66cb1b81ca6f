"""How tensors print: many of them, of all dtypes and shapes, with all options, to the letter as PyTorch's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest

from tests.oracle import ITSELF, module

_Draw = Callable[[np.random.Generator, tuple[int, ...]], Any]
VALUES: dict[str, _Draw] = {
    "whole": lambda r, s: r.integers(-50, 50, s).astype("float64"),
    "small": lambda r, s: r.standard_normal(s) * 1e-6,
    "great": lambda r, s: r.standard_normal(s) * 1e9,
    "small and great": lambda r, s: r.standard_normal(s) * 10.0 ** r.integers(-6, 6, s),
    "usual": lambda r, s: r.standard_normal(s),
    "not finite": lambda r, s: np.where(
        r.random(s) < 0.3, np.nan, np.where(r.random(s) < 0.3, np.inf, r.standard_normal(s))
    ),
    "no number": lambda r, s: np.full(s, np.nan),
    "infinite": lambda r, s: np.where(r.random(s) < 0.5, -np.inf, 1.0),
    "zero": lambda r, s: np.zeros(s),
    "great and whole": lambda r, s: r.integers(0, 2**40, s).astype("float64"),
}
SHAPES = [(), (0,), (1,), (3,), (2, 3), (0, 3), (2, 2, 2), (1, 1, 1, 2), (25,), (1001,), (40, 40), (8, 200)]
DTYPES = [
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
    "complex64", "complex128",
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {},
    {"precision": 2},
    {"sci_mode": True},
    {"sci_mode": False},
    {"linewidth": 40},
    {"edgeitems": 1, "threshold": 5},
    {"profile": "full"},
    {"profile": "short"},
]


def _both(torch: Any, rng: np.random.Generator, draw: _Draw, shape: tuple[int, ...], dtype: str) -> list[Any]:
    with np.errstate(all="ignore"):
        values = np.asarray(draw(rng, shape))
        if dtype.startswith("complex"):
            values = np.asarray(values + 1j * draw(rng, shape))
        elif not dtype.startswith(("float", "bfloat")):
            values = np.asarray(np.nan_to_num(values, posinf=9, neginf=-9) % 100)
        both = [T.tensor(values).to(getattr(T, dtype)) for T in (torch, gradd)]
    if both[0].dtype.is_floating_point and rng.random() < 0.3:
        both = [t.requires_grad_() for t in both]
    if rng.random() < 0.1:
        both = [t.clone() for t in both]
    return both


@pytest.fixture
def torch() -> Iterator[Any]:
    """PyTorch; both print as usual afterwards."""
    yield module()
    for T in (module(), gradd):
        T.set_printoptions(profile="default")


@pytest.mark.skipif(not ITSELF, reason="asks PyTorch")
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_tensors_print_as_pytorchs(torch: Any, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(len(str(options)))
    different, seen = [], 0
    with gradd.connect("local:"):
        for T in (torch, gradd):
            T.set_printoptions(profile="default")
            T.set_printoptions(**options)
        for shape in SHAPES:
            for name, draw in VALUES.items():
                dtype = DTYPES[rng.integers(len(DTYPES))]
                theirs, ours = map(repr, _both(torch, rng, draw, shape, dtype))
                seen += 1
                if theirs != ours:
                    different.append((shape, name, dtype, theirs, ours))
    assert seen == len(SHAPES) * len(VALUES)
    assert different == []
