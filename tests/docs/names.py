"""Definitions that pages name: `` `Name`, `Class.method` in `path.py` ``."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
_NAMED = re.compile(r"((?:`[\w.]+`(?:,\s+|\s+and\s+|\s+or\s+)?)+)\s+in\s+`([\w/]+\.py)`")


class Named(NamedTuple):
    """A definition, and the file in which a page says that it is."""

    name: str
    path: str


def named(page: str) -> list[Named]:
    """The definitions that a page names, in order."""
    return [
        Named(name, path) for names, path in _NAMED.findall(page) for name in re.findall(r"`([\w.]+)`", names)
    ]


@cache
def defined(path: str) -> frozenset[str]:
    """What a file defines at its top level and in its classes; members as ``Class.member``."""
    return frozenset(_defined(ast.parse((ROOT / path).read_text()), ""))


def _defined(inside: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    for node in inside.body:
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name
            yield from _defined(node, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (prefix + t.id for t in targets if isinstance(t, ast.Name))


def missing(page: str) -> list[Named]:
    """The definitions that a page names and the code does not have."""
    return [n for n in named(page) if not (ROOT / n.path).is_file() or n.name not in defined(n.path)]
