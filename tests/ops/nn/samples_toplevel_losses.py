"""Samples of losses at the top level."""

from __future__ import annotations

from tests.ops.nn.samples_ctc import LENGTHS, LOGS, STEPS, TARGETS, sample
from tests.ops.table import S, T, V

_SIGNS = V([1.0, -1.0, 1.0], grad=False)
_LOSSES = {
    "binary_cross_entropy_with_logits": (T(3), T(3, low=0.0, high=1.0, grad=False)),
    "cosine_embedding_loss": (T(3, 2), T(3, 2), _SIGNS, 0.1),
    "hinge_embedding_loss": (T(3), _SIGNS, 0.5),
    "kl_div": (T(3, 2), T(3, 2, low=0.1, high=1.0)),
    "margin_ranking_loss": (T(3), T(3), _SIGNS, 0.1),
    "poisson_nll_loss": (T(3), T(3, low=0.5, high=3.0, grad=False), True, True, 1e-8),
    "triplet_margin_loss": (T(3, 2), T(3, 2), T(3, 2), 2.0),
}

SAMPLES = {
    **{
        name: [S(*given, reduction=number).dtypes("").no_graph() for number in (0, 1, 2)]
        for name, given in _LOSSES.items()
    },
    "ctc_loss": [sample(LOGS, TARGETS, STEPS, LENGTHS, reduction=2).dtypes("")],
}
