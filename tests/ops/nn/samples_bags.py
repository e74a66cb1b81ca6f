"""Samples of bags of rows."""

from __future__ import annotations

from tests.ops.table import I, S, T

TABLE, INPUT, BEGIN = T(6, 2), I([0, 3, 4, 1, 3]), I([0, 2, 2])
GRID = I([[0, 3, 3], [4, 1, 0]])
F32 = "float32 bfloat16"

SAMPLES = {
    "nn.functional.embedding_bag": [
        *(
            sample
            for mode in ("sum", "mean", "max")
            for sample in (
                S(INPUT, TABLE, BEGIN, mode=mode).dtypes(F32).no_graph(),
                S(GRID, TABLE, mode=mode).dtypes("float32").no_graph(),
                S(INPUT, TABLE, BEGIN, mode=mode, padding_idx=3).dtypes("float32").no_graph(),
                S(GRID, TABLE, mode=mode, padding_idx=-6).dtypes("float32").no_graph(),
            )
        ),
        S(INPUT, TABLE, BEGIN, mode="sum", per_sample_weights=T(5)).dtypes("float32").no_graph(),
        S(INPUT, TABLE, I([0, 2, 5]), include_last_offset=True).dtypes("float32").no_graph(),
        S(I([0, 3], dtype="int32"), TABLE, I([0], dtype="int32")).dtypes("float32").no_graph(),
        S(I((0,), 1), TABLE, I([0, 0])).dtypes("float32").no_graph(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.embedding_bag": [
        S(INPUT, TABLE),
        S(GRID, T(2), BEGIN),
        S(I([[[0]]]), TABLE),
        S(INPUT, TABLE, I([[0, 1]])),
        S(INPUT, TABLE, BEGIN, mode="foo"),
        S(INPUT, TABLE, BEGIN, per_sample_weights=T(5)),
        S(INPUT, TABLE, BEGIN, mode="sum", per_sample_weights=T(4)),
        S(INPUT, TABLE, BEGIN, mode="sum", per_sample_weights=T(5, dtype="float32")),
        S(INPUT, TABLE, BEGIN, padding_idx=9),
        S(INPUT, TABLE, BEGIN, mode="max", scale_grad_by_freq=True),
        S(T(5, grad=False), TABLE, BEGIN).no_values(),
        S(INPUT, I((6, 2), 3), BEGIN),
    ],
}

#: calls that raise where there are values
VALUE_ERRORS = {
    "nn.functional.embedding_bag": [
        S(INPUT, TABLE, I([1, 2])).no_values(),
        S(INPUT, TABLE, I([0, 9])),
    ],
}
