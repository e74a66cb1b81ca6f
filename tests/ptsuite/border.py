"""Values between gradd and real torch: the tests' tools are real torch's, what they test is gradd's."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import gradd
import numpy as np
import torch

_DTYPES = (
    "float64", "float32", "float16", "bfloat16", "complex64", "complex128",
    "int64", "int32", "int16", "int8", "uint8", "bool",
)  # fmt: skip
_TO_TORCH = {getattr(gradd, name): getattr(torch, name) for name in _DTYPES}
_TO_GRADD = {theirs: ours for ours, theirs in _TO_TORCH.items()}
_BY_16_BITS = (torch.bfloat16, gradd.bfloat16)


def _tensor_to_torch(t: gradd.Tensor) -> torch.Tensor:
    values = np.array(t.detach().resolve_conj().numpy())
    if t.dtype in _BY_16_BITS:
        return torch.tensor(values.view(np.int16)).view(torch.bfloat16)
    return torch.tensor(values)


def _tensor_to_gradd(t: torch.Tensor) -> gradd.Tensor:
    plain = t.detach().resolve_conj().resolve_neg()
    if t.dtype in _BY_16_BITS:
        made = gradd.tensor(plain.float().numpy()).to(gradd.bfloat16)
    else:
        made = gradd.tensor(plain.contiguous().numpy())
    return made.requires_grad_() if t.requires_grad else made


def to_torch(value: Any) -> Any:
    """Tensors, dtypes, devices and sizes of gradd as torch's, also within lists, tuples and dicts. A tensor's
    graph does not come along.
    """
    if isinstance(value, gradd.Tensor):
        return _tensor_to_torch(value)
    if isinstance(value, gradd.dtype):
        return _TO_TORCH[value]
    if isinstance(value, gradd.device):
        return torch.device(str(value))
    if isinstance(value, gradd.Size):
        return torch.Size(value)
    return _within(value, to_torch)


def to_gradd(value: Any) -> Any:
    """Torch's as gradd's: a tensor becomes a leaf."""
    if isinstance(value, torch.Tensor):
        return _tensor_to_gradd(value)
    if isinstance(value, torch.dtype):
        return _TO_GRADD.get(value, value)
    if isinstance(value, torch.device):
        return gradd.device(str(value))
    if isinstance(value, torch.Size):
        return gradd.Size(value)
    return _within(value, to_gradd)


def _within(value: Any, turn: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        parts = [turn(v) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if type(value) in (list, set, frozenset):
        return type(value)(turn(v) for v in value)
    if type(value) in (dict, OrderedDict):
        return type(value)((k, turn(v)) for k, v in value.items())
    return value
