"""Powers of complex numbers are rounded as PyTorch rounds them; each test runs on PyTorch and on gradd."""

from __future__ import annotations

import cmath
import math
from typing import Any

import pytest


@pytest.mark.parametrize("count", [4, 8, 12])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_the_half_turn_of_a_root_of_unity_is_not_exact(T: Any, count: int, dtype: str) -> None:
    root = T.tensor(cmath.exp(-2j * math.pi / count), dtype=getattr(T, dtype))
    powers = root ** T.arange(0, count // 2 + 1)
    assert powers[-1].item() != -1
    T.testing.assert_close(powers[-1], T.tensor(-1.0, dtype=powers.dtype))
    assert bool((2 * (1 - powers) / (1 + powers)).abs().isfinite().all())


def test_zero_to_the_power_of_zero(T: Any) -> None:
    zeros = T.zeros(3, dtype=T.complex64)
    assert bool((zeros ** T.zeros(3)).real.isnan().all())
    assert (zeros**0).tolist() == [1, 1, 1]
    assert (zeros ** T.tensor([1.0, 2.0, 3.0])).abs().tolist() == [0, 0, 0]
    assert (1 ** T.tensor([complex(math.inf, 0), 0, 2j])).tolist() == [1, 1, 1]
    assert (zeros ** T.tensor(-1.0)).real.tolist() == [math.inf] * 3


def test_negative_numbers_to_complex_powers(T: Any) -> None:
    found = T.tensor([-1.0, 2.0]) ** T.tensor([0.5 + 0j, 1j])
    T.testing.assert_close(found, T.tensor([1j, complex(math.cos(math.log(2)), math.sin(math.log(2)))]))
    T.testing.assert_close(T.tensor([1 + 1j]) ** 4, T.tensor([-4 + 0j]))
