"""The import graph, read from the source: imports for types and within functions count too."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Graph = dict[str, set[str]]


def modules(package: Path) -> dict[str, Path]:
    """The package's modules by their full names, in alphabetical order."""
    found = {}
    for path in package.rglob("*.py"):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return dict(sorted(found.items()))


def imported(name: str, path: Path) -> Iterator[str]:
    """What the module of that name imports: modules, or names in modules."""
    inside = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) - node.level + 1] if node.level else []
            whole = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{whole}.{alias.name}" for alias in node.names)


def reduced(graph: Mapping[str, set[str]]) -> Graph:
    """Without the arrows that others imply. The graph must have no circle."""

    @cache
    def beyond(node: str) -> frozenset[str]:
        below = graph.get(node, set())
        return frozenset(below).union(*map(beyond, below))

    return {
        node: {b for b in below if not any(b in beyond(other) for other in below)}
        for node, below in graph.items()
    }


def depths(graph: Mapping[str, set[str]]) -> dict[str, int]:
    """For each node the length of the longest way to it, so that every arrow goes down."""
    above: Graph = {node: set() for node in graph}
    for node, below in graph.items():
        for b in below:
            above[b].add(node)

    @cache
    def depth(node: str) -> int:
        return max((depth(a) + 1 for a in above[node]), default=0)

    return {node: depth(node) for node in graph}
