"""What frozen tensors and nodes are written as: rows that name each other by number, -1 for none.

Rows are arrays in JSON. What few tensors or nodes have stands in a row's `more`, by name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

#: no tensor, node or counter
NONE = -1
#: bits of a tensor row's flags
REQUIRES, RETAINS, CONJUGATE = 1, 2, 4
#: of rows and of what stands in them; another one is refused
FORMAT = 1


class CannotFreeze(Exception):
    """Something that no data can say: a pass under way, a function of this process. `reason` tells."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"this state cannot be frozen: {reason}")
        self.reason = reason


class StorageRow(msgspec.Struct, array_like=True):
    """A storage: bytes that it counts for, and the array that it was made as."""

    nbytes: int
    dtype: str
    shape: list[int]
    strides: list[int]


class TensorRow(msgspec.Struct, array_like=True):
    """A tensor. `fn`, `grad`, `base`, `accumulator`: numbers of nodes and tensors."""

    storage: int
    counter: int
    dtype: str
    shape: list[int]
    strides: list[int]
    offset: int
    flags: int
    fn: int
    nr: int
    grad: int
    base: int
    view_version: int
    accumulator: int
    more: dict[str, Any] | None


class NodeRow(msgspec.Struct, array_like=True):
    """A node. `order`: its place in the order of sequence numbers; `edges`: node and output, slot by slot."""

    kind: str
    order: int
    width: int
    edges: list[int]
    data: list[Any]
    more: dict[str, Any] | None


class GeometryRow(msgspec.Struct, array_like=True):
    """A TensorMeta."""

    dtype: str
    shape: list[int]
    strides: list[int]
    offset: int
    conj: bool


class FrozenGraph(msgspec.Struct):
    """Frozen tensors and nodes, but for elements. `order`: how many sequence numbers there are."""

    format: int
    roots: dict[str, int]
    storages: list[StorageRow]
    counters: list[tuple[int, bool]]
    geometries: list[GeometryRow]
    levels: list[tuple[int, bool]]
    tensors: list[TensorRow]
    nodes: list[NodeRow]
    order: int


class Frozen(NamedTuple):
    """What `freeze` gives. `memory`: per storage its bytes, uint8, flat: of `freeze` the storages' own, good
    until something runs; `thaw` takes them over.
    """

    graph: FrozenGraph
    memory: list[Any]
