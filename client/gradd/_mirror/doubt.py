"""Which graphs steps touched that ran on the mirror alone, as their nodes show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gradd_engine.tensor import Node


def doubtful(roots: Iterable[Node], touched: Collection[Node], passes: bool) -> set[Node]:
    """The nodes from which a pass comes to one of `touched`, to one that saved what changed since, or where
    `passes` ran, to one that was freed: the server may have it as it was.
    """
    above: dict[Node, list[Node]] = {root: [] for root in roots}
    stack = list(above)
    while stack:
        node = stack.pop()
        for edge in node.edges:
            if edge is None:
                continue
            if edge.node not in above:
                above[edge.node] = []
                stack.append(edge.node)
            above[edge.node].append(node)
    stack = [n for n in above if n in touched or n.outdated() or (passes and n.freed())]
    found = set(stack)
    while stack:
        for node in above[stack.pop()]:
            if node not in found:
                found.add(node)
                stack.append(node)
    return found
