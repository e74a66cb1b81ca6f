"""Sobol sequences: the same points as PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest


def test_the_first_points(T: Any) -> None:
    engine = T.quasirandom.SobolEngine(5)
    assert repr(engine) == "SobolEngine(dimension=5)"
    points = engine.draw(3)
    assert (points.dtype, tuple(points.shape)) == (T.float32, (3, 5))
    assert points.tolist() == [[0.0] * 5, [0.5] * 5, [0.75, 0.25, 0.25, 0.25, 0.75]]
    assert engine.num_generated == 3
    assert engine.draw().tolist() == [[0.25, 0.75, 0.75, 0.75, 0.25]]
    assert engine.draw(2, dtype=T.float64).dtype == T.float64
    assert engine.reset().draw(2)[1].tolist() == [0.5] * 5


#: of PyTorch: the sum over k of 64 k times the last coordinate of point k, and that over i of i times number
#: i of each dimension
CHECKS = {
    1: (64016, 2147483616), 2: (65040, 364465903612), 21: (64528, 5181975283244),
    1000: (64528, 250868953825760), 3667: (64016, 914215310477676),
}  # fmt: skip


@pytest.mark.parametrize("dimension", CHECKS)
def test_points_of_any_dimension(T: Any, dimension: int) -> None:
    engine = T.quasirandom.SobolEngine(dimension)
    points = engine.draw(64)
    # each dimension has every multiple of 1/64 once
    numbers = points.mul(64).long()
    assert (numbers.sort(0).values == T.arange(64).unsqueeze(1)).all().item()
    check = numbers.mul(T.arange(64).unsqueeze(1)).sum(0)
    every = engine.sobolstate.mul(T.arange(1, 31)).sum()
    assert (check[-1].item(), every.item()) == CHECKS[dimension]


def test_points_are_passed_over(T: Any) -> None:
    make = T.quasirandom.SobolEngine
    want = make(3).draw(50)[37:].tolist()
    assert make(3).fast_forward(37).draw(13).tolist() == want
    engine = make(3)
    engine.draw(30)
    assert engine.fast_forward(7).draw(13).tolist() == want
    out = T.empty(0)
    assert make(3).draw(4, out=out) is out
    assert out.tolist() == make(3).draw(4).tolist()


def test_powers_of_two(T: Any) -> None:
    engine = T.quasirandom.SobolEngine(2)
    assert tuple(engine.draw_base2(3).shape) == (8, 2)
    assert tuple(engine.draw_base2(3).shape) == (8, 2)
    with pytest.raises(ValueError, match=r"n=16\+2\*\*3=24. If you still want to do this, please use"):
        engine.draw_base2(3)


@pytest.mark.parametrize("dimension", [0, 30000])
def test_dimensions_that_are_refused(T: Any, dimension: int) -> None:
    with pytest.raises(ValueError, match=r"Supported range of dimensionality for SobolEngine is \[1, "):
        T.quasirandom.SobolEngine(dimension)


def test_scrambled_points_are_as_even(T: Any) -> None:
    engine = T.quasirandom.SobolEngine(4, scramble=True, seed=3)
    assert repr(engine) == "SobolEngine(dimension=4, scramble=True, seed=3)"
    points = engine.draw(64)
    assert ((points.mul(64).long().sort(0).values) == T.arange(64).unsqueeze(1)).all().item()
    again = T.quasirandom.SobolEngine(4, scramble=True, seed=3)
    assert again.draw(64).tolist() == points.tolist()
    other = T.quasirandom.SobolEngine(4, scramble=True, seed=4)
    assert other.draw(64).tolist() != points.tolist()
    assert engine.reset().draw(64).tolist() == points.tolist()
