"""Calls of recurrent layers and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from gradd_engine.kernels import SHAPES

from tests.cuda.cases import Case, Make


def _states(rng: np.random.Generator, t: Any, kind: str, batch: int, units: int) -> list[Any]:
    return [rng.normal(0, 1, (batch, units)).astype(t) for _ in range(SHAPES[kind].states)]


def _lead(sizes: list[int], packed: bool) -> tuple[int, ...]:
    """The dimensions of rows before their last: so many at each step, or packed."""
    return (sum(sizes),) if packed else (len(sizes), sizes[0])


def _weight(rng: np.random.Generator, t: Any, kind: str, units: int) -> Any:
    shape = (units, SHAPES[kind].gates * units)
    return rng.normal(0, units**-0.5, shape).astype(t).T


def _layer(kind: str, units: int, sizes: list[int], back: bool, kept: bool, biased: bool) -> Make:
    packed = not kept or sizes[-1] != sizes[0]

    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        width = SHAPES[kind].gates * units
        rows = rng.normal(0, 1, (*_lead(sizes, packed), width)).astype(t)
        hx, w_hh = _states(rng, t, kind, sizes[0], units), _weight(rng, t, kind, units)
        bias = rng.normal(0, 1, 2 * width).astype(t)[::2] if biased else None
        how = {"kind": kind, "back": back, "kept": kept, "batch_sizes": sizes if packed else None}
        return [rows, hx, w_hh, bias], how

    return make


def _slope(
    kind: str, units: int, sizes: list[int], back: bool, given: str = "1101", wanted: str = "1111"
) -> Make:
    packed = sizes[-1] != sizes[0]

    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        lead, ends = _lead(sizes, packed), (sizes[0], units)
        kept = (*lead, SHAPES[kind].kept * units)
        shapes = ((*lead, units), ends, kept, ends)
        some = given if kind == "lstm" else given[:3] + "0"
        grads = [
            rng.normal(0, 1, shape).astype(t) if yes == "1" else None
            for shape, yes in zip(shapes, some, strict=True)
        ]
        # gates are between 0 and 1, new states around 0
        reserve = rng.uniform(0.1, 0.9, kept).astype(t)
        if kind == "rnn_relu":
            reserve -= t(0.5)
        hx, w_hh = _states(rng, t, kind, sizes[0], units), _weight(rng, t, kind, units)
        how = {"kind": kind, "back": back, "wanted": [yes == "1" for yes in wanted]}
        return [*grads, hx, w_hh, reserve], {**how, "batch_sizes": sizes if packed else None}

    return make


#: units, rows of each step, backwards: in one launch with several warps, or blocks, or packed rows; wider
_COURSES: tuple[tuple[int, list[int], bool], ...] = (
    (6, [5] * 7, False), (3, [2] * 4, True), (40, [6] * 3, False), (5, [9, 6, 4, 2, 1], False),
    (33, [9, 9, 4, 1], True), (1, [1], False), (260, [3] * 2, False), (257, [4, 3, 1], True),
)  # fmt: skip
_KINDS = tuple(SHAPES)

CASES = [
    *(
        Case("recurrent_layer", _layer(kind, *course, True, True), f"{kind}-{course}", 256)
        for kind in _KINDS
        for course in _COURSES
    ),
    *(
        Case("recurrent_layer", _layer(kind, units, [3, 3], True, False, False), f"{kind}-{units}-light", 256)
        for kind in _KINDS
        for units in (7, 258)
    ),
    *(
        Case("recurrent_layer_backward", _slope(kind, *course), f"{kind}-{course}", 512)
        for kind in _KINDS
        for course in _COURSES
    ),
    *(
        Case(
            "recurrent_layer_backward", _slope(kind, units, [5, 2], False, given, wanted),
            f"{kind}-{units}-{given}-{wanted}", 512,
        )
        for kind in _KINDS
        for units, given, wanted in (
            (7, "1010", "1100"), (7, "0110", "0011"), (7, "0001", "0100"), (258, "0011", "1010"),
            (258, "1000", "0101"),
        )
    ),
]  # fmt: skip
