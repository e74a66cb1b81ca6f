"""Indices drawn by weights."""

from __future__ import annotations

from typing import Any

from ...data import Meta, dtypes, numel, rng
from ...declare import kernel
from ...tensor import Tensor


def _multinomial_infer(input: Tensor, num_samples: int, replacement: bool) -> Meta:
    if input.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if input.dtype.category != dtypes.FLOAT:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {input.dtype.title}"
        )
    if input.shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > input.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    return Meta((*input.shape[:-1], num_samples), dtypes.int64)


def _multinomial_impl(xp: Any, a: Any, num_samples: int, replacement: bool, meta: Meta, key: Any) -> Any:
    """With replacement, invert the cumulative weights; without, sort by exponential clocks."""
    rows = a.reshape(numel(a.shape[:-1]), a.shape[-1]).astype(xp.float64)
    if replacement and num_samples > 1:
        for bad, what in ((rows < 0, "< 0"), (~xp.isfinite(rows), "= infinity or NaN")):
            if bool(bad.any()):
                raise RuntimeError(
                    f"invalid multinomial distribution (encountering probability entry {what})"
                )
    if not bool((xp.isfinite(rows) & (rows >= 0)).all()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not bool((rows.sum(axis=1) > 0).all()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")

    def draw(first: int, count: int) -> Any:
        return rng.uniform(key, count, True, xp, first)

    if replacement:
        ends = xp.cumsum(rows, axis=1)
        if not bool(xp.isfinite(ends).all()):  # weights that only together are too large
            ends = xp.cumsum(rows / rows.max(axis=1, keepdims=True), axis=1)
        u = rng.blockwise(numel(meta.shape), draw, xp).reshape(rows.shape[0], num_samples) * ends[:, -1:]
        # a product may be rounded to the sum: that is of the last category that has a weight
        found = xp.minimum((u[:, :, None] >= ends[:, None, :]).sum(axis=2), ends.argmax(axis=1)[:, None])
    else:
        u = rng.blockwise(rows.size, draw, xp).reshape(rows.shape)
        found = xp.argsort(-rows / -xp.log1p(-u), axis=1, kind="stable")[:, :num_samples]
    return found.reshape(meta.shape)


def _multinomial_cost(input: Tensor, num_samples: int, replacement: bool = False) -> tuple[int, int]:
    """Weights and cumulative weights in float64; with replacement, each draw is compared with each sum."""
    draws = input.numel() * num_samples if replacement else 0
    return draws + 10 * input.numel(), draws + 48 * input.numel()


multinomial = kernel(
    "multinomial(Tensor input, int num_samples, bool replacement=False) -> Tensor",
    cost=_multinomial_cost,
    infer=_multinomial_infer,
    impl=_multinomial_impl,
    random=True,
    method=True,
    doc="Indices drawn by the weights in each row (torch.multinomial).",
    waits=True,
)
