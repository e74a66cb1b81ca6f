"""Copies, sums, parts and wholes of tensors over several devices, which older code calls by their classes
(torch.nn.parallel._functions). All are on the one device that a session has, and are differentiated as ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import scatter_gather

__all__ = ["Broadcast", "Gather", "ReduceAddCoalesced", "Scatter"]


class Broadcast:
    """Copies for each of several devices."""

    @staticmethod
    def apply(target_gpus: Sequence[Any], *inputs: Any) -> tuple[Any, ...]:
        """The inputs once for each target, those of a target together."""
        return inputs * len(target_gpus)


class ReduceAddCoalesced:
    """Sums over several devices."""

    @staticmethod
    def apply(destination: Any, num_inputs: int, *grads: Any) -> tuple[Any, ...]:
        """Sums of `num_inputs` tensors, each of those that stand at its place for one of the devices."""
        return tuple(sum(grads[i + num_inputs :: num_inputs], grads[i]) for i in range(num_inputs))


class Gather:
    """Results of several devices as one."""

    @staticmethod
    def apply(target_device: Any, dim: int, *inputs: Any) -> Any:
        """The inputs joined along `dim`; scalars as a vector."""
        return scatter_gather.gather(inputs, target_device, dim)


class Scatter:
    """Parts of a tensor for several devices."""

    @staticmethod
    def apply(target_gpus: Sequence[Any], chunk_sizes: Sequence[int] | None, dim: int, input: Any) -> Any:
        """Parts of `chunk_sizes` along `dim`, or as many alike as there are targets, at most."""
        found = input.chunk(len(target_gpus), dim) if chunk_sizes is None else input.split(chunk_sizes, dim)
        return tuple(found)
