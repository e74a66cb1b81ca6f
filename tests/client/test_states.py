"""What the client knows, as tables: every pair of state and event, and what leads to the pairs."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

import gradd
import gradd as torch
import pytest
from gradd._mirror import (
    BATCH,
    EXTENT,
    MIRROR,
    STEP,
    BatchState,
    Event,
    Extent,
    Machine,
    MirrorState,
    StepState,
    after,
)

# A row a state, a column an event; what stands there is the next state.
TABLES: list[tuple[type[Enum], dict[Any, Any], str]] = [
    (
        MirrorState,
        MIRROR,
        """
        .               OTHERS_WROTE    BLIND_PASS      RENAMED         STOPPED         ASKED           UNDONE          FAILED       INTERRUPTED  TOLD
        AGREES          BEHIND          UNSURE          UNSURE          UNSURE          UNSURE          GRAPHS_TOUCHED  GRAPHS_LOST  GRAPHS_LOST  AGREES
        BEHIND          BEHIND          UNSURE          UNSURE          UNSURE          UNSURE          GRAPHS_TOUCHED  GRAPHS_LOST  GRAPHS_LOST  AGREES
        UNSURE          UNSURE          UNSURE          UNSURE          UNSURE          UNSURE          GRAPHS_TOUCHED  GRAPHS_LOST  GRAPHS_LOST  AGREES
        GRAPHS_TOUCHED  GRAPHS_TOUCHED  GRAPHS_TOUCHED  GRAPHS_TOUCHED  GRAPHS_TOUCHED  GRAPHS_TOUCHED  GRAPHS_TOUCHED  GRAPHS_LOST  GRAPHS_LOST  AGREES
        GRAPHS_LOST     GRAPHS_LOST     GRAPHS_LOST     GRAPHS_LOST     GRAPHS_LOST     GRAPHS_LOST     GRAPHS_LOST     GRAPHS_LOST  GRAPHS_LOST  AGREES
        """,  # noqa: E501 - a table
    ),
    (
        StepState,
        STEP,
        """
        .      BEGIN  BLIND_PASS  END   INTERRUPTED
        NONE   HALF   NONE        NONE  NONE
        HALF   HALF   BLIND       NONE  NONE
        BLIND  BLIND  BLIND       NONE  NONE
        """,
    ),
    (
        BatchState,
        BATCH,
        """
        .       TOUCHED  PASS_KEPT  PASS_FREED  SENT
        NARROW  WIDE     WIDE       FREED       NARROW
        WIDE    WIDE     WIDE       FREED       NARROW
        FREED   FREED    WIDE       FREED       NARROW
        """,
    ),
]

PAIRS = [
    (table, state, event, next)
    for table, (_, _, text) in enumerate(TABLES)
    for head in [text.split("\n")[1].split()[1:]]
    for state, *row in map(str.split, text.strip().split("\n")[1:])
    for event, next in zip(head, row, strict=True)
]


@pytest.mark.parametrize(("table", "state", "event", "next"), PAIRS)
def test_every_event_leads_where_the_table_says(table: int, state: str, event: str, next: str) -> None:
    kind, transitions, _ = TABLES[table]
    machine = Machine(transitions, kind[state])
    machine.on(Event[event])
    assert machine.state is kind[next]
    assert after(Event[event], transitions)[kind[state]] is kind[next]


def test_no_pair_is_left_out() -> None:
    said = {(TABLES[table][0][state], Event[event]) for table, state, event, _ in PAIRS}
    assert said == {(state, event) for _, t, _ in TABLES for state, row in t.items() for event in row}
    for kind, transitions, _ in TABLES:
        assert set(transitions) == set(kind)
        assert len({frozenset(row) for row in transitions.values()}) == 1
    assert {event for _, _, event, _ in PAIRS} == {event.name for event in Event}


def test_an_event_of_another_table_is_an_error() -> None:
    machine = Machine(MIRROR, MirrorState.AGREES)
    with pytest.raises(KeyError):
        machine.on(Event.SENT)
    assert machine.state is MirrorState.AGREES


# -- what leads there ------------------------------------------------------------------------------


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What happened to mirrors, and the state that it led to."""
    found: list[tuple[str, str]] = []
    on = Machine.on

    def noted(self: Machine[Any], event: Event) -> None:
        on(self, event)
        found.append((event.name, self.state.name))

    monkeypatch.setattr(Machine, "on", noted)
    return found


@pytest.fixture
def session(told: list[tuple[str, str]]) -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


ASKED = [("ASKED", "GRAPHS_LOST"), ("TOLD", "AGREES")]


def lose_sight(session: Any) -> None:
    """A step that fails, and one behind it of which nobody can tell what it touched."""
    other, table = torch.ones(2), torch.ones(3)
    session.flush()
    table[torch.tensor([99])]
    other.data = torch.zeros(2)
    with pytest.raises(IndexError):
        session.flush()


def test_a_failed_batch_loses_graphs_until_the_server_is_asked(session: Any, told: list[Any]) -> None:
    lose_sight(session)
    assert told == [("FAILED", "GRAPHS_LOST"), *ASKED]


def test_graphs_stand_where_what_did_not_run_only_computed(session: Any, told: list[Any]) -> None:
    torch.ones(3)[torch.tensor([99])] * 2
    with pytest.raises(IndexError):
        session.flush()
    assert told == [("STOPPED", "UNSURE"), ("ASKED", "UNSURE"), ("TOLD", "AGREES")]


@pytest.mark.parametrize("shared", [False, True])
def test_what_did_not_run_shows_what_it_touched_unless_others_write_too(
    session: Any, told: list[Any], shared: bool
) -> None:
    x, table = torch.ones(2), torch.ones(3)
    if shared:
        session["x"] = x
    session.flush()
    table[torch.tensor([99])]
    x.add_(1)
    with pytest.raises(IndexError):
        session.flush()
    state = "GRAPHS_LOST" if shared else "GRAPHS_TOUCHED"
    assert told == [("FAILED" if shared else "UNDONE", state), ("ASKED", state), ("TOLD", "AGREES")]


def test_every_state_says_which_graphs_stand() -> None:
    assert set(EXTENT) == set(MirrorState)
    assert [state for state in MirrorState if EXTENT[state] is not Extent.NONE] == [
        MirrorState.GRAPHS_TOUCHED,
        MirrorState.GRAPHS_LOST,
    ]


def test_a_pass_that_was_stopped_leaves_graphs(session: Any, told: list[Any]) -> None:
    x = torch.zeros(2, requires_grad=True)
    with pytest.warns(UserWarning, match="Anomaly"):
        anomaly = torch.autograd.detect_anomaly()
    with anomaly, pytest.warns(UserWarning, match="forward call"), pytest.raises(RuntimeError, match="nan"):
        (torch.sqrt(x) * 0).sum().backward()
    assert told == [("STOPPED", "UNSURE"), ("ASKED", "UNSURE"), ("TOLD", "AGREES")]


def test_an_interrupted_step_and_an_interrupted_batch_lose_graphs(
    session: Any, told: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    x = torch.ones(2)
    session.flush()
    for owner, name in ((session, "record"), (session.outbox, "_keep")):
        told.clear()
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, interrupted)
            with pytest.raises(KeyboardInterrupt):
                (x + 1).tolist()
        x.tolist()
        assert told == [("INTERRUPTED", "GRAPHS_LOST"), *ASKED]
        assert session.recorder().step is StepState.NONE


def test_a_pass_through_a_lost_graph_is_asked_about(session: Any, told: list[Any]) -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    lose_sight(session)
    told.clear()
    y.backward()
    assert session.knowledge.state is MirrorState.UNSURE
    assert x.grad.tolist() == [2.0, 2.0]
    assert told == [("BLIND_PASS", "UNSURE"), ("ASKED", "UNSURE"), ("TOLD", "AGREES")]


def test_a_name_that_moves_is_asked_about(session: Any, told: list[Any]) -> None:
    session["t"] = held = torch.ones(2)
    assert told == []
    session["t"] = other = torch.zeros(2)
    assert told == [("RENAMED", "UNSURE")]
    del session["t"]
    assert (held.tolist(), other.tolist()) == ([1.0, 1.0], [0.0, 0.0])
    assert told[1:] == [
        ("ASKED", "UNSURE"), ("TOLD", "AGREES"), ("RENAMED", "UNSURE"),
        ("ASKED", "UNSURE"), ("TOLD", "AGREES"),
    ]  # fmt: skip


def test_what_others_wrote_is_looked_at_between_batches(told: list[Any]) -> None:
    with gradd.connect("local:", session="shared") as mine:
        mine["t"] = t = torch.ones(2)
        with gradd.connect("local:", session="shared") as others:
            others["t"].add_(1)
        told.clear()
        assert (t * 2).tolist() == [4.0, 4.0]
        assert told == [("OTHERS_WROTE", "BEHIND")]
        assert t._version == 0
        mine.flush()
        assert told[1:] == [("ASKED", "UNSURE"), ("TOLD", "AGREES")]
        assert t._version == 1
    gradd.delete_session("shared", "local:")


def test_a_batch_ends_after_a_pass_that_freed_its_graph(session: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    recorder = session.recorder()
    states = [recorder.batch]
    for keep in (True, False):
        (x * x).sum().backward(retain_graph=keep)
        states.append(recorder.batch)
    before = session.stats()["batches"]
    x * 2
    assert session.stats()["batches"] == before + 1
    assert [*states, recorder.batch] == [
        BatchState.NARROW,
        BatchState.WIDE,
        BatchState.FREED,
        BatchState.NARROW,
    ]
