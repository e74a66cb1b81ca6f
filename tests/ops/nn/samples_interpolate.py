"""Samples of resizing."""

from __future__ import annotations

import warnings
from typing import Any

from tests.ops.table import I, S, T, lookup


def _older(name: str, *args: Any, **how: Any) -> Any:
    """A call of what interpolate replaced, without its warning."""

    def call(*given: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return lookup(f"nn.functional.{name}")(*given)

    spelled = S(IMAGE, *args).calls(call).no_graph()
    return spelled.torch(lambda torch, x, *_: torch.nn.functional.interpolate(x, args[0], **how))


IMAGE = T(2, 3, 4, 5)
ROW = T(2, 3, 5)
VOLUME = T(1, 2, 3, 2, 2)
FLOATS = "float32 bfloat16 float16"

SAMPLES = {
    "nn.functional.upsample": [_older("upsample", 5, None, "bilinear", mode="bilinear")],
    "nn.functional.upsample_nearest": [_older("upsample_nearest", (3, 7))],
    "nn.functional.upsample_bilinear": [_older("upsample_bilinear", 5, mode="bilinear", align_corners=True)],
    "nn.functional.interpolate": [
        S(IMAGE, scale_factor=2).dtypes(FLOATS),
        S(IMAGE, (3, 7)).dtypes("float32"),
        S(IMAGE, scale_factor=(0.6, 1.7)).dtypes("float32"),
        S(IMAGE, scale_factor=(0.6, 1.7), recompute_scale_factor=True).dtypes("float32"),
        S(ROW, 4).dtypes("float32"),
        S(VOLUME, 4).dtypes("float32"),
        S(IMAGE, (3, 7), mode="nearest-exact").dtypes(FLOATS),
        S(ROW, scale_factor=1.7, mode="nearest-exact").dtypes("float32"),
        S(VOLUME, 4, mode="nearest-exact").dtypes("float32"),
        S(I((1, 2, 4, 5), 255, dtype="uint8"), 7),
        S(IMAGE, (3, 7), mode="area").dtypes("float32"),
        S(IMAGE, scale_factor=2, mode="area").dtypes("float32"),
        S(ROW, 3, mode="area").dtypes("float32").no_graph(),
        *(
            sample
            for corners in (False, True)
            for sample in (
                S(ROW, 7, mode="linear", align_corners=corners).dtypes("float32"),
                S(ROW, scale_factor=0.6, mode="linear", align_corners=corners).dtypes("float32"),
                S(IMAGE, (3, 7), mode="bilinear", align_corners=corners).dtypes(FLOATS),
                S(IMAGE, scale_factor=(0.6, 1.7), mode="bilinear", align_corners=corners).dtypes("float32"),
                S(IMAGE, (6, 2), mode="bicubic", align_corners=corners).dtypes(FLOATS),
                S(IMAGE, (1, 9), mode="bicubic", align_corners=corners).dtypes("float32"),
                S(VOLUME, (2, 3, 5), mode="trilinear", align_corners=corners).dtypes("float32"),
                S(IMAGE, (2, 9), mode="bilinear", align_corners=corners, antialias=True).dtypes("float32"),
                S(IMAGE, (6, 2), mode="bicubic", align_corners=corners, antialias=True).dtypes("float32"),
            )
        ),
        S(T(1, 2, 9, 8), (3, 12), mode="lanczos", antialias=True).dtypes("float32"),
        S(T(1, 2, 9, 8), scale_factor=0.4, mode="bilinear", antialias=True).dtypes("float32"),
        S(T(0, 2, 4, 5), 3, mode="bilinear").dtypes("float32").no_grad(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.interpolate": [
        S(IMAGE),
        S(IMAGE, 3, 2),
        S(IMAGE, (3, 3, 3)),
        S(IMAGE, scale_factor=(1, 2, 3)),
        S(T(4, 5), 2),
        S(IMAGE, 0),
        S(IMAGE, 0, mode="bilinear"),
        S(IMAGE, 3, align_corners=True),
        S(IMAGE, 3, mode="foo"),
        S(IMAGE, 3, mode="linear"),
        S(ROW, 3, mode="bilinear"),
        S(IMAGE, 3, mode="lanczos"),
        S(IMAGE, 3, mode="nearest", antialias=True),
        S(IMAGE, 3, recompute_scale_factor=True),
        S(IMAGE, scale_factor=0.1, mode="bicubic"),
        S(T(2, 0, 4, 5), 2),
        S(T(2, 0, 4, 5), 2, mode="bilinear"),
        S(I((2, 3, 4, 5), 3), 2).no_values(),
        S(I((2, 3, 4, 5), 3), 2, mode="bicubic"),
    ],
}
