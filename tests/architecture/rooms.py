"""Imports of a package, read from its source, and those for types counted: circles, and ways past a door.

That arrows between rooms point down is import-linter's to check (pyproject.toml).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

#: module -> the modules of the same package that it imports
Graph = dict[str, set[str]]


def imports(folder: Path) -> Graph:
    """Which modules of the package in `folder` import which others of it, wherever the import stands.

    A module that a room's door hands out (in its `__all__`) is imported from the door.
    """
    files = {_name(path, folder): path for path in folder.rglob("*.py")}
    handed = {name: _handed_out(path) for name, path in files.items() if path.stem == "__init__"}
    return {name: set(_imported(name, path, files, handed)) - {name} for name, path in files.items()}


def _handed_out(door: Path) -> set[str]:
    for node in ast.parse(door.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return {name.value for name in ast.walk(node.value) if isinstance(name, ast.Constant)}
    return set()


def _name(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(
    name: str, path: Path, files: Collection[str], handed: Mapping[str, Collection[str]]
) -> Iterator[str]:
    parts = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = parts[: len(parts) - node.level + 1] if node.level else []
            source = ".".join([*start, *([node.module] if node.module else [])])
            inside = source in (name, name.rpartition(".")[0])
            out = () if inside else handed.get(source, ())
            inner = [alias.name for alias in node.names if alias.name not in out]
            whole = [f"{source}.{one}" for one in inner]
            found = [one if one in files else source for one in whole]
            if len(inner) < len(node.names):
                found.append(source)
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
    """The room that a module is in: a file or a folder just below its package, "." for the package's own."""
    return (module.split(".")[1:2] or ["."])[0]


def past_doors(graph: Graph, doors: Collection[str]) -> set[str]:
    """Imports into the rooms `doors` that name a module behind the door, as "module -> module"."""
    return {
        f"{source} -> {target}"
        for source, targets in graph.items()
        for target in targets
        if room(source) != room(target) and room(target) in doors and target.count(".") > 1
    }
