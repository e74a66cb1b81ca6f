"""Collectives that gradients pass through, in a world of one process: copies of what they are given.

As torch.distributed.nn.functional, documented with
https://docs.pytorch.org/docs/stable/distributed.html. Each raises ValueError before there is a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._groups import ReduceOp, default_group


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """A copy of the tensor."""
    return _own(tensor, group)


def gather(tensor: Any, dst: int = 0, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all processes."""
    return (_own(tensor, group),)


def scatter(tensors: Sequence[Any], src: int = 0, group: Any = None) -> Any:
    """This process's tensor of the list."""
    return _own(tensors[0], group)


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The reduction over all processes."""
    return _own(tensor, group)


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The reduction over all processes."""
    return _own(tensor, group)


def reduce_scatter(output: Any, input_list: Sequence[Any], op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The reduction of this process's tensor of the lists; `output` gives its shape."""
    return _own(input_list[0], group)


def all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all processes."""
    return (_own(tensor, group),)


def all_to_all(
    output_tensor_list: Sequence[Any], input_tensor_list: Sequence[Any], group: Any = None
) -> tuple[Any, ...]:
    """What each process sends to this one."""
    return (_own(input_tensor_list[0], group),)


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
) -> Any:
    """What each process sends to this one, as one tensor."""
    return _own(input, group)


def _own(tensor: Any, group: Any) -> Any:
    default_group(group)
    return tensor.clone()
