"""Collectives of tensors in a world of one process: what arrives is what was sent. Nothing waits.

As https://docs.pytorch.org/docs/stable/distributed.html#collective-functions. Each raises ValueError before
there is a group, TypeError for what is no tensor, and returns a `Work` if `async_op`, else None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradd_engine.graph import no_grad

from .._tensor import Tensor
from ._groups import ReduceOp, Work, default_group


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Any:
    """The reduction of one tensor over one process: it stays as it is."""
    _tensor(tensor, "tensor")
    return _done(group, async_op)


def reduce(
    tensor: Any, dst: int | None = None, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False,
    group_dst: int | None = None,
) -> Any:  # fmt: skip
    """As `all_reduce`. RuntimeError for a `dst` that is not 0."""
    _tensor(tensor, "tensor")
    _root("reduce", dst, group_dst)
    return _done(group, async_op)


def broadcast(
    tensor: Any, src: int | None = None, group: Any = None, async_op: bool = False,
    group_src: int | None = None,
) -> Any:  # fmt: skip
    """The tensor stays as it is. RuntimeError for a `src` that is not 0."""
    _tensor(tensor, "tensor")
    _root("broadcast", src, group_src)
    return _done(group, async_op)


def all_gather(tensor_list: Any, tensor: Any, group: Any = None, async_op: bool = False) -> Any:
    """Copy `tensor` into the one tensor of the list. RuntimeError for another length or shape."""
    _listed(tensor_list, "tensor_list")
    _tensor(tensor, "tensor")
    return _moved("allgather", tensor_list, [tensor], group, async_op)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False
) -> Any:
    """Copy one tensor into the other, of as many elements."""
    return _flat("allgather", output_tensor, input_tensor, group, async_op)


#: its new name
all_gather_single = all_gather_into_tensor


def gather(
    tensor: Any, gather_list: Any = None, dst: int | None = None, group: Any = None, async_op: bool = False,
    group_dst: int | None = None,
) -> Any:  # fmt: skip
    """Copy `tensor` into the one tensor of the list. ValueError without one."""
    _tensor(tensor, "tensor")
    _root("gather", dst, group_dst)
    if not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    return _moved("gather", gather_list, [tensor], group, async_op)


def scatter(
    tensor: Any, scatter_list: Any = None, src: int | None = None, group: Any = None, async_op: bool = False,
    group_src: int | None = None,
) -> Any:  # fmt: skip
    """Copy the one tensor of the list into `tensor`. ValueError without one."""
    _tensor(tensor, "tensor")
    _root("scatter", src, group_src)
    if not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    return _moved("scatter", [tensor], scatter_list, group, async_op)


def reduce_scatter(
    output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """Copy the one tensor of the list into `output`."""
    _tensor(output, "output")
    _listed(input_list, "input_list")
    return _moved("reduce_scatter", [output], input_list, group, async_op)


def reduce_scatter_tensor(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """Copy one tensor into the other, of as many elements."""
    return _flat("reduce_scatter", output, input, group, async_op)


#: its new name
reduce_scatter_single = reduce_scatter_tensor


def all_to_all(
    output_tensor_list: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False
) -> Any:
    """Copy the one tensor of a list into that of the other."""
    _listed(output_tensor_list, "output_tensor_list")
    _listed(input_tensor_list, "input_tensor_list")
    return _moved("alltoall", output_tensor_list, input_tensor_list, group, async_op)


def all_to_all_single(
    output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None,
    async_op: bool = False,
) -> Any:  # fmt: skip
    """Copy one tensor into the other."""
    return _flat("alltoall", output, input, group, async_op)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Any:
    """There is nobody to wait for."""
    return _done(group, async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """There is nobody to wait for."""
    default_group(group)


def send(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: Any = None) -> None:
    """ValueError: a process sends nothing to itself, and there is no other."""
    _refuse_peer(tensor, "destination", dst if group_dst is None else group_dst, group)


def recv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: Any = None) -> int:
    """As `send`."""
    _refuse_peer(tensor, "source", src if group_src is None else group_src, group)
    return 0


def isend(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: Any = None) -> Any:
    """As `send`."""
    send(tensor, dst, group, tag, group_dst)


def irecv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: Any = None) -> Any:
    """As `recv`."""
    recv(tensor, src, group, tag, group_src)


def _refuse_peer(tensor: Any, what: str, rank: int | None, group: Any) -> None:
    _tensor(tensor, "tensor")
    default_group(group)
    if rank:
        raise ValueError(f"Invalid {what} rank {rank}: there is one process")
    raise ValueError(
        f"Invalid {what} rank: {what} rank should not be the same as the rank of the current process."
    )


def _tensor(given: Any, name: str) -> None:
    if not isinstance(given, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(given)} instead."
        )


def _listed(given: Any, name: str) -> None:
    if not isinstance(given, (list, tuple)) or not all(isinstance(t, Tensor) for t in given):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(given)} instead."
        )


def _root(name: str, *ranks: int | None) -> None:
    rank = next((r for r in ranks if r is not None), 0)
    if rank != 0:
        raise RuntimeError(f"ProcessGroupGloo::{name}: invalid root rank: {rank}")


def _moved(name: str, into: Sequence[Any], found: Sequence[Any], group: Any, async_op: bool) -> Any:
    done = _done(group, async_op)
    for given in (into, found):
        if len(given) != 1:
            raise RuntimeError(
                f"ProcessGroupGloo::{name}: invalid output tensor list at index 0 (expected length 1, got "
                f"{len(given)})"
            )
    target, source = into[0], found[0]
    if target.shape != source.shape:
        raise RuntimeError(
            f"ProcessGroupGloo::{name}: invalid tensor size at index 0 (expected {_sizes(source)}, got "
            f"{_sizes(target)})"
        )
    _copy(target, source)
    return done


def _flat(name: str, target: Any, source: Any, group: Any, async_op: bool) -> Any:
    _tensor(target, "output_tensor")
    _tensor(source, "input_tensor")
    done = _done(group, async_op)
    if target.numel() != source.numel():
        raise RuntimeError(
            f"ProcessGroupGloo::{name}: invalid tensor size at index 0 (expected {_sizes(source)}, got "
            f"{_sizes(target)})"
        )
    _copy(target, source.reshape(target.shape))
    return done


def _copy(target: Any, source: Any) -> None:
    if target.dtype is not source.dtype:
        raise ValueError(
            f"Invalid usage of tensors with different dtypesFound {target.dtype} and  {source.dtype}"
        )
    with no_grad():
        target.copy_(source)


def _sizes(t: Any) -> str:
    return f"({', '.join(map(str, t.shape))})"


def _done(group: Any, async_op: bool) -> Work | None:
    default_group(group)
    return Work() if async_op else None
