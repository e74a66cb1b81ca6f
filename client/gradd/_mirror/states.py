"""State machines for the mirror, the step being recorded and the batch being built, as tables of states and
events. Modelled on h11's: https://h11.readthedocs.io/en/latest/api.html

Each table has a row for every state with an entry for every event, so that nothing depends on the order of
checks.
"""

from __future__ import annotations

from enum import Enum
from typing import Generic, TypeVar


class _Name(Enum):
    """A state or an event; its value says what it means."""

    # Looked up for every op: hashing by identity is faster than by value.
    __hash__ = object.__hash__


class MirrorState(_Name):
    """What the mirror knows of the session's tensors."""

    AGREES = "it says what the server says"
    BEHIND = "other writers applied batches since"
    UNSURE = "it cannot tell what became of its tensors"
    GRAPHS_TOUCHED = "nor of graphs that steps touched which never ran: it can tell which those are"
    GRAPHS_LOST = "nor what became of any graph"


class Extent(_Name):
    """Which graphs of the mirror cannot be relied on."""

    NONE = "those of tensors that others changed"
    SHOWN = "and those that show that steps touched them which never ran"
    ALL = "all"


class StepState(_Name):
    """The step that a thread is recording."""

    NONE = "there is none"
    HALF = "its op runs on the mirror, or it is being written down: an interrupt in between is seen by this"
    BLIND = "its pass walks a graph that the mirror cannot see"


class BatchState(_Name):
    """The steps that a thread recorded and has not sent."""

    NARROW = "they touch the storages of their arguments"
    WIDE = "one touched more than that"
    FREED = "a pass freed its graph: the first op that makes a node begins another batch"


class Event(_Name):
    """What changes these states."""

    BEGIN = "an op is about to run on the mirror"
    END = "its step is recorded, or was refused"
    BLIND_PASS = "a pass reached a graph that the mirror cannot see"
    INTERRUPTED = "recording or sending was cut short"
    OTHERS_WROTE = "a reply says that other writers applied batches"
    RENAMED = "a shared name was taken from a tensor"
    STOPPED = "a batch failed, and what did not run touched no graph: graphs stand"
    UNDONE = "a batch failed, and it shows which graphs the steps touched that did not run"
    FAILED = "a batch failed otherwise"
    ASKED = "the server is asked for the state of all tensors"
    TOLD = "the mirror says what it answered, or had nothing to ask"
    TOUCHED = "a step touched more than the storages of its arguments"
    PASS_KEPT = "a pass ended and kept its graph"
    PASS_FREED = "a pass ended and freed its graph"
    SENT = "the batch was sent"


_sure: dict[Event, MirrorState] = {
    Event.OTHERS_WROTE: MirrorState.BEHIND,
    Event.BLIND_PASS: MirrorState.UNSURE,
    Event.RENAMED: MirrorState.UNSURE,
    Event.STOPPED: MirrorState.UNSURE,
    Event.ASKED: MirrorState.UNSURE,
    Event.UNDONE: MirrorState.GRAPHS_TOUCHED,
    Event.FAILED: MirrorState.GRAPHS_LOST,
    Event.INTERRUPTED: MirrorState.GRAPHS_LOST,
    Event.TOLD: MirrorState.AGREES,
}

MIRROR: dict[MirrorState, dict[Event, MirrorState]] = {
    MirrorState.AGREES: _sure,
    MirrorState.BEHIND: _sure,
    # Asking for the state covers other writers' changes too.
    MirrorState.UNSURE: {**_sure, Event.OTHERS_WROTE: MirrorState.UNSURE},
    MirrorState.GRAPHS_TOUCHED: {
        **dict.fromkeys(_sure, MirrorState.GRAPHS_TOUCHED),
        Event.FAILED: MirrorState.GRAPHS_LOST,
        Event.INTERRUPTED: MirrorState.GRAPHS_LOST,
        Event.TOLD: MirrorState.AGREES,
    },
    MirrorState.GRAPHS_LOST: {
        **dict.fromkeys(_sure, MirrorState.GRAPHS_LOST),
        Event.TOLD: MirrorState.AGREES,
    },
}

STEP: dict[StepState, dict[Event, StepState]] = {
    StepState.NONE: {
        Event.BEGIN: StepState.HALF,
        Event.BLIND_PASS: StepState.NONE,
        Event.END: StepState.NONE,
        Event.INTERRUPTED: StepState.NONE,
    },
    StepState.HALF: {
        Event.BEGIN: StepState.HALF,
        Event.BLIND_PASS: StepState.BLIND,
        Event.END: StepState.NONE,
        Event.INTERRUPTED: StepState.NONE,
    },
    StepState.BLIND: {
        Event.BEGIN: StepState.BLIND,
        Event.BLIND_PASS: StepState.BLIND,
        Event.END: StepState.NONE,
        Event.INTERRUPTED: StepState.NONE,
    },
}

BATCH: dict[BatchState, dict[Event, BatchState]] = {
    BatchState.NARROW: {
        Event.TOUCHED: BatchState.WIDE,
        Event.PASS_KEPT: BatchState.WIDE,
        Event.PASS_FREED: BatchState.FREED,
        Event.SENT: BatchState.NARROW,
    },
    BatchState.WIDE: {
        Event.TOUCHED: BatchState.WIDE,
        Event.PASS_KEPT: BatchState.WIDE,
        Event.PASS_FREED: BatchState.FREED,
        Event.SENT: BatchState.NARROW,
    },
    BatchState.FREED: {
        Event.TOUCHED: BatchState.FREED,
        Event.PASS_KEPT: BatchState.WIDE,
        Event.PASS_FREED: BatchState.FREED,
        Event.SENT: BatchState.NARROW,
    },
}

#: which graphs cannot be relied on where the server is asked
EXTENT: dict[MirrorState, Extent] = {
    MirrorState.AGREES: Extent.NONE,
    MirrorState.BEHIND: Extent.NONE,
    MirrorState.UNSURE: Extent.NONE,
    MirrorState.GRAPHS_TOUCHED: Extent.SHOWN,
    MirrorState.GRAPHS_LOST: Extent.ALL,
}

#: what the tables are about
S = TypeVar("S", MirrorState, StepState, BatchState)


def after(event: Event, table: dict[S, dict[Event, S]]) -> dict[S, S]:
    """The next state for each state at this event, for code that runs for every op."""
    return {state: row[event] for state, row in table.items()}


class Machine(Generic[S]):
    """A state, and the table of its transitions."""

    __slots__ = ("_table", "events", "state")

    def __init__(self, table: dict[S, dict[Event, S]], state: S) -> None:
        self._table: dict[S, dict[Event, S]] = table
        self.state: S = state
        #: how many there were
        self.events = 0

    def on(self, event: Event) -> None:
        """Make the event's transition."""
        self.state = self._table[self.state][event]
        self.events += 1
