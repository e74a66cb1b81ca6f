"""JSON answers about the nodes of a cluster, see `answers`."""

from __future__ import annotations

from msgspec import Struct


class NodeLoad(Struct, frozen=True):
    """An engine process of a node, or a drained node that has none."""

    node: str
    """Ray's id of the node."""
    machine: str
    """The node's address."""
    device: str
    pid: int
    """0 where there is no process."""
    up: bool
    """Whether it shows signs of life."""
    drained: bool
    """Whether the node gets no sessions."""
    sessions: int


class NodeList(Struct, frozen=True):
    """The engine processes of the cluster, by node."""

    nodes: list[NodeLoad]


class Drained(Struct, frozen=True):
    """What became of a node's sessions."""

    moved: int
    left: int
    """Those that keep no record, or could not move: they stay until they end, or somebody asks again."""


class Moved(Struct, frozen=True):
    """Where a session is."""

    node: str
