"""Leaves from numbers: tensor(), from_numpy(), as_tensor(). The data are copied before they return.

As in https://pytorch.org/docs/stable/torch.html#creation-ops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine.data import Size, ambient, dtypes, warn
from gradd_engine.ops.shape.cast import to_dtype
from gradd_engine.ops.shared.constants import empty
from gradd_engine.ops.shared.literal import literal
from gradd_engine.schema import type_name
from gradd_engine.transforms import made_here

from .._session import current
from .._tensor import Tensor, as_subclass

if TYPE_CHECKING:
    from gradd_engine.data import DType


def _tensors_inside(data: Any) -> Any:
    """Tensors in nested lists as numbers (each is fetched, as torch does), and what is like an array or a
    list as one.
    """
    if isinstance(data, _PLAIN):
        return data
    if isinstance(data, Tensor):
        return data._scalar()
    if isinstance(data, (list, tuple)):
        return [_tensors_inside(e) for e in data]
    return _like_an_array(data)


#: what needs no second look
_PLAIN = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)


def _like_an_array(data: Any) -> Any:
    """The array that an object of another library is to NumPy (a pandas Series or DataFrame, a Pillow image);
    a sequence of another type as a list; anything else unchanged.
    """
    if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        return np.asarray(data)
    if hasattr(data, "__len__") and hasattr(data, "__getitem__") and not hasattr(data, "keys"):
        return _tensors_inside(list(data))
    return data


def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A leaf from Python numbers, lists or arrays, which are copied (torch.tensor).

    Raises TypeError, ValueError or RuntimeError for data that do not form an array, RuntimeError for
    `requires_grad` with integers.
    """
    dtype = dtypes.BY_TYPE.get(dtype, dtype)
    if not isinstance(requires_grad, bool):
        raise TypeError(f"tensor(): argument 'requires_grad' must be bool, not {type_name(requires_grad)}")
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
        )
        out: Any = data.detach().clone()
        out = out if dtype is None else to_dtype(out, dtype)
        return out.requires_grad_(requires_grad)  # type: ignore[no-any-return]
    data = _tensors_inside(data)
    a = data if isinstance(data, np.ndarray) else literal(data, dtype)
    return _leaf(a, dtype or dtypes.from_numpy(a.dtype), requires_grad)


def _leaf(a: np.ndarray[Any, Any], dtype: DType, requires_grad: bool) -> Tensor:
    if requires_grad and not dtype.differentiable:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return made_here(current().backend.leaf(a, dtype, requires_grad))  # type: ignore[return-value]


def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
    """A tensor with a copy of the array's values and its dtype (torch.from_numpy, but without shared
    memory: a write to the array before the next batch gives a LostWriteWarning, a later one nothing).
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    made = _leaf(array, dtypes.from_numpy(array.dtype), False)
    current().sharing.take(made, array)
    return made


def frombuffer(
    buffer: Any, *, dtype: DType, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """`count` elements of a buffer's bytes from `offset` on, as 1-D tensor: all for -1 (torch.frombuffer, but
    the bytes are copied). ValueError for what is no buffer or not of that size.
    """
    try:
        size = memoryview(buffer).nbytes
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    item = dtype.itemsize
    if not size or not count:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} bytes) "
            "minus 1"
        )
    if count > 0 and count * item > size - offset:
        raise ValueError(
            f"requested buffer length ({count} * {item} bytes) after offset ({offset} bytes) must not be "
            f"greater than actual buffer length ({size} bytes)"
        )
    if count < 0 and (size - offset) % item:
        raise ValueError(
            f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a multiple of "
            f"element size ({item})"
        )
    return _leaf(np.frombuffer(buffer, dtype.np, count, offset), dtype, requires_grad)


def as_tensor(data: Any, dtype: DType | None = None, device: Any = None) -> Tensor:
    """A tensor from data, or `data` itself if it already is one (torch.as_tensor)."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    made = tensor(data, dtype=dtype)
    if isinstance(data, np.ndarray) and dtypes.from_numpy(data.dtype) is made.dtype:
        current().sharing.take(made, data)
    return made


def asarray(
    obj: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor from data, or `obj` itself if it is one and neither `dtype` nor `copy` needs another
    (torch.asarray). ValueError if a copy is needed and `copy` is False.
    """
    dtype = dtypes.BY_TYPE.get(dtype, dtype)
    if isinstance(obj, Tensor) and not copy:
        if copy is False and dtype not in (None, obj.dtype):
            raise ValueError(f"can't alias tensor with dtype '{obj.dtype}' into dtype '{dtype}'.")
        found = as_tensor(obj, dtype)
    elif isinstance(obj, Tensor):
        found = obj.detach().to(dtype or obj.dtype, copy=True)
    elif copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    else:
        found = as_tensor(obj, dtype)
    if requires_grad and not found.requires_grad:
        return found.detach().requires_grad_()
    return found


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a gradd tensor."""
    return isinstance(obj, Tensor)


def made(dtype: DType, *args: Any) -> Any:
    """The tensor of a class called with sizes (elements are undefined), a sequence of numbers, or a tensor
    (an alias). TypeError for anything else.
    """
    if len(args) == 1 and not isinstance(args[0], int):
        (data,) = args
        if isinstance(data, Tensor):
            return _alias(data, dtype)
        if isinstance(data, str):
            raise TypeError("new(): invalid data type 'str'")
        if not hasattr(data, "__len__"):
            raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
        if not isinstance(data, Size):
            return tensor(data if isinstance(data, np.ndarray) else list(data), dtype=dtype)
        args = tuple(data)
    for i, n in enumerate(args, 1):
        if not isinstance(n, int):
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {i} with error \"type must be "
                f'tuple of ints,but got {type(n).__name__}"'
            )
    with ambient(backend=current().backend):
        return empty(list(args) if args else [0], dtype=dtype)


def _alias(data: Any, dtype: DType) -> Any:
    if data.dtype is not dtype:
        raise TypeError(f"expected a tensor of {dtype!r} (got {data.dtype!r})")
    return data.detach()


def _restored(values: Any, dtype: DType, requires_grad: bool, cls: type[Tensor]) -> Tensor:
    """A leaf from a pickle, in the current session."""
    return as_subclass(tensor(values, dtype=dtype), cls).requires_grad_(requires_grad)


def reduced(self: Tensor, protocol: Any) -> Any:
    """Pickles a tensor: its values (fetched), its dtype and `requires_grad`."""
    return _restored, (self.detach()._values(), self.dtype, self.requires_grad, type(self))
