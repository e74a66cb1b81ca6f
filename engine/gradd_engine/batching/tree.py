"""Nested tuples, lists and dicts as leaves and a structure, as in torch.utils._pytree.

None is a leaf. A structure prints as in PyTorch, because messages quote it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Structure:
    """A container's class, what is needed to rebuild it (keys, a named tuple's class), and its parts; a leaf
    has ``kind`` None.
    """

    __slots__ = ("context", "kind", "leaves", "parts")

    def __init__(self, kind: Any = None, context: Any = None, parts: Sequence[Structure] = ()) -> None:
        self.kind, self.context, self.parts = kind, context, tuple(parts)
        #: the number of leaves
        self.leaves: int = sum(p.leaves for p in self.parts) if kind is not None else 1

    def __repr__(self) -> str:
        return self._text(0)

    def _text(self, indent: int) -> str:
        if self.kind is None:
            return "*"
        indent += 2
        inside = f",\n{' ' * indent}".join(p._text(indent) for p in self.parts)
        return f"TreeSpec({self.kind.__name__}, {self.context}, [{inside}])"

    def build(self, leaves: Iterator[Any]) -> Any:
        """The containers, filled with `leaves`."""
        if self.kind is None:
            return next(leaves)
        found = [p.build(leaves) for p in self.parts]
        if self.kind in (dict, OrderedDict):
            return self.kind(zip(self.context, found, strict=True))
        return self.context(*found) if self.kind is _NamedTuple else self.kind(found)


class _NamedTuple:
    """Represents any named tuple class; the structure's context holds the actual one."""


_NamedTuple.__name__ = "namedtuple"


def _opened(x: Any) -> tuple[Any, Any, list[Any]] | None:
    """The class, context and parts of a container; None for a leaf."""
    kind = type(x)
    if kind is tuple or kind is list:
        return kind, None, list(x)
    if kind is dict or kind is OrderedDict:
        return kind, list(x), list(x.values())
    if isinstance(x, tuple) and hasattr(kind, "_fields"):
        return _NamedTuple, kind, list(x)
    return None


def flatten(x: Any) -> tuple[list[Any], Structure]:
    """The leaves of `x` in order, and its structure."""
    opened = _opened(x)
    if opened is None:
        return [x], Structure()
    kind, context, parts = opened
    leaves: list[Any] = []
    structures = []
    for part in parts:
        found, structure = flatten(part)
        leaves += found
        structures.append(structure)
    return leaves, Structure(kind, context, structures)


def unflatten(leaves: Sequence[Any], structure: Structure) -> Any:
    """The inverse of `flatten`."""
    return structure.build(iter(leaves))


def spread(x: Any, structure: Structure) -> list[Any] | None:
    """One leaf of `x` for each leaf of `structure` if `x` is a prefix of it; otherwise None."""
    opened = _opened(x)
    if opened is None:
        return [x] * structure.leaves
    kind, context, parts = opened
    if kind is not structure.kind or context != structure.context or len(parts) != len(structure.parts):
        return None
    out: list[Any] = []
    for part, inner in zip(parts, structure.parts, strict=True):
        found = spread(part, inner)
        if found is None:
            return None
        out += found
    return out
