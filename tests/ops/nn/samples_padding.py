"""Samples of padding."""

from __future__ import annotations

from tests.ops.table import I, S, T

IMAGE = T(2, 3, 4, 5)
VOLUME = T(1, 2, 3, 2, 4)
SOME = "float32 bfloat16 int64 complex64"

SAMPLES = {
    "nn.functional.pad": [
        S(IMAGE, (1, 2)).complex_too(),
        S(IMAGE, (1, 0, 2, 3), value=1.5).dtypes("float32 bfloat16 int64"),
        S(IMAGE, (-1, 2, 1, -2)),
        S(IMAGE, (-1, -1)),
        S(IMAGE, (0, 0)).dtypes("float32"),
        S(T(3), (2, 2), "constant").dtypes("float32"),
        *(
            sample
            for mode in ("reflect", "replicate")
            for sample in (
                S(IMAGE, (1, 2, 3, 0), mode).dtypes(SOME).complex_too(),
                S(T(3, 4), (2, 3), mode).dtypes("float32"),
                S(IMAGE, (-1, 3, 1, -2), mode).dtypes("float32"),
                S(VOLUME, (1, 2, 1, 0, 2, 1), mode).dtypes("float32"),
                S(T(0, 3, 4), (1, 1), mode).dtypes("float32").no_grad(),
            )
        ),
        S(IMAGE, (1, 2, 4, 0), "circular").dtypes(f"{SOME} bool").complex_too().no_graph(),
        S(T(2, 3, 4), (-1, 2), "circular").dtypes("float32").no_graph(),
        S(VOLUME, (1, 2, 1, 0, 2, 3), "circular").dtypes("float32").no_graph(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.pad": [
        S(IMAGE, (1,)),
        S(IMAGE, (1,) * 10),
        S(IMAGE, (-7, 0)),
        S(IMAGE, (1, 1), mode="foo"),
        S(IMAGE, (1, 1, 1, 1), mode="foo"),
        S(IMAGE, (1, 1), mode="reflect"),
        S(IMAGE, (1, 1, 1, 1), mode="reflect", value=1.0),
        S(IMAGE, (1, 5, 0, 0), mode="reflect"),
        S(IMAGE, (1, 6, 0, 0), mode="circular"),
        S(T(2, 3, 4), (-2, -3), mode="circular"),
        S(T(2, 0, 4), (1, 1), mode="replicate"),
        S(T(0, 3, 4), (1, 1, 1, 1), mode="replicate"),
        S(I((2, 3, 4), 2, dtype="bool"), (1, 1), mode="reflect"),
    ],
}
