"""Samples of maxima put back, and of power averages."""

from __future__ import annotations

from tests.ops.table import I, S, T

FLOATS = "float32 bfloat16 float16"
ROW, ROWS = T(2, 3, 3), I([[[1, 2, 5], [0, 3, 4], [0, 2, 5]]] * 2)
IMAGE, PLACES = T(1, 2, 2, 2), I([[[[0, 3], [9, 15]], [[5, 6], [12, 10]]]])
VOLUME, CELLS = T(1, 1, 2, 2, 2), I([[[[[0, 3], [9, 15]], [[40, 33], [60, 63]]]]])
# one place each that is none in a smaller output: which of several PyTorch names depends on its threads
OUTSIDE = I([[[[0, 3], [9, 15]], [[5, 6], [11, 10]]]])
BEYOND = I([[[[[0, 3], [9, 15]], [[40, 33], [45, 63]]]]])
POSITIVE = T(1, 2, 4, 4, 4, low=0.1)

SAMPLES = {
    "nn.functional.max_unpool1d": [
        S(ROW, ROWS, 2).dtypes(FLOATS),
        S(ROW, ROWS, 2, output_size=(7,)).dtypes("float32"),
        S(T(2, 2), I([[0, 3], [1, 2]]), 2, 2).dtypes("float32"),
    ],
    "nn.functional.max_unpool2d": [
        # PyTorch's gradient views what may not be contiguous
        S(IMAGE, PLACES, 2).dtypes(FLOATS).no_layouts(),
        S(IMAGE, PLACES, 2, output_size=(1, 2, 5, 4)).dtypes("float32").no_layouts(),
        S(IMAGE, PLACES, (3, 2), stride=(2, 2), padding=(0, 0)).dtypes("float32").no_layouts(),
        S(T(0, 2, 2, 2), I((0, 2, 2, 2), 1), 2).dtypes("float32").no_grad(),
    ],
    "nn.functional.max_unpool3d": [
        S(VOLUME, CELLS, 2).dtypes(FLOATS).no_layouts(),
        S(VOLUME, CELLS, 2, output_size=(4, 4, 5)).dtypes("float32").no_layouts(),
    ],
    "nn.functional.lp_pool1d": [
        S(T(2, 3, 6), 2, 2).dtypes(FLOATS),
        S(T(2, 6, low=0.1), 3.0, 2, stride=1).dtypes("float32"),
        S(T(2, 3, 6), float("inf"), 2).dtypes("float32"),
    ],
    "nn.functional.lp_pool2d": [
        S(T(2, 3, 5, 6), 2, 2).dtypes(FLOATS),
        S(T(3, 5, 6), 2.0, (3, 2), stride=2, ceil_mode=True).dtypes("float32"),
        S(T(2, 3, 5, 6), -float("inf"), 2).dtypes("float32"),
    ],
    "nn.functional.lp_pool3d": [
        S(POSITIVE, 2, 2).dtypes("float32"),
        S(POSITIVE, 1.5, (2, 1, 2), stride=1).dtypes("float32"),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.max_unpool1d": [
        S(ROW, ROWS, 2, output_size=(9,)),
        S(ROW, ROWS, 2, output_size=(9, 9)),
        S(ROW, I((2, 3, 3), 2, dtype="int32"), 2),
    ],
    "nn.functional.max_unpool2d": [
        S(IMAGE, I((1, 2, 2, 1), 3), 2),
        S(T(2, 2), I((2, 2), 3), 2),
        S(T(1, 0, 2, 2), I((1, 0, 2, 2), 3), 2),
        S(I((1, 2, 2, 2), 3), PLACES, 2),
    ],
    "nn.functional.max_unpool3d": [
        S(T(2, 2, 2), I((2, 2, 2), 3), 2),
        S(VOLUME, I((1, 1, 2, 2, 2), 3, dtype="int32"), 2),
    ],
}

#: calls that raise where there are values
VALUE_ERRORS = {
    "nn.functional.max_unpool2d": [S(IMAGE, OUTSIDE, 2, output_size=(3, 4)).no_values()],
    "nn.functional.max_unpool3d": [S(VOLUME, BEYOND, 2, output_size=(3, 4, 4)).no_values()],
}
