"""Nested containers and their leaves (torch.utils._pytree): dicts, lists, tuples, named tuples and deques.

What else is to be a container is registered by `register_pytree_node`; anything else is a leaf.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "TreeSpec", "register_pytree_node", "tree_all", "tree_any", "tree_flatten", "tree_iter", "tree_leaves",
    "tree_map", "tree_map_", "tree_map_only", "tree_structure", "tree_unflatten",
]  # fmt: skip

_Leaf = Callable[[Any], bool] | None
#: by type: a container's parts and what else is needed, and the container from both
_NODES: dict[type, tuple[Callable[[Any], tuple[Iterable[Any], Any]], Callable[[Any, Any], Any]]] = {
    list: (lambda held: (held, None), lambda parts, _: list(parts)),
    tuple: (lambda held: (held, None), lambda parts, _: tuple(parts)),
    deque: (lambda held: (held, held.maxlen), lambda parts, most: deque(parts, most)),
    dict: (
        lambda held: (held.values(), list(held)),
        lambda parts, keys: dict(zip(keys, parts, strict=True)),
    ),
    OrderedDict: (
        lambda held: (held.values(), list(held)),
        lambda parts, keys: OrderedDict(zip(keys, parts, strict=True)),
    ),
    defaultdict: (
        lambda held: (held.values(), (held.default_factory, list(held))),
        lambda parts, about: defaultdict(about[0], zip(about[1], parts, strict=True)),
    ),
}


@dataclass
class TreeSpec:
    """How leaves are nested: a container's type, what else it needs, its parts. A leaf has no type."""

    type: Any
    context: Any = None
    children: list[TreeSpec] = field(default_factory=list)

    @property
    def num_leaves(self) -> int:
        """How many leaves there are."""
        return 1 if self.type is None else sum(child.num_leaves for child in self.children)

    def is_leaf(self) -> bool:
        """Whether it is a leaf."""
        return self.type is None


def register_pytree_node(cls: type, flatten_fn: Any, unflatten_fn: Any, **_: Any) -> None:
    """Make `cls` a container: `flatten_fn` gives its parts and what else it has, `unflatten_fn` takes both.

    Other options have no effect.
    """
    _NODES[cls] = (flatten_fn, unflatten_fn)


def _opened(tree: Any, is_leaf: _Leaf) -> tuple[Any, Iterable[Any], Any] | None:
    if is_leaf is not None and is_leaf(tree):
        return None
    kind = type(tree)
    if isinstance(tree, tuple) and hasattr(kind, "_fields"):
        return kind, tree, kind
    if kind not in _NODES:
        return None
    return kind, *_NODES[kind][0](tree)


def tree_flatten(tree: Any, is_leaf: _Leaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves in order, and how they are nested."""
    opened = _opened(tree, is_leaf)
    if opened is None:
        return [tree], TreeSpec(None)
    kind, parts, context = opened
    leaves: list[Any] = []
    spec = TreeSpec(kind, context)
    for part in parts:
        found, child = tree_flatten(part, is_leaf)
        leaves += found
        spec.children.append(child)
    return leaves, spec


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """The inverse of `tree_flatten`. ValueError for another number of leaves."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a "
            f"pytree that holds {treespec.num_leaves} items ({treespec})."
        )
    if treespec.type is None:
        return leaves[0]
    parts, at = [], 0
    for child in treespec.children:
        parts.append(tree_unflatten(leaves[at : at + child.num_leaves], child))
        at += child.num_leaves
    if treespec.type in _NODES:
        return _NODES[treespec.type][1](parts, treespec.context)
    return treespec.type(*parts)


def tree_iter(tree: Any, is_leaf: _Leaf = None) -> Iterable[Any]:
    """The leaves, one by one."""
    return iter(tree_flatten(tree, is_leaf)[0])


def tree_leaves(tree: Any, is_leaf: _Leaf = None) -> list[Any]:
    """The leaves."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: _Leaf = None) -> TreeSpec:
    """How the leaves are nested."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: _Leaf = None) -> Any:
    """The same nesting, of what `func` gives for each leaf, and for those at its place in `rests`."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [_leaves_as(rest, spec) for rest in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others, strict=True)], spec)


def _leaves_as(tree: Any, spec: TreeSpec) -> list[Any]:
    """The parts of `tree` at the leaves of `spec`."""
    if spec.type is None:
        return [tree]
    opened = _opened(tree, None)
    parts = list(opened[1]) if opened else []
    if opened is None or opened[0] is not spec.type or len(parts) != len(spec.children):
        raise ValueError(f"a {type(tree).__name__} is not nested as a {spec.type.__name__}")
    if isinstance(tree, dict):
        keys = spec.context[1] if spec.type is defaultdict else spec.context
        parts = [tree[key] for key in keys]
    found: list[Any] = []
    for part, child in zip(parts, spec.children, strict=True):
        found += _leaves_as(part, child)
    return found


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: _Leaf = None) -> Any:
    """Call `func` for each leaf, for what it does; `tree` itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(
    type_or_types_or_pred: Any, func: Callable[[Any], Any], tree: Any, is_leaf: _Leaf = None
) -> Any:
    """As `tree_map`, for leaves of these types, or of which a predicate says so; others stay."""
    if isinstance(type_or_types_or_pred, (type, tuple)):
        kinds = type_or_types_or_pred
        return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kinds) else leaf, tree, is_leaf=is_leaf)
    chosen = type_or_types_or_pred
    return tree_map(lambda leaf: func(leaf) if chosen(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: _Leaf = None) -> bool:
    """Whether `pred` holds for every leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: _Leaf = None) -> bool:
    """Whether `pred` holds for some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))
