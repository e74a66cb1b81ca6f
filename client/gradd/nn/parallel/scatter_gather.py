"""Inputs in parts for several devices, and results put together (torch.nn.parallel.scatter_gather).

All parts stay on the one device that a session has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._surface import namespace
from ..._tensor import Tensor

__all__ = ["gather", "scatter", "scatter_kwargs"]


def _named(kind: type, values: Any) -> Any:
    """A tuple of the same kind, also one with names."""
    return kind(*values) if hasattr(kind, "_fields") else tuple(values)


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """Tensors in as many parts along `dim` as there are targets, at most; other things for each of them.

    A list or tuple of what `inputs` is: tensors in tuples, lists and dicts are split wherever they are.
    """
    count = len(target_gpus)

    def parts(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.chunk(count, dim)
        if isinstance(value, tuple) and len(value) > 0:
            return [_named(type(value), one) for one in zip(*map(parts, value), strict=False)]
        if isinstance(value, list) and len(value) > 0:
            return [list(one) for one in zip(*map(parts, value), strict=False)]
        if isinstance(value, dict) and len(value) > 0:
            pairs = [[(key, one) for one in parts(held)] for key, held in value.items()]
            return [type(value)(one) for one in zip(*pairs, strict=False)]
        return [value for _ in range(count)]

    return parts(inputs)


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """The positional and the named arguments of each target; of those that lack some, empty ones."""
    args: list[Any] = list(scatter(inputs, target_gpus, dim)) if inputs else []
    named: list[Any] = list(scatter(kwargs, target_gpus, dim)) if kwargs else []
    count = max(len(args), len(named))
    args += [()] * (count - len(args))
    named += [{} for _ in range(count - len(named))]
    return tuple(args), tuple(named)


def gather(outputs: Sequence[Any], target_device: Any, dim: int = 0) -> Any:
    """The results of all targets as one: tensors in tuples, lists and dicts are joined along `dim`."""
    first = outputs[0]
    if isinstance(first, Tensor):
        whole = [one.unsqueeze(0) if one.dim() == 0 else one for one in outputs]
        return namespace("")["cat"](whole, dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(one) != len(first) for one in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([one[key] for one in outputs], target_device, dim)) for key in first)
    joined = [gather(some, target_device, dim) for some in zip(*outputs, strict=False)]
    return _named(type(first), joined) if isinstance(first, tuple) else type(first)(joined)
