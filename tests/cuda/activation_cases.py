"""Calls of activations and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cuda.cases import Case, Make


def _given(many: int, shape: tuple[int, ...], **attrs: Any) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        arrays = [rng.normal(0, 3, shape).astype(t) for _ in range(many)]
        edges = np.asarray([0.0, -0.0, np.nan, 30.0, -30.0, 1e-4, -1e-4], t)[: arrays[-1].size]
        arrays[-1].reshape(-1)[: edges.size] = edges
        return arrays, attrs

    return make


_CALLS: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("elu", 1, {"alpha": 1.5, "scale": 2.0, "input_scale": 0.5}),
    ("gelu", 1, {"approximate": "none"}),
    ("gelu", 1, {"approximate": "tanh"}),
    ("gelu_backward", 2, {"approximate": "none"}),
    ("gelu_backward", 2, {"approximate": "tanh"}),
    ("leaky_relu", 1, {"negative_slope": 0.02}),
    ("relu", 1, {}),
    ("sigmoid", 1, {}),
    ("sigmoid_backward", 2, {}),
    ("silu", 1, {}),
    ("silu_backward", 2, {}),
    ("tanh_backward", 2, {}),
    ("threshold_backward", 2, {"threshold": 0}),
)

CASES = [
    Case(op, _given(many, shape, **attrs), f"{shape}-{'-'.join(map(str, attrs.values()))}")
    for op, many, attrs in _CALLS
    for shape in ((3, 43), (1,))
]
