"""What the client knows, as tables of states and events: of its mirror, of the step that it records, of the
batch that it builds. After h11's of a connection: https://h11.readthedocs.io/en/latest/api.html

Each table has a row for every state and in it an entry for every event, so nothing is left to the order of
checks.
"""

from __future__ import annotations

from enum import Enum
from typing import Generic, TypeVar


class _Name(Enum):
    """A state or an event; its value says what it means."""

    # Names are looked up for every op: by identity, which is faster than by value.
    __hash__ = object.__hash__


class Mirror(_Name):
    """What the mirror knows of the session's tensors."""

    AGREES = "it says what the server says"
    BEHIND = "other writers applied batches since"
    UNSURE = "it cannot tell what became of its tensors"
    GRAPHS_LOST = "nor what became of their graphs"


class Step(_Name):
    """The step that a thread records."""

    NONE = "there is none"
    HALF = "its op runs on the mirror, or it is being written down: an interrupt in between is seen by this"
    BLIND = "its pass walks a graph that the mirror cannot see"


class Batch(_Name):
    """The steps that a thread recorded and has not sent."""

    NARROW = "they touch the storages of their arguments"
    WIDE = "one touched more than that"
    FREED = "a pass freed its graph: the first op that makes a node begins another batch"


class Event(_Name):
    """What happens to them."""

    BEGIN = "an op is about to run on the mirror"
    END = "its step is recorded, or was refused"
    BLIND_PASS = "a pass reached a graph that the mirror cannot see"
    INTERRUPTED = "recording or sending was cut short"
    OTHERS_WROTE = "a reply says that other writers applied batches"
    RENAMED = "a shared name was taken from a tensor"
    STOPPED = "a batch failed in its last step, a pass that anomaly mode stopped: graphs stand"
    FAILED = "a batch failed otherwise"
    ASKED = "the server is asked for the state of all tensors"
    TOLD = "the mirror says what it answered, or had nothing to ask"
    TOUCHED = "a step touched more than the storages of its arguments"
    PASS_KEPT = "a pass ended and kept its graph"
    PASS_FREED = "a pass ended and freed its graph"
    SENT = "the batch was sent"


_sure: dict[Event, Mirror] = {
    Event.OTHERS_WROTE: Mirror.BEHIND,
    Event.BLIND_PASS: Mirror.UNSURE,
    Event.RENAMED: Mirror.UNSURE,
    Event.STOPPED: Mirror.UNSURE,
    Event.ASKED: Mirror.UNSURE,
    Event.FAILED: Mirror.GRAPHS_LOST,
    Event.INTERRUPTED: Mirror.GRAPHS_LOST,
    Event.TOLD: Mirror.AGREES,
}

MIRROR: dict[Mirror, dict[Event, Mirror]] = {
    Mirror.AGREES: _sure,
    Mirror.BEHIND: _sure,
    # What other writers did is among what is asked for.
    Mirror.UNSURE: {**_sure, Event.OTHERS_WROTE: Mirror.UNSURE},
    Mirror.GRAPHS_LOST: {**dict.fromkeys(_sure, Mirror.GRAPHS_LOST), Event.TOLD: Mirror.AGREES},
}

STEP: dict[Step, dict[Event, Step]] = {
    Step.NONE: {
        Event.BEGIN: Step.HALF,
        Event.BLIND_PASS: Step.NONE,
        Event.END: Step.NONE,
        Event.INTERRUPTED: Step.NONE,
    },
    Step.HALF: {
        Event.BEGIN: Step.HALF,
        Event.BLIND_PASS: Step.BLIND,
        Event.END: Step.NONE,
        Event.INTERRUPTED: Step.NONE,
    },
    Step.BLIND: {
        Event.BEGIN: Step.BLIND,
        Event.BLIND_PASS: Step.BLIND,
        Event.END: Step.NONE,
        Event.INTERRUPTED: Step.NONE,
    },
}

BATCH: dict[Batch, dict[Event, Batch]] = {
    Batch.NARROW: {
        Event.TOUCHED: Batch.WIDE,
        Event.PASS_KEPT: Batch.WIDE,
        Event.PASS_FREED: Batch.FREED,
        Event.SENT: Batch.NARROW,
    },
    Batch.WIDE: {
        Event.TOUCHED: Batch.WIDE,
        Event.PASS_KEPT: Batch.WIDE,
        Event.PASS_FREED: Batch.FREED,
        Event.SENT: Batch.NARROW,
    },
    Batch.FREED: {
        Event.TOUCHED: Batch.FREED,
        Event.PASS_KEPT: Batch.WIDE,
        Event.PASS_FREED: Batch.FREED,
        Event.SENT: Batch.NARROW,
    },
}

#: what the tables are about
S = TypeVar("S", Mirror, Step, Batch)


def after(event: Event, table: dict[S, dict[Event, S]]) -> dict[S, S]:
    """From each state the one that the event leads to: for where it is looked up for every op."""
    return {state: row[event] for state, row in table.items()}


class Machine(Generic[S]):
    """A state, and the table by which events change it."""

    __slots__ = ("_table", "state")

    def __init__(self, table: dict[S, dict[Event, S]], state: S) -> None:
        self._table: dict[S, dict[Event, S]] = table
        self.state: S = state

    def on(self, event: Event) -> None:
        """The event happened."""
        self.state = self._table[self.state][event]
