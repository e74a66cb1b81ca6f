"""Where the random stream is: a client that counts draws tells values that the session has too."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from typing import Any

import gradd
import pytest
from gradd._mirror import MirrorBackend
from gradd._recording import Recorder
from gradd._recording.lessons import Draft
from gradd.nn import functional as F
from gradd.utils.checkpoint import checkpoint

from tests.streams import agrees

STREAMS = int(os.environ.get("GRADD_STREAMS", "60"))
REPETITIONS = 6

Env = dict[str, Any]
Step = Callable[[Env], None]


def _exact(rng: random.Random) -> Step:
    """Draws what the client tells."""
    n, shape = rng.randrange(1, 50), rng.choice([(), (1,), (3,), (2, 2)])
    how = rng.choice(
        [
            lambda: gradd.randint(-3, n, shape),
            lambda: gradd.randint(n, shape, dtype=gradd.float32),
            lambda: gradd.randperm(n),
            lambda: gradd.rand(shape),
            lambda: gradd.rand(shape, dtype=gradd.float64),
            lambda: gradd.rand(shape, dtype=gradd.float16),
        ]
    )
    read = rng.random() < 0.7

    def step(env: Env) -> None:
        t = how()
        if read:
            env["told"].append((t.tolist(), t))
        env["x"] = env["x"] * (1 + t.sum().double() * 0.001)

    return step


def _other(rng: random.Random) -> Step:
    """Draws what only the session knows."""
    cell: Any = gradd.nn.LSTM(3, 3, num_layers=2, dropout=0.5)
    sample = {"randomness": rng.choice(["different", "same"])}
    return rng.choice(
        [
            lambda env: env.update(x=F.dropout(env["x"], 0.5)),
            lambda env: env.update(x=F.dropout(env["x"], 0.5, training=False)),
            lambda env: env.update(x=F.dropout(env["x"], 0.0)),
            lambda env: env.update(x=F.dropout(env["x"], 1.0)),
            lambda env: env.update(x=F.rrelu(env["x"], training=True)),
            lambda env: env.update(x=F.gumbel_softmax(env["x"])),
            lambda env: env.update(x=F.alpha_dropout(env["x"], 0.1, training=True)),
            lambda env: env.update(x=env["x"] + gradd.randn_like(env["x"])),
            lambda env: env["free"].normal_(),
            lambda env: env["free"].uniform_(0, 2),
            lambda env: env["free"].random_(5),
            lambda env: gradd.nn.init.kaiming_uniform_(env["m"]),
            lambda env: gradd.bernoulli(env["free"].sigmoid()),
            lambda env: gradd.multinomial(env["free"].abs() + 1, 2),
            lambda env: gradd.normal(env["free"], 1.0),
            lambda env: gradd.poisson(env["free"].abs()),
            lambda env: cell(env["free"].float().reshape(1, 1, 3)),
            lambda env: F.scaled_dot_product_attention(env["m"], env["m"], env["m"], dropout_p=0.25),
            lambda env: gradd.vmap(lambda a: a + gradd.rand(()), **sample)(env["free"]),
        ]
    )


def _seeds(rng: random.Random) -> Step:
    """Sets the stream, or draws from another."""
    own = gradd.Generator().manual_seed(5)
    places: list[Any] = []

    def back(env: Env) -> None:
        if places:
            gradd.set_rng_state(places[-1])

    def apart(env: Env) -> None:
        with gradd.random.fork_rng():
            gradd.rand(2)

    def theirs(env: Env) -> None:
        t = gradd.randint(100, (2,), generator=own)
        env["told"].append((t.tolist(), t))

    seed = rng.randrange(-5, 100)
    return rng.choice(
        [
            lambda env: gradd.manual_seed(seed),
            lambda env: places.append(gradd.get_rng_state()),
            back,
            apart,
            theirs,
            lambda env: own.manual_seed(seed),
        ]
    )


@gradd.function
def _planned(x: Any) -> Any:
    return x * gradd.rand(3) + F.dropout(x, 0.5)


def _fails_here(env: Env) -> None:
    """An op that draws, then is refused: no step comes of it."""
    with pytest.raises(RuntimeError):
        F.scaled_dot_product_attention(env["m"], env["m"], env["m"][:, :1], dropout_p=0.5)


def _fails_there(env: Env) -> None:
    """A step that fails in the session, and with it what was recorded after it."""
    gradd.manual_seed(7)
    gradd.multinomial(-env["free"].abs() - 1, 2)
    gradd.rand(3)
    total = env["free"].sum()
    with pytest.raises(RuntimeError):
        total.item()
    env["told"].clear()
    env["x"] = env["w"] * 1


def _thread(env: Env) -> None:
    """Another thread draws in the same session."""
    drawn = []

    def draw() -> None:
        t = gradd.randint(100, (3,))
        drawn.append((t.tolist(), t))

    gradd.rand(2)
    t = gradd.randint(50, (2,))
    env["told"].append((t.tolist(), t))
    thread = threading.Thread(target=draw)
    thread.start()
    thread.join()
    env["told"] += drawn


def _rest(rng: random.Random) -> Step:
    again = rng.random() < 0.5

    def passes(env: Env) -> None:
        y = env["x"].sum()
        if y.requires_grad:
            y.backward()
        env["x"] = env["w"] * 1

    def saves(env: Env) -> None:
        y = checkpoint(lambda a: F.dropout(a, 0.5) * gradd.rand(3), env["x"], use_reentrant=again)
        y.sum().backward()
        env["x"] = env["w"] * 1

    return rng.choice(
        [
            passes,
            passes,
            saves,
            lambda env: env["session"].flush(),
            lambda env: env.update(x=_planned(env["x"])),
            _fails_here,
            _fails_there,
            _thread,
        ]
    )


def _program(seed: int) -> int:
    """Run one random loop; returns how many values were told before the session had them."""
    rng = random.Random(seed)
    kinds = rng.choices([_exact, _other, _seeds, _rest], [5, 4, 2, 2], k=rng.randrange(3, 10))
    with gradd.connect("local:") as session:
        steps = [kind(rng) for kind in kinds]
        env: Env = {
            "session": session,
            "w": gradd.tensor([0.5, -1.0, 2.0], requires_grad=True, dtype=gradd.float64),
            "free": gradd.tensor([0.25, 1.0, 3.0]),
            "m": gradd.ones(1, 2, 3),
            "told": [],
        }
        count = 0
        for _ in range(REPETITIONS):
            env["x"] = env["w"] * 1
            left = rng.randrange(len(steps)) if rng.random() < 0.3 else -1
            for at, step in enumerate(steps):
                if at != left:
                    step(env)
            for values, t in env["told"]:
                # a step of its own, whose values only the session has
                assert gradd.stack([t, t])[0].tolist() == values
            count += len(env["told"])
            env["told"].clear()
        assert agrees(session)
    return count


@pytest.mark.parametrize("part", range(4))
def test_what_is_told_is_what_was_drawn(part: int) -> None:
    told = sum(_program(seed) for seed in range(part * STREAMS // 4, (part + 1) * STREAMS // 4))
    assert told > STREAMS


def _found(seeds: range) -> bool:
    """Whether random loops tell a fault."""
    try:
        for seed in seeds:
            _program(seed)
    except AssertionError:
        return True
    return False


def test_a_draw_that_is_not_counted_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: Any, op: Any, known: Any, inputs: Any, attrs: Any) -> Any:
        return super(MirrorBackend, self).run_plain(op, known, inputs, attrs)

    monkeypatch.setattr(MirrorBackend, "run_plain", run)
    assert _found(range(20))


def test_an_answered_draw_that_is_not_counted_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    add = Draft.add
    monkeypatch.setattr(Draft, "add", lambda *given: add(*given[:-1], 0))
    assert _found(range(20))


def test_threads_whose_draws_come_in_another_order_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    order = Recorder._order
    monkeypatch.setattr(Recorder, "_order", lambda self, wide: order(self, False))

    def program(both: Callable[[], None]) -> bool:
        with gradd.connect("local:") as session:
            first = gradd.randint(1000, (3,))
            told = first.tolist()
            thread = threading.Thread(target=both)
            thread.start()
            thread.join()
            return bool(gradd.stack([first, first])[0].tolist() == told) and agrees(session)

    def draws() -> None:
        gradd.rand(2).sum().item()

    assert not program(draws)
    monkeypatch.undo()
    assert program(draws)


def test_integers_that_a_script_reads_are_no_round_trips() -> None:
    with gradd.connect("local:") as session:
        data = gradd.arange(1000.0)
        gradd.manual_seed(1)
        before = session.stats()["round_trips"]
        for _ in range(4):
            at = gradd.randint(900, (8,))
            rows = gradd.stack([data[i : i + 4] for i in at])
            assert at.tolist() == [int(i) for i in at]
            assert gradd.rand(()).item() < 1
            assert sorted(gradd.randperm(10).tolist()) == list(range(10))
        assert session.stats()["round_trips"] == before
        assert rows[:, 0].tolist() == at.tolist()


def test_what_many_draw_is_brought() -> None:
    with gradd.connect("local:") as session:
        before = session.stats()["round_trips"]
        assert gradd.randperm(10_000).tolist() != list(range(10_000))
        assert session.stats()["round_trips"] == before + 1


def test_a_session_that_others_may_draw_in_is_asked() -> None:
    with gradd.connect("local:", session="stream-shared") as session:
        gradd.manual_seed(1)
        assert session.stream.place is None
        before = session.stats()["round_trips"]
        gradd.randint(5, (2,)).tolist()
        assert session.stats()["round_trips"] == before + 1
    gradd.delete_session("stream-shared", "local:")


def test_a_failed_batch_makes_the_place_unknown_until_a_seed() -> None:
    with gradd.connect("local:") as session:
        assert session.stream.place is not None
        _fails_there({"free": gradd.ones(2), "told": [], "w": gradd.ones(2)})
        assert session.stream.place is None
        gradd.manual_seed(7)
        gradd.randint(5, (2,))
        assert session.stream.place == (7, 1)
        assert agrees(session)
