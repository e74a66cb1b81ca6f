"""gradd.Generator: the session's random stream, and streams of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd
import pytest

DRAWS: dict[str, Callable[..., Any]] = {
    "rand": lambda **kw: gradd.rand(3, **kw),
    "randn": lambda **kw: gradd.randn((2, 2), **kw),
    "randint": lambda **kw: gradd.randint(0, 1000, (4,), **kw),
    "randperm": lambda **kw: gradd.randperm(50, **kw),
    "normal": lambda **kw: gradd.normal(0.0, 1.0, (3,), **kw),
    "normal of tensors": lambda **kw: gradd.normal(gradd.zeros(3), gradd.ones(3), **kw),
    "rand_like": lambda **kw: gradd.rand_like(gradd.ones(3), **kw),
    "bernoulli": lambda **kw: gradd.bernoulli(gradd.full((40,), 0.5), **kw),
    "multinomial": lambda **kw: gradd.multinomial(gradd.ones(50), 20, **kw),
    "multinomial of a tensor": lambda **kw: gradd.ones(50).multinomial(20, **kw),
    "bernoulli_": lambda **kw: gradd.empty(40).bernoulli_(0.5, **kw),
    "exponential_": lambda **kw: gradd.empty(3).exponential_(**kw),
    "normal_": lambda **kw: gradd.empty(3).normal_(**kw),
    "uniform_": lambda **kw: gradd.empty(3).uniform_(-1, 1, **kw),
    "init.normal_": lambda **kw: gradd.nn.init.normal_(gradd.empty(3), **kw),
    "init.trunc_normal_": lambda **kw: gradd.nn.init.trunc_normal_(gradd.empty(3), **kw),
    "init.xavier_uniform_": lambda **kw: gradd.nn.init.xavier_uniform_(gradd.empty(2, 2), **kw),
    "init.kaiming_normal_": lambda **kw: gradd.nn.init.kaiming_normal_(gradd.empty(2, 2), **kw),
    "init.orthogonal_": lambda **kw: gradd.nn.init.orthogonal_(gradd.empty(2, 2), **kw),
}


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


@pytest.mark.parametrize("name", DRAWS)
def test_a_generator_has_a_stream_of_its_own(name: str) -> None:
    draw = DRAWS[name]
    with gradd.connect("local:"):
        gradd.manual_seed(5)
        alone = draw().tolist()
        gradd.manual_seed(5)
        generator = gradd.Generator().manual_seed(7)
        first = draw(generator=generator).tolist()
        assert draw().tolist() == alone
        second = draw(generator=generator).tolist()
        assert generator.manual_seed(7) is generator
        gradd.rand(3)
        assert [draw(generator=generator).tolist() for _ in range(2)] == [first, second]
        assert first != second
        assert draw(generator=gradd.manual_seed(5)).tolist() == alone


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_generators_over_a_daemon(daemon: str, transport: str) -> None:
    def drawn(session: Any) -> list[Any]:
        one, other = gradd.Generator().manual_seed(1), gradd.Generator()
        model = gradd.nn.Linear(2, 2)
        gradd.nn.init.normal_(model.weight, generator=one)
        held = one.get_state()
        found = [model.weight, gradd.rand(2, generator=other), gradd.rand(2, generator=one)]
        one.set_state(held)
        again = gradd.rand(2, generator=one)
        trips = session.stats()["round_trips"]
        gradd.rand(2, generator=other)
        assert session.stats()["round_trips"] == trips
        assert again.tolist() == found[2].tolist()
        return [t.tolist() for t in found]

    with gradd.connect("local:") as session:
        here = drawn(session)
    with gradd.connect(daemon, transport=transport) as session:
        assert drawn(session) == here


def test_states_take_a_stream_back() -> None:
    with gradd.connect("local:"):
        state = gradd.get_rng_state()
        assert state.dtype is gradd.uint8
        first = gradd.rand(3).tolist()
        gradd.set_rng_state(state)
        assert gradd.rand(3).tolist() == first
        generator = gradd.Generator()
        assert generator.set_state(state) is generator
        assert gradd.rand(3, generator=generator).tolist() == first
        fresh = gradd.Generator()
        held = fresh.get_state()
        second = gradd.rand(3, generator=fresh).tolist()
        fresh.set_state(held)
        assert gradd.rand(3, generator=fresh).tolist() == second


def test_what_is_no_generator_and_no_state() -> None:
    with gradd.connect("local:"):
        with pytest.raises(TypeError, match=r"argument 'generator' must be torch\.Generator, not int"):
            gradd.ones(2).normal_(generator=3)
        with pytest.raises(TypeError, match=r"expected a torch\.ByteTensor, but got int"):
            gradd.set_rng_state(3)
        with pytest.raises(TypeError, match=r"RNG state must be a torch\.ByteTensor"):
            gradd.set_rng_state(gradd.ones(3))
        with pytest.raises(RuntimeError, match="holds no RNG state"):
            gradd.Generator().set_state(gradd.ones(3, dtype=gradd.uint8))
        assert gradd.rand(2, generator=gradd.Generator()).shape == (2,)


def test_the_default_generator_is_the_current_sessions_own_stream() -> None:
    with gradd.connect("local:"):
        assert gradd.manual_seed(3) is gradd.default_generator is gradd.random.default_generator
        first, state = gradd.rand(4).tolist(), gradd.default_generator.get_state()
        assert gradd.default_generator.initial_seed() == gradd.initial_seed() == 3
        second = gradd.rand(4, generator=gradd.default_generator).tolist()
        gradd.default_generator.set_state(state)
        assert gradd.rand(4).tolist() == second != first
    with gradd.connect("local:"):
        assert gradd.default_generator.manual_seed(3) is gradd.default_generator
        assert gradd.rand(4).tolist() == first
        parts = gradd.utils.data.random_split(range(4), [2, 2], generator=gradd.default_generator)
        assert sorted(i for part in parts for i in part) == [0, 1, 2, 3]


def test_sizes_are_no_generators() -> None:
    with gradd.connect("local:"):
        for draw in (gradd.rand, gradd.randn):
            assert draw(3, 2).shape == draw(3, 2, generator=gradd.Generator().manual_seed(1)).shape == (3, 2)
