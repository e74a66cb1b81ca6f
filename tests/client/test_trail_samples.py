"""Samples of all ops in all forms, again and again, with a trail and without: values, geometries, errors, and
what became of their inputs.

Some repetitions run under another default dtype, or where nothing is recorded for backward.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import gradd
import pytest
from gradd._program.builder import Builder
from gradd._recording import trail
from gradd._recording.trail import Trail
from gradd_engine.tensor import Node

from tests.replay.bodies import outcome
from tests.replay.cuts import Cuts, cutting
from tests.replay.forms import Body, all_bodies

#: every so many samples are tried; `make fuzz` asks for all
EACH = int(os.environ.get("GRADD_TRAIL_SAMPLES", "400"))
PARTS = 4
#: by repetition: how it differs from the others
TURNS = ("", "no_grad", "float64") * 4


@contextmanager
def _turned(turn: str) -> Iterator[None]:
    before = gradd.get_default_dtype()
    try:
        if turn == "float64":
            gradd.set_default_dtype(gradd.float64)
        with gradd.set_grad_enabled(turn != "no_grad"):
            yield
    finally:
        gradd.set_default_dtype(before)


def _flags(t: Any) -> tuple[Any, ...]:
    return (
        tuple(t.shape), t.stride(), t.storage_offset(), str(t.dtype), t.requires_grad, t.is_leaf, t._version,
        None if t.grad_fn is None else t.grad_fn.name(),
    )  # fmt: skip


def _run(body: Body, session: Any, cuts: Cuts, seed: str) -> list[Any]:
    told = []
    for turn in TURNS:
        inputs = body.inputs()
        session.flush()  # a program that begins with an upload is not answered
        cuts.begin(seed)
        with _turned(turn):
            told.append((turn, outcome(body, session, lambda inputs=inputs: inputs, None, cuts)))
        told.append((turn, [_flags(t) for t in inputs]))
    return told


def _session(bodies: list[Body], on: bool) -> tuple[dict[str, list[Any]], int]:
    """What each body tells, and how many ops were answered."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(Trail, "on", on)
        patch.setattr(Node, "turned", False)
        patch.setattr(Node, "any_sparse", False)
        cuts = stack.enter_context(cutting())
        session = stack.enter_context(gradd.connect("local:"))
        found = {str(body): _run(body, session, cuts, f"{body}/{n % 2}") for n, body in enumerate(bodies)}
        return found, session.recorder().trail.answered


def differing(groups: Iterator[list[Body]]) -> tuple[list[str], int]:
    """The bodies that tell something else with a trail, each with what it told first, and how many ops were
    answered.
    """
    wrong, answered = [], 0
    for bodies in groups:
        if bodies:
            without, (found, count) = _session(bodies, False)[0], _session(bodies, True)
            answered += count
            for name, told in found.items():
                pair = next(
                    (p for p in zip(without[name], told, strict=True) if repr(p[0]) != repr(p[1])), None
                )
                if pair is not None:
                    wrong.append(f"{name}: without {str(pair[0])[:300]}\n  with {str(pair[1])[:300]}")
    return wrong, answered


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(PARTS))
def test_no_sample_of_an_op_tells_that_there_is_a_trail(part: int) -> None:
    wrong, answered = differing(all_bodies(EACH * part // PARTS, EACH))
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:20])
    assert answered > 100


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "dropout_": lambda x, _: gradd.dropout_(x, 0.5, True),
    "functional dropout": lambda x, _: gradd.nn.functional.dropout(x, 0.5, True, inplace=True),
    "dropout of channels": lambda x, _: gradd.nn.functional.dropout2d(x, 0.5, True, inplace=True),
    "rrelu_": lambda x, _: gradd.rrelu_(x, training=True),
    "rrelu_ in evaluation": lambda x, _: gradd.rrelu_(x),
    "running statistics": lambda x, kept: gradd.nn.functional.instance_norm(x, kept, kept + 1),
    "statistics that stay": lambda x, kept: gradd.nn.functional.instance_norm(
        x, kept, kept + 1, use_input_stats=False
    ),
}


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("name", WRITES)
def test_what_an_answered_op_writes_to_counts_it(name: str, grad: bool) -> None:
    with gradd.connect("local:") as session:
        counts = []
        for _ in range(6):
            x, kept = gradd.ones(2, 3, 4, 4), gradd.ones(3)
            session.flush()
            with gradd.set_grad_enabled(grad):
                WRITES[name](x, kept)
            counts.append((x._version, kept._version))
    assert len(set(counts)) == 1
    stays = name == "statistics that stay"
    assert counts[0] == ((0, 0 if stays else 1) if "statistics" in name else (1, 0))


def _some(*keys: str) -> Iterator[list[Body]]:
    for bodies in all_bodies():
        if bodies and bodies[0].key in keys:
            yield bodies


def _shapes() -> set[tuple[int, ...]]:
    """Of a matrix that a loop turns in place."""
    with gradd.connect("local:") as session:
        found = set()
        for _ in range(5):
            x = gradd.arange(6).reshape(2, 3)
            x.t_()
            session.flush()
            found.add(tuple(x.shape))
        return found


def test_a_turn_that_is_answered_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shapes() == {(3, 2)}
    monkeypatch.setattr(trail, "placed", lambda inputs: [])
    assert _shapes() == {(3, 2), (2, 3)}


@pytest.mark.filterwarnings("ignore")
def test_a_program_of_another_dtype_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    begin: Callable[..., None] = Builder.begin

    def any_dtype(self: Builder, known: Any) -> None:
        begin(self, known)
        self.known = known

    monkeypatch.setattr(Builder, "begin", any_dtype)
    monkeypatch.setattr(Trail, "_ready", lambda *_: True)
    assert differing(_some("div", "sin"))[0]
