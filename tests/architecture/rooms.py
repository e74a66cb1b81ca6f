"""Imports of a package, read from its source and those for types counted: circles, and arrows that point up.

import-linter leaves out what stands under ``if TYPE_CHECKING`` for all of its contracts or for none, so the
order of the rooms inside a package is kept here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: module -> the modules of the same package that it imports
Graph = dict[str, set[str]]


@dataclass(frozen=True)
class House:
    """The rooms of a package from the top down, one floor a line; rooms of one floor ("a | b") do not import
    each other. A room is a module or a folder just below the package, "." the package's own `__init__`.
    """

    folder: str
    floors: tuple[str, ...]
    #: "a -> b", an arrow that points up or between rooms of one floor: why it is there
    upward: dict[str, str] = field(default_factory=dict)
    #: rooms that others enter by the names in their `__init__` alone
    doors: frozenset[str] = frozenset()


def imports(folder: Path) -> Graph:
    """Which modules of the package in `folder` import which others of it, wherever the import stands."""
    files = {_name(path, folder): path for path in folder.rglob("*.py")}
    return {name: set(_imported(name, path, files)) - {name} for name, path in files.items()}


def _name(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(name: str, path: Path, files: dict[str, Path]) -> Iterator[str]:
    parts = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = parts[: len(parts) - node.level + 1] if node.level else []
            source = ".".join([*start, *([node.module] if node.module else [])])
            whole = [f"{source}.{alias.name}" for alias in node.names]
            found = [one if one in files else source for one in whole]
        else:
            continue
        yield from (one for one in found if one in files)


def circles(graph: Graph) -> list[set[str]]:
    """The groups of modules of which each leads to every other, the largest first."""
    reached = {name: _reached(name, graph) for name in graph}
    groups: list[set[str]] = []
    for name in graph:
        group = {other for other in reached[name] if name in reached[other]}
        if len(group) > 1 and group not in groups:
            groups.append(group)
    return sorted(groups, key=len, reverse=True)


def _reached(name: str, graph: Graph) -> set[str]:
    found: set[str] = set()
    ahead = [name]
    while ahead:
        new = graph[ahead.pop()] - found
        found |= new
        ahead += new
    return found


def room(module: str) -> str:
    """The room that a module is in."""
    return (module.split(".")[1:2] or ["."])[0]


def unplaced(house: House, graph: Graph) -> set[str]:
    """Rooms that are in the package or on a floor, and not in both."""
    named = [one for floor in house.floors for one in floor.split(" | ")]
    assert len(named) == len(set(named))
    return set(named) ^ {room(module) for module in graph}


def upward(house: House, graph: Graph) -> set[str]:
    """Arrows between rooms that do not point down, as "module -> module"."""
    height = {one: n for n, floor in enumerate(house.floors) for one in floor.split(" | ")}
    return {
        f"{source} -> {target}"
        for source, targets in graph.items()
        for target in targets
        if room(source) != room(target) and height[room(source)] >= height[room(target)]
    }


def past_doors(house: House, graph: Graph) -> set[str]:
    """Arrows into a room with a door that name a module behind it."""
    return {
        f"{source} -> {target}"
        for source, targets in graph.items()
        for target in targets
        if room(source) != room(target) and room(target) in house.doors and target.count(".") > 1
    }
