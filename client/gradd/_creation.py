"""Leaves made of numbers: tensor(), from_numpy(), as_tensor(). The bytes are taken before they return.

Spelled as in https://pytorch.org/docs/stable/torch.html#creation-ops.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine import dtypes
from gradd_engine.ops.cast import to_dtype
from gradd_engine.ops.literal import literal
from gradd_engine.schema import type_name

from ._connect import current
from ._tensor import Tensor

if TYPE_CHECKING:
    from gradd_engine.dtypes import DType


def _tensors_inside(data: Any) -> Any:
    """Tensors among nested lists as numbers (each is fetched, as torch reads them)."""
    if isinstance(data, Tensor):
        return data._scalar()
    if isinstance(data, (list, tuple)):
        return [_tensors_inside(e) for e in data]
    return data


def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A leaf from Python numbers, lists or arrays; the bytes are taken before it returns (torch.tensor).

    Raises TypeError, ValueError or RuntimeError for data that is no array, RuntimeError where `requires_grad`
    is asked of integers.
    """
    if not isinstance(requires_grad, bool):
        raise TypeError(f"tensor(): argument 'requires_grad' must be bool, not {type_name(requires_grad)}")
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        out: Any = data.detach().clone()
        out = out if dtype is None else to_dtype(out, dtype)
        return out.requires_grad_(requires_grad)  # type: ignore[no-any-return]
    if isinstance(data, (list, tuple)):
        data = _tensors_inside(data)
    a = data if isinstance(data, np.ndarray) else literal(data, dtype)
    return _leaf(a, dtype or dtypes.from_numpy(a.dtype), requires_grad)


def _leaf(a: np.ndarray[Any, Any], dtype: DType, requires_grad: bool) -> Tensor:
    if requires_grad and not dtype.differentiable:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return current().backend.leaf(a, dtype, requires_grad)  # type: ignore[return-value]


def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
    """A tensor with a copy of the array's values and its dtype (torch.from_numpy, which shares memory; a
    daemon cannot).
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return _leaf(array, dtypes.from_numpy(array.dtype), False)


def as_tensor(data: Any, dtype: DType | None = None, device: Any = None) -> Tensor:
    """A tensor: itself where it is one already (torch.as_tensor)."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    return tensor(data, dtype=dtype)


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a gradd tensor."""
    return isinstance(obj, Tensor)
