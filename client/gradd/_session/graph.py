"""`session.graph(t)`: a tensor's graph as text, DOT, SVG (`drawing`) and plain data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gradd_engine import graph_dump as picture
from gradd_engine.graph_dump import MAX_NODES
from gradd_engine.tensor import Tensor as EngineTensor
from gradd_protocol import frames
from gradd_protocol import messages as m

from .._mirror import LOST
from .._program import place
from . import drawing

if TYPE_CHECKING:
    from .._tensor import Tensor
    from .agreement import Agreeing


class Graph:
    """A tensor's graph at the time of the call. ``print`` shows a tree, a notebook a drawing."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def __str__(self) -> str:
        return picture.text(self._data)

    __repr__ = __str__

    def dot(self) -> str:
        """The graph in the DOT language."""
        return picture.dot(self._data)

    def json(self) -> dict[str, Any]:
        """The graph as plain data, as in ``GET .../tensors/{id}/graph``."""
        return self._data

    def svg(self) -> str:
        """The graph as a drawing, in layers from the tensor down to the leaves."""
        return drawing.svg(self._data)

    def _repr_svg_(self) -> str:
        return self.svg()


def graph_of(session: Agreeing, t: Tensor, max_nodes: int = MAX_NODES) -> Graph:
    """The graph of `t`, up to `max_nodes` nodes: ``print`` it, draw it (``.svg()``, ``.dot()``) or get its
    data (``.json()``). A notebook draws it.

    From the mirror, or from the server if the mirror does not know it. TypeError if `t` is not a tensor.
    """
    if not isinstance(t, EngineTensor):
        raise TypeError(f"graph(): argument 't' must be Tensor, not {type(t).__name__}")
    session.ready()
    session.recorder().flush()  # so that leaves have ids
    names = {id(other): name for name, other in sorted(session.named.items(), reverse=True)}

    def label(leaf: Any) -> str | None:
        found: str | None = names.get(id(leaf), leaf._id)
        return found

    found = picture.graph_of(t, label, max_nodes, place)
    # The mirror notes the line at what an op returns; what else the op made is behind that.
    for e in found["edges"]:
        node, behind = found["nodes"][e["from"]], found["nodes"][e["to"]]
        if "source" in node and "leaf" not in behind:
            behind.setdefault("source", node["source"])
    if any(node["name"] == LOST for node in found["nodes"]):
        session.flush()
        _, (text,) = session.wire.request(m.GetGraph(str(t._id), max_nodes=max_nodes))
        found = json.loads(frames.text_of(text))
    return Graph(found)
