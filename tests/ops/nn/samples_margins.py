"""Samples of losses over margins, distances and rates."""

from __future__ import annotations

from typing import Any

from tests.ops.table import I, S, Sample, T

SIGNS = I([[1, -1, 1], [-1, -1, 1], [1, 1, -1], [-1, 1, 1]])
SIDES = I([1, -1, 1, -1])
COUNTS = T(4, 3, low=0.2, high=6.0, grad=False)


def plain(*args: Any, **attrs: Any) -> Sample:
    """In float32 too; PyTorch's nodes differ where its C++ takes numbers for tensors."""
    return S(*args, **attrs).dtypes("float32").no_graph()


SAMPLES = {
    "nn.functional.hinge_embedding_loss": [
        plain(T(4, 3), SIGNS),
        plain(T(4, 3), SIGNS, margin=0.4, reduction="none"),
    ],
    "nn.functional.margin_ranking_loss": [
        plain(T(4, 3), T(4, 3), SIGNS),
        plain(T(4, 3), T(4, 3), SIGNS, margin=0.5, reduction="sum"),
    ],
    "nn.functional.soft_margin_loss": [
        plain(T(4, 3), T(4, 3, grad=False)),
        plain(T(4, 3), T(4, 3, grad=False), reduction="none"),
    ],
    "nn.functional.cosine_similarity": [
        plain(T(4, 3), T(4, 3)).dtypes("float32 int64 bool complex64"),
        plain(T(2, 3), T(4, 2, 3), dim=-1),
    ],
    "nn.functional.cosine_embedding_loss": [
        plain(T(4, 3), T(4, 3), SIDES),
        plain(T(4, 3), T(4, 3), SIDES, margin=-0.5, reduction="none"),
    ],
    "nn.functional.pairwise_distance": [plain(T(4, 3), T(4, 3)), plain(T(4, 3), T(3), p=4.0, keepdim=True)],
    "nn.functional.triplet_margin_loss": [
        plain(T(4, 3), T(4, 3), T(4, 3)),
        plain(T(4, 3), T(4, 3), T(4, 3), margin=3.0, swap=True, reduction="none"),
    ],
    "nn.functional.triplet_margin_with_distance_loss": [
        plain(T(4, 3), T(4, 3), T(4, 3)),
        plain(T(4, 3), T(4, 3), T(4, 3), margin=3.0, swap=True, reduction="none"),
    ],
    "nn.functional.poisson_nll_loss": [
        plain(T(4, 3), COUNTS),
        plain(T(4, 3), COUNTS, full=True, reduction="sum"),
        plain(T(4, 3, low=0.2, high=2.0), COUNTS, log_input=False, reduction="none"),
    ],
}
