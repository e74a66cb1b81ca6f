"""Tensors made by their class: `Tensor(2, 3)`, `FloatTensor([1, 2])`, and what `type(x)` prints.

Spelled as in https://pytorch.org/docs/stable/tensors.html; `tensor` and `empty` are today's names of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine import dtypes
from gradd_engine.ops.create import empty
from gradd_engine.state import ambient
from gradd_engine.tensor import Tensor as EngineTensor

if TYPE_CHECKING:
    from gradd_engine.dtypes import DType


def made(dtype: DType, *args: Any) -> Any:
    """What a tensor's class makes of its arguments: sizes (the elements are undefined), a sequence of
    numbers, or an alias of a tensor. TypeError for anything else.
    """
    from ._connect import current
    from ._creation import tensor

    if len(args) == 1 and not isinstance(args[0], int):
        (data,) = args
        if isinstance(data, EngineTensor):
            return _alias(data, dtype)
        if isinstance(data, str):
            raise TypeError("new(): invalid data type 'str'")
        if not hasattr(data, "__len__"):
            raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
        if type(data).__name__ != "Size":
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


class TensorType(type):
    """The class of `Tensor`: called by users it takes what torch.Tensor takes, not what a mirror is made
    of; and it prints as PyTorch's class does.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """A tensor of the default dtype; see `made`. Subclasses are made as any class."""
        if cls.__dict__.get("_by_users") and not (args and hasattr(args[0], "tensor_class")):
            if kwargs:
                raise TypeError(f"new() got an unexpected keyword argument {next(iter(kwargs))!r}")
            return made(dtypes.default_dtype(), *args)
        return super().__call__(*args, **kwargs)

    def __repr__(cls) -> str:
        return "<class 'torch.Tensor'>" if cls.__dict__.get("_by_users") else super().__repr__()


class _OfDtype(type):
    """The class of `FloatTensor` and its kin: their instances are the tensors of one dtype."""

    dtype: DType

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, EngineTensor) and instance.dtype is cls.dtype

    def __call__(cls, *args: Any) -> Any:
        return made(cls.dtype, *args)

    def __repr__(cls) -> str:
        return f"<class '{cls.dtype.tensor_type}'>"


def dtype_of(kind: Any) -> Any:
    """The dtype of `FloatTensor` and its kin; anything else as it is."""
    return kind.dtype if isinstance(kind, _OfDtype) else kind


#: `FloatTensor`, `LongTensor` ...: by the names that PyTorch has
TYPES: dict[str, Any] = {
    f"{d.title}Tensor": _OfDtype(
        f"{d.title}Tensor", (), {"dtype": d, "__doc__": f"Makes tensors of {d!r} (torch.{d.title}Tensor)."}
    )
    for d in dtypes.ALL
    if not d.is_complex
}
