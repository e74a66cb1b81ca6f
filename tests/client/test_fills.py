"""Tensors overwritten with numbers of a distribution, and bytes seen as another dtype, on both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def test_fills_have_the_moments_of_their_distributions(T: Any) -> None:
    T.manual_seed(0)
    draws = T.zeros(40000, dtype=T.float64)
    needed = draws.geometric_(0.25).numpy().copy()
    assert needed.min() == 1
    assert needed.mean() == pytest.approx(4, abs=0.1)
    logs = np.log(draws.log_normal_(0.5, 0.25).numpy().copy())
    assert (logs.mean(), logs.std()) == pytest.approx((0.5, 0.25), abs=0.01)
    quarters = np.quantile(draws.cauchy_(3.0, 2.0).numpy().copy(), [0.25, 0.5, 0.75])
    np.testing.assert_allclose(quarters, [1, 3, 5], atol=0.1)


def test_random_stays_within_its_ends(T: Any) -> None:
    T.manual_seed(0)
    dice = T.zeros(1000, dtype=T.int32).random_(1, 7)
    assert sorted(set(dice.tolist())) == [1, 2, 3, 4, 5, 6]
    assert set(T.zeros(100).random_(2).tolist()) == {0.0, 1.0}
    assert set(T.zeros(100, dtype=T.bool).random_().tolist()) == {False, True}
    assert T.zeros(1000, dtype=T.uint8).random_().max().item() > 200
    largest = T.zeros(1000).random_().max().item()
    assert 2**20 < largest <= 2**24
    again = T.zeros(5).random_(100, generator=T.Generator().manual_seed(3))
    assert again.tolist() == T.zeros(5).random_(100, generator=T.Generator().manual_seed(3)).tolist()


def test_bits_are_seen_and_written_through_another_dtype(T: Any) -> None:
    x = T.tensor([1.0, -2.0, 0.5])
    bits = x.view(T.int32)
    assert bits.tolist() == [0x3F800000, 0xC0000000 - 2**32, 0x3F000000]
    bits += 1 << 23
    assert x.tolist() == [2.0, -4.0, 1.0]
    assert x.view(T.uint8).shape == (12,)
    with pytest.raises(RuntimeError, match=r"self\.size\(-1\) must be divisible by 2"):
        x.view(T.float64)
    assert not T.ones(2, requires_grad=True).view(T.int32).requires_grad


def test_in_place_functions_of_the_top_level_write(T: Any) -> None:
    x = T.tensor([0.0, 4.0])
    assert T.sqrt_(x) is x
    assert T.clamp_(T.exp_(x), max=5.0).tolist() == [1.0, 5.0]
