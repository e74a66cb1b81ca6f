"""All alignments of sequences with their targets, summed (connectionist temporal classification).

A target of L classes has 2 L + 1 states: a blank before, between and after its classes. Samples and states
are computed together, one time step after the other, in logarithms.
Source: Graves et al., https://www.cs.toronto.edu/~graves/icml_2006.pdf
"""

from __future__ import annotations

from typing import Any

import numpy as np


def padded_targets(xp: Any, targets: Any, lengths: Any) -> Any:
    """Targets [N, longest] of a batch that is given so, or one after the other [sum of lengths]."""
    longest = int(lengths.max()) if lengths.size else 0
    if targets.ndim == 2:
        return targets[:, :longest]
    begins = xp.cumsum(lengths) - lengths
    at = begins[:, None] + xp.arange(longest)
    return xp.where(
        xp.arange(longest) < lengths[:, None], targets[xp.minimum(at, max(targets.size - 1, 0))], 0
    )


def _states(xp: Any, targets: Any, blank: int) -> tuple[Any, Any]:
    """The class of each state, and whether it may follow the state before the blank before it."""
    n, longest = targets.shape
    found = xp.full((n, 2 * longest + 1), blank, xp.int64)
    found[:, 1::2] = targets
    skips = xp.zeros(found.shape, bool)
    skips[:, 2:] = (found[:, 2:] != blank) & (found[:, 2:] != found[:, :-2])
    return found, skips


def _sum(xp: Any, *parts: Any) -> Any:
    """The logarithm of a sum of what is given by its logarithms; minus infinity for nothing."""
    most = parts[0]
    for part in parts[1:]:
        most = xp.maximum(most, part)
    base = xp.where(xp.isfinite(most), most, 0)
    total = xp.exp(parts[0] - base)
    for part in parts[1:]:
        total = total + xp.exp(part - base)
    return xp.log(total) + base


def _shifted(xp: Any, x: Any, by: int) -> Any:
    """States moved to `by` later ones, with minus infinity where none came from."""
    out = xp.full(x.shape, -xp.inf, x.dtype)
    if by > 0:
        out[:, by:] = x[:, :-by]
    else:
        out[:, :by] = x[:, -by:]
    return out


def _forward(xp: Any, log_probs: Any, states: Any, skips: Any) -> Any:
    """The log-probability of all beginnings that end in a state at a time, [T, N, states]."""
    steps = log_probs.shape[0]
    alpha = xp.full((steps, *states.shape), -xp.inf, log_probs.dtype)
    for t in range(steps):
        seen = xp.take_along_axis(log_probs[t], states, 1)
        if t == 0:
            alpha[0, :, :2] = seen[:, :2]
            continue
        last = alpha[t - 1]
        jump = xp.where(skips, _shifted(xp, last, 2), -xp.inf)
        alpha[t] = _sum(xp, last, _shifted(xp, last, 1), jump) + seen
    return alpha


def _losses(xp: Any, alpha: Any, steps: Any, lengths: Any) -> Any:
    """The negative log-likelihood of each sample."""
    if not alpha.shape[0]:
        return xp.where(lengths == 0, 0.0, xp.inf).astype(alpha.dtype)
    rows = xp.arange(len(steps))
    end = alpha[xp.maximum(steps - 1, 0), rows]
    last = xp.take_along_axis(end, 2 * lengths[:, None], 1)[:, 0]
    before = xp.take_along_axis(end, xp.maximum(2 * lengths - 1, 0)[:, None], 1)[:, 0]
    found = -_sum(xp, last, xp.where(lengths > 0, before, -xp.inf))
    return xp.where(steps > 0, found, xp.where(lengths == 0, 0.0, xp.inf)).astype(alpha.dtype)


def alignment_losses(xp: Any, log_probs: Any, targets: Any, steps: Any, lengths: Any, blank: int) -> Any:
    """The negative log-likelihoods [N] of padded `targets` under log-probabilities [T, N, C]."""
    states, skips = _states(xp, targets, blank)
    with np.errstate(divide="ignore"):
        return _losses(xp, _forward(xp, log_probs, states, skips), steps, lengths)


def alignment_slopes(
    xp: Any, log_probs: Any, targets: Any, steps: Any, lengths: Any, blank: int
) -> tuple[Any, Any]:
    """The losses, and their gradients for what log_probs are the log-softmax of, [T, N, C]."""
    states, skips = _states(xp, targets, blank)
    most, n, classes = log_probs.shape
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        alpha = _forward(xp, log_probs, states, skips)
        losses = _losses(xp, alpha, steps, lengths)
        onward = xp.zeros(states.shape, bool)
        onward[:, :-2] = skips[:, 2:]
        number = xp.arange(states.shape[1])
        ends = (number == 2 * lengths[:, None]) | (
            (number == 2 * lengths[:, None] - 1) & (lengths[:, None] > 0)
        )
        beta = xp.full(states.shape, -xp.inf, log_probs.dtype)
        found = xp.zeros(log_probs.shape, log_probs.dtype)
        rows = xp.arange(n)
        for t in range(most - 1, -1, -1):
            seen = xp.take_along_axis(log_probs[t], states, 1)
            jump = xp.where(onward, _shifted(xp, beta, -2), -xp.inf)
            inner = _sum(xp, beta, _shifted(xp, beta, -1), jump) + seen
            first = xp.where(ends, seen, -xp.inf)
            here = (steps - 1 == t)[:, None]
            beta = xp.where(here, first, xp.where((steps - 1 > t)[:, None], inner, -xp.inf))
            both = alpha[t] + beta
            top = both.max(axis=1, keepdims=True)
            top = xp.where(xp.isfinite(top), top, 0)
            parts = xp.exp(both - top)
            shares = xp.zeros((n, classes), log_probs.dtype)
            for s in range(states.shape[1]):
                shares[rows, states[:, s]] += parts[:, s]
            # a state's own probability is in both
            held = xp.exp(xp.log(shares) + top + losses[:, None] - log_probs[t])
            held = xp.where(shares > 0, held, xp.where(xp.isfinite(losses)[:, None], 0, xp.nan))
            found[t] = xp.where((steps > t)[:, None], xp.exp(log_probs[t]) - held, 0)
    return losses, found
