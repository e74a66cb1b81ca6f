"""Samples of reading images at the places of a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.table import I, S, T, V


def places(size: tuple[int, ...], shape: tuple[int, ...], corners: bool = False) -> Any:
    """A grid inside and outside of an image of `size`, away from where its gradient jumps."""
    rng = np.random.default_rng(1)
    found = []
    for n in reversed(size):
        at = rng.integers(-2, n + 1, shape) + rng.choice([0.3, 0.7], shape)
        found.append(2 * at / (n - 1) - 1 if corners else (2 * at + 1) / n - 1)
    return V(np.stack(found, -1))


IMAGE, VOLUME = T(2, 3, 4, 5), T(1, 2, 3, 4, 2)
GRIDS = {corners: places((4, 5), (2, 3, 2), corners) for corners in (False, True)}
GRID, CELLS = GRIDS[False], places((3, 4, 2), (1, 2, 2, 3))
FLOATS = "float32 bfloat16 float16"
MAPS = T(2, 2, 3)

SAMPLES = {
    "affine_grid_generator": [S(MAPS, [2, 3, 4, 5], False).dtypes("float32").no_graph()],
    "nn.functional.grid_sample": [
        *(
            S(IMAGE, GRIDS[corners], mode, padding, align_corners=corners).dtypes("float32").no_graph()
            for mode in ("bilinear", "nearest", "bicubic")
            for padding in ("zeros", "border", "reflection")
            for corners in (False, True)
        ),
        S(IMAGE, GRID, align_corners=False).dtypes(FLOATS).tol(1e-6, 6e-2).no_graph(),
        *(
            S(VOLUME, CELLS, mode, padding, align_corners=False).dtypes("float32").no_graph()
            for mode, padding in (("bilinear", "zeros"), ("bilinear", "reflection"), ("nearest", "border"))
        ),
        S(T(1, 2, 1, 1), T(1, 2, 2, 2), "bilinear", "reflection", True).dtypes("float32").no_graph().kink(),
        S(T(1, 0, 4, 5), T(1, 3, 3, 2), align_corners=False).dtypes("float32").no_graph(),
    ],
    "nn.functional.affine_grid": [
        S(MAPS, (2, 1, 3, 4), align_corners=False).dtypes("float32").no_graph(),
        S(MAPS, [2, 1, 3, 4], align_corners=True).dtypes("float32").no_graph(),
        S(T(1, 3, 4), (1, 1, 2, 3, 2), align_corners=False).dtypes("float32").no_graph(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.grid_sample": [
        S(IMAGE, GRID, "foo"),
        S(IMAGE, GRID, padding_mode="foo"),
        S(VOLUME, CELLS, "bicubic", align_corners=False),
        S(VOLUME, T(1, 2, 2, 2), align_corners=False),
        S(IMAGE, T(1, 3, 3, 2), align_corners=False),
        S(IMAGE, T(2, 3, 3, 3), align_corners=False),
        S(T(2, 3, 0, 5), GRID, align_corners=False),
        S(IMAGE, T(2, 3, 3, 2, dtype="float32"), align_corners=False),
        S(I((2, 1, 3, 3), 3), I((2, 1, 3, 2), 3), align_corners=False),
    ],
    "nn.functional.affine_grid": [
        S(MAPS, (1, 1, 3, 4), align_corners=False),
        S(MAPS, (2, 1, 3, 4, 5), align_corners=False),
        S(MAPS, (2, 1, 3), align_corners=False),
        S(MAPS, (2, 1, 0, 4), align_corners=False),
        S(I((2, 2, 3), 3), (2, 1, 3, 4), align_corners=False),
    ],
}
