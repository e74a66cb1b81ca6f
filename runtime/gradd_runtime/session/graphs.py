"""The graph of a session's tensor, as JSON or DOT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from gradd_engine import graph_dump as picture
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.problems import ProtocolError

if TYPE_CHECKING:
    from gradd_engine.tensor import Tensor

    from ..tensors import TensorTable


def graph_reply(message: m.GetGraph, table: TensorTable) -> tuple[m.JsonReply, list[Any]]:
    """Answer `GET .../tensors/{id}/graph`. Leaves have their shared name, or an id."""
    t = table.find_ref(message.name)
    if t is None:
        raise ProtocolError.of("tensor-not-found", f"{message.name!r}: the tensor has no gradient")

    def label(leaf: Tensor) -> str | None:
        return table.name_of(leaf) or next(iter(table.calls(leaf)), None)

    graph = picture.graph_of(t, label, message.max_nodes)
    text = picture.dot(graph).encode() if message.form == "dot" else msgspec.json.encode(graph)
    return m.JsonReply(), [frames.text_buffer(text)]
