"""A graph as data, so that two sessions' can be compared."""

from __future__ import annotations

from typing import Any

from gradd_engine.tensor.saved import Saved


def graph(node: Any) -> Any:
    """A graph as names, edges, what is saved and freed, by order of a walk."""
    seen: set[int] = set()
    todo, rows = [] if node is None else [node], []
    while todo:
        n = todo.pop()
        if id(n) in seen:
            continue
        seen.add(id(n))
        kept = getattr(n, "saved", None)
        entries = None if kept is None else _saved(list(kept.values()))
        rows.append((n.name(), [e and e.nr for e in n.edges], entries))
        todo.extend(e.node for e in n.edges if e is not None)
    return rows


def _saved(entry: Any) -> Any:
    if isinstance(entry, list):
        return [_saved(e) for e in entry]
    if not isinstance(entry, Saved):
        return None
    kept = entry.tensor
    return kept.backend.to_numpy(kept).tobytes(), kept._vc.n - entry.version, entry.is_output, entry.nr
