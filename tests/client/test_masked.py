"""torch.masked on both sides: what is masked out counts for nothing, in values and gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

ROWS = [[1.0, 9.0, 2.0], [4.0, 3.0, 9.0]]
MASK = [[True, False, True], [True, True, False]]
KEPT = [[1.0, 2.0], [4.0, 3.0]]


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("sum", np.sum),
        ("prod", np.prod),
        ("mean", np.mean),
        ("amax", np.max),
        ("amin", np.min),
        ("median", np.min),  # of two the lower
        ("norm", np.linalg.norm),
        ("logsumexp", lambda row: np.log(np.exp(row).sum())),
        ("var", lambda row: np.var(row, ddof=1)),
        ("std", lambda row: np.std(row, ddof=1)),
    ],
)
def test_a_reduction_is_that_of_what_is_left(T: Any, name: str, of: Any) -> None:
    x, mask = T.tensor(ROWS, requires_grad=True), T.tensor(MASK)
    found = getattr(T.masked, name)(x, dim=1, mask=mask)
    np.testing.assert_allclose(found.detach().numpy(), [of(row) for row in KEPT], rtol=1e-6)
    found.sum().backward()
    assert (x.grad.numpy()[~np.array(MASK)] == 0).all()


def test_probabilities_are_of_what_is_left(T: Any) -> None:
    x, mask = T.tensor(ROWS), T.tensor(MASK)
    found = T.masked.softmax(x, 1, mask=mask).numpy()
    odds = np.exp(np.array(KEPT))
    np.testing.assert_allclose(found[np.array(MASK)], (odds / odds.sum(1, keepdims=True)).ravel(), rtol=1e-6)
    assert (found[~np.array(MASK)] == 0).all()
    least = T.masked.softmin(x, 1, mask=mask).numpy()
    assert least[0, 0] > least[0, 2] > least[0, 1] == 0


def test_a_row_without_elements_has_the_neutral_one(T: Any) -> None:
    x, none = T.tensor([2.0, 3.0]), T.tensor([False, False])
    assert T.masked.sum(x, mask=none).item() == 0
    assert T.masked.amax(x, mask=none).item() == -math.inf
    assert math.isnan(T.masked.mean(x, mask=none).item())
    small = T.tensor([2, 3], dtype=T.int8)
    assert T.masked.sum(small, mask=T.tensor([True, False])).dtype is T.int64
    assert T.masked.argmin(small, mask=T.tensor([False, True])).item() == 1


def test_what_has_no_mean_is_refused(T: Any) -> None:
    with pytest.raises(ValueError, match="Could not infer output dtype"):
        T.masked.mean(T.tensor([1, 2]))
    with pytest.raises(IndexError, match="mask dimensionality higher than of the input"):
        T.masked.sum(T.ones(2), mask=T.ones(1, 2, dtype=T.bool))
