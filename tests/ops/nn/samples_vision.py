"""Samples of padding and resizing."""

from __future__ import annotations

from tests.ops.table import I, S, T

IMAGE = T(2, 3, 4, 5)

SAMPLES = {
    "nn.functional.pad": [
        S(IMAGE, (1, 2)).complex_too(),
        S(IMAGE, (1, 0, 2, 3), value=1.5).dtypes("float32 bfloat16 int64"),
        S(IMAGE, (-1, 2, 1, -2)),
        S(IMAGE, (-1, -1)),
        S(IMAGE, (0, 0)).dtypes("float32"),
        S(T(3), (2, 2), "constant").dtypes("float32"),
    ],
    "nn.functional.interpolate": [
        S(IMAGE, scale_factor=2).dtypes("float32 bfloat16 float16"),
        S(IMAGE, (3, 7)).dtypes("float32"),
        S(IMAGE, scale_factor=(0.6, 1.7)).dtypes("float32"),
        S(IMAGE, scale_factor=(0.6, 1.7), recompute_scale_factor=True).dtypes("float32"),
        S(T(2, 3, 5), 4).dtypes("float32"),
        S(T(1, 2, 3, 2, 2), 4).dtypes("float32"),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.pad": [
        S(IMAGE, (1,)),
        S(IMAGE, (1,) * 10),
        S(IMAGE, (-7, 0)),
        S(IMAGE, (1, 1), mode="foo"),
    ],
    "nn.functional.interpolate": [
        S(IMAGE),
        S(IMAGE, 3, 2),
        S(IMAGE, (3, 3, 3)),
        S(IMAGE, scale_factor=(1, 2, 3)),
        S(T(4, 5), 2),
        S(IMAGE, 0),
        S(IMAGE, 3, align_corners=True),
        S(IMAGE, 3, mode="foo"),
        S(T(2, 0, 4, 5), 2),
        S(I((2, 3, 4, 5), 3), 2).no_values(),
    ],
}
