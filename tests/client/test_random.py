"""gradd.Generator: the session's random stream as an object."""

from __future__ import annotations

import gradd
import pytest


def test_manual_seed_restarts_and_returns_the_stream() -> None:
    with gradd.connect("local:"):
        generator = gradd.manual_seed(3)
        assert isinstance(generator, gradd.Generator)
        assert generator.initial_seed() == 3
        first = gradd.rand(4).tolist()
        assert generator.manual_seed(3) is generator
        assert gradd.rand(4).tolist() == first
        assert gradd.manual_seed(-1).initial_seed() == 2**64 - 1
        assert str(generator.device) == "cpu"


def test_seed_is_by_chance() -> None:
    with gradd.connect("local:"):
        generator = gradd.Generator()
        assert generator.initial_seed() == 67280421310721
        one = generator.seed()
        assert generator.initial_seed() == one
        assert generator.seed() != one


def test_sessions_have_streams_of_their_own() -> None:
    with gradd.connect("local:"):
        outer = gradd.manual_seed(1)
        with gradd.connect("local:"):
            gradd.manual_seed(2)
        assert outer.initial_seed() == 1


def test_a_seed_is_an_integer() -> None:
    with gradd.connect("local:"), pytest.raises(TypeError):
        gradd.manual_seed(1.5)


def test_draws_by_tensors_belong_to_their_session() -> None:
    with gradd.connect("local:"):
        means, spread = gradd.zeros(3), gradd.ones(3)
        for drawn in (gradd.normal(means, spread), gradd.normal(means), gradd.normal(2.0, spread)):
            assert drawn.shape == (3,)
            assert gradd.isfinite(drawn).all()
        with gradd.connect("local:"):
            assert (gradd.normal(2.0, spread) + means).shape == (3,)
