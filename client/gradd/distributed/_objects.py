"""Collectives of Python objects in a world of one process. As in PyTorch, what arrives is a copy."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from ._groups import default_group


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Put a copy of `obj` into the list."""
    default_group(group)
    object_list[0] = deepcopy(obj)


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Any = None,
    group_dst: int | None = None,
) -> None:  # fmt: skip
    """Put a copy of `obj` into the list. ValueError without one."""
    default_group(group)
    if object_gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    object_gather_list[0] = deepcopy(obj)


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
    group_src: int | None = None,
) -> None:  # fmt: skip
    """The list stays as it is."""
    default_group(group)


def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
    src: int | None = None, group: Any = None, group_src: int | None = None,
) -> None:  # fmt: skip
    """Put a copy of the one object of a list into the other. ValueError without one."""
    default_group(group)
    if not scatter_object_input_list:
        raise ValueError("Expected argument scatter_object_input_list to be a list of size at least 1.")
    scatter_object_output_list[0] = deepcopy(scatter_object_input_list[0])
