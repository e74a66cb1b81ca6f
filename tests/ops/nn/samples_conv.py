"""Samples of convolutions."""

from __future__ import annotations

from tests.ops.table import I, S, T

TYPES = "float32 bfloat16 float16 complex64"
IMAGE = T(2, 4, 5, 6)
WEIGHT = T(3, 4, 3, 3)

SAMPLES = {
    "nn.functional.conv2d": [
        S(IMAGE, T(3, 4, 3, 2), T(3)).dtypes(TYPES).complex_too(),
        S(IMAGE, T(4, 2, 3, 3), T(4), stride=2, padding=1, groups=2).dtypes(TYPES),
        S(IMAGE, T(3, 4, 2, 2), stride=(2, 1), padding=(1, 0), dilation=(2, 3)).dtypes("float32"),
        S(IMAGE, T(4, 1, 3, 3), groups=4, padding="same").dtypes("float32"),
        S(IMAGE, T(2, 4, 2, 3), padding="same").dtypes("float32"),
        S(IMAGE, T(2, 4, 2, 3), padding="valid").dtypes("float32"),
        S(T(4, 5, 6), T(3, 4, 3, 3), T(3)).dtypes("float32"),
        S(T(0, 4, 5, 6), T(3, 4, 3, 3)).dtypes("float32").no_grad(),
    ],
    "nn.functional.conv1d": [
        S(T(2, 3, 6), T(4, 3, 3), T(4)).dtypes(TYPES),
        S(T(3, 6), T(4, 3, 3), padding=2, stride=2, dilation=2).dtypes("float32"),
    ],
    "nn.functional.conv3d": [S(T(1, 2, 3, 4, 3), T(2, 2, 2, 2, 2), T(2), padding=1).dtypes("float32")],
    "nn.functional.conv_transpose1d": [
        S(T(2, 3, 5), T(3, 2, 3), T(2), stride=2, output_padding=1).dtypes(TYPES),
        S(T(3, 5), T(3, 2, 3)).dtypes("float32"),
    ],
    "nn.functional.conv_transpose2d": [
        S(T(2, 4, 3, 3), T(4, 3, 3, 2), T(3)).dtypes(TYPES).complex_too(),
        S(T(2, 4, 3, 3), T(4, 2, 3, 3), stride=2, padding=1, output_padding=1, groups=2).dtypes("float32"),
        S(T(2, 4, 3, 3), T(4, 3, 2, 2), stride=(1, 3), dilation=2).dtypes("float32"),
    ],
    "nn.functional.conv_transpose3d": [S(T(1, 2, 2, 3, 2), T(2, 2, 2, 2, 2), T(2)).dtypes("float32")],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.conv2d": [
        S(IMAGE, T(3, 2, 3, 3)),
        S(T(5, 6), WEIGHT),
        S(IMAGE, WEIGHT, T(4)),
        S(IMAGE, T(3, 4, 3, 3, dtype="float32")).no_values(),
        S(IMAGE, WEIGHT, T(3, dtype="float32")),
        S(IMAGE, WEIGHT, stride=0),
        S(IMAGE, WEIGHT, padding=-1),
        S(IMAGE, WEIGHT, dilation=0).no_values(),
        S(IMAGE, WEIGHT, groups=0),
        S(IMAGE, WEIGHT, groups=3),
        S(IMAGE, T(4, 1, 3, 3), groups=3),
        S(IMAGE, T(0, 4, 3, 3)),
        S(IMAGE, WEIGHT, stride=(1, 2, 3)),
        S(T(2, 4, 2, 2), WEIGHT),
        S(T(2, 4, 2, 2), WEIGHT, dilation=2, padding=1),
        S(IMAGE, WEIGHT, padding="same", stride=2),
        S(IMAGE, WEIGHT, padding="foo"),
        S(T(2, 4, 0, 6), WEIGHT, padding=2),
        S(I((2, 4, 5, 6), 2, dtype="bool"), I((3, 4, 3, 3), 2, dtype="bool")),
        S(IMAGE, WEIGHT, T(3, 1)),
    ],
    "nn.functional.conv1d": [S(IMAGE, WEIGHT)],
    "nn.functional.conv_transpose2d": [
        S(T(2, 3, 3, 3), T(4, 3, 3, 3)),
        S(T(2, 4, 3, 3), T(4, 3, 3, 3), T(4)),
        S(T(2, 4, 3, 3), T(4, 3, 3, 3), output_padding=1).no_values(),
    ],
}
