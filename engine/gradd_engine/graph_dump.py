"""The graph behind a tensor as plain data, and that as text and as DOT.

The data is what JSON can say, so that a server answers it and a client renders its own mirror's the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .custom import CustomNode
from .graph import CopySlices, OpNode
from .progress import size
from .tensor import AccumulateGrad, Node, Saved, Tensor, edge_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .tensor import Geometry

#: nodes of a picture unless more are asked for
MAX_NODES = 1000


def graph_of(
    t: Tensor, label: Callable[[Tensor], str | None], max_nodes: int = MAX_NODES,
    line_of: Callable[[Any], tuple[str, int]] = tuple,
) -> dict[str, Any]:  # fmt: skip
    """The graph behind `t`, nearest nodes first, at most `max_nodes` of them (``truncated``: there are
    more); `label` names leaves, `line_of` gives file and line of a node's site. Nothing is recorded, and no
    value is looked at.

    ``root`` is None where `t` needs no gradient. A node has ``id``, ``name``, ``outputs`` (``nr``, ``shape``,
    ``dtype`` of those that are known), ``saved`` (``name``, ``shape``, ``dtype``, ``bytes``), ``freed``,
    ``leaf`` where it adds into a leaf's gradient, and ``source`` (``file``, ``line``) where it is known which
    line made it. An edge goes ``from`` an input ``slot`` of a node ``to`` the output ``nr`` of another.
    """
    start = edge_of(t)
    found: dict[str, Any] = {"root": None, "nodes": [], "edges": [], "truncated": False}
    if start is None:
        return {**found, "max_nodes": max_nodes}
    ids: dict[Node, int] = {start.node: 0}
    outputs: dict[Node, dict[int, Geometry]] = {start.node: {start.nr: (t.shape, t.dtype)}}
    order = [start.node]
    for node in order:  # grows while it is walked
        for slot, e in enumerate(node.edges):
            if e is None:
                continue
            if e.node not in ids:
                if len(order) >= max_nodes:
                    found["truncated"] = True
                    continue
                ids[e.node] = len(order)
                outputs[e.node] = {}
                order.append(e.node)
            geometry = node.behind(slot)
            if geometry is not None:
                outputs[e.node].setdefault(e.nr, geometry)
            found["edges"].append({"from": ids[node], "slot": slot, "to": ids[e.node], "nr": e.nr})
    found["root"] = 0
    found["nodes"] = [_described(node, ids[node], outputs[node], label) for node in order]
    for node, told in zip(order, found["nodes"], strict=True):
        if node.site is not None:
            told["source"] = dict(zip(("file", "line"), line_of(node.site), strict=True))
    return {**found, "max_nodes": max_nodes}


def _described(
    node: Node, number: int, outputs: dict[int, Geometry], label: Callable[[Tensor], str | None]
) -> dict[str, Any]:
    kept = node.fn if isinstance(node, CopySlices) else node
    saved = kept.entries() if isinstance(kept, CustomNode) else getattr(kept, "saved", {})
    first = kept.op.tensor_slots[0] if isinstance(kept, OpNode) and kept.op.tensor_slots else ""
    words = {first: "self", "out": "result"}
    out: dict[str, Any] = {
        "id": number,
        "name": node.name(),
        "outputs": [{"nr": nr, **_shaped(*outputs[nr])} for nr in sorted(outputs)],
        "saved": [] if saved is None else list(_saved(saved, words)),
        "freed": saved is None,
    }
    if isinstance(node, AccumulateGrad):
        out["leaf"] = {"tensor": label(node.variable), **_shaped(node.variable.shape, node.variable.dtype)}
    return out


def _shaped(shape: Any, dtype: Any) -> dict[str, Any]:
    return {"shape": [int(n) for n in shape], "dtype": dtype.name}


def _saved(entries: dict[str, Any], words: dict[str, str]) -> Iterator[dict[str, Any]]:
    for name, entry in entries.items():
        for one in entry if isinstance(entry, list) else [entry]:
            if isinstance(one, Saved):
                t = one.tensor
                yield {"name": words.get(name, name), **_shaped(t.shape, t.dtype), "bytes": t.nbytes}


def title(node: dict[str, Any]) -> str:
    """A node's name, and of a leaf the tensor's."""
    name: str = node["name"].rpartition("::")[2]
    leaf = node.get("leaf")
    return f"{name} {leaf['tensor']}" if leaf and leaf["tensor"] else name


def notes(node: dict[str, Any]) -> list[str]:
    """What else there is to say of a node: what goes through it, what it keeps, which line made it."""
    out = [f"{o['dtype']} {o['shape']}" for o in node["outputs"]]
    saved = node["saved"]
    if saved:
        names = dict.fromkeys(s["name"] for s in saved)
        out.append(f"saved {', '.join(names)}: {size(sum(s['bytes'] for s in saved))}")
    if node["freed"]:
        out.append("freed")
    if "source" in node:
        out.append(f"{node['source']['file']}:{node['source']['line']}")
    return out


def text(graph: dict[str, Any]) -> str:
    """The graph as a tree: branches are indented, a lone input stands below its node; what was shown before
    is named again and not unfolded.
    """
    if graph["root"] is None:
        return "no graph: the tensor needs no gradient"
    nodes, below = graph["nodes"], _below(graph)
    lines: list[str] = []
    shown: set[int] = set()
    stack = [(0, "", "")]  # node, prefix of its own line, prefix of the lines below
    while stack:
        at, head, tail = stack.pop()
        again = at in shown
        shown.add(at)
        said = ["above"] if again else notes(nodes[at])
        lines.append(head + "  ".join([title(nodes[at]), *said]))
        children = [] if again else below.get(at, [])
        if len(children) == 1:
            stack.append((children[0], tail, tail))
            continue
        for i, child in reversed(list(enumerate(children))):
            last = i == len(children) - 1
            stack.append((child, tail + ("└─ " if last else "├─ "), tail + ("   " if last else "│  ")))
    if graph["truncated"]:
        lines.append(f"... more than {graph['max_nodes']} nodes")
    return "\n".join(lines)


def _below(graph: dict[str, Any]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for e in graph["edges"]:
        found.setdefault(e["from"], []).append(e["to"])
    return found


def dot(graph: dict[str, Any]) -> str:
    """The graph in the DOT language, from the tensor down to the leaves."""
    lines = ["digraph gradients {", "  node [shape=box, fontname=monospace];"]
    for node in graph["nodes"]:
        words = "\\n".join(_quoted(w) for w in [title(node), *notes(node)])
        style = ", style=filled, fillcolor=lightblue" if "leaf" in node else ""
        lines.append(f'  n{node["id"]} [label="{words}"{style}];')
    several = {n["id"] for n in graph["nodes"] if len(n["outputs"]) > 1}
    for e in graph["edges"]:
        which = f' [label="{e["nr"]}"]' if e["to"] in several else ""
        lines.append(f"  n{e['from']} -> n{e['to']}{which};")
    if graph["truncated"]:
        lines.append(f'  more [shape=plaintext, label="more than {graph["max_nodes"]} nodes"];')
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
