"""Limits of dtypes (torch.finfo, torch.iinfo)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
from gradd_engine.data import dtypes
from gradd_engine.schema import type_name

if TYPE_CHECKING:
    from gradd_engine.data import DType


class finfo:
    """Limits of a floating dtype: ``bits``, ``eps``, ``max``, ``min``, ``tiny``, ``resolution``."""

    def __init__(self, dtype: DType | None = None) -> None:
        dtype = dtypes.default_dtype() if dtype is None else dtype
        if not isinstance(dtype, dtypes.DType):
            raise TypeError(
                f"finfo(): argument 'type' (position 1) must be torch.dtype, not {type_name(dtype)}"
            )
        if dtype.category < dtypes.FLOAT:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        info: Any = ml_dtypes.finfo(dtypes.to_real(dtype).np)  # type: ignore[no-untyped-call]
        self.dtype = dtypes.to_real(dtype).name
        self.bits = int(info.bits)
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.tiny)
        self.resolution = 10.0**-info.precision

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer dtype: ``bits``, ``min``, ``max``."""

    def __init__(self, dtype: DType) -> None:
        if dtype.category != dtypes.INT:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'"
            )
        self.dtype = dtype.name
        self.bits = 8 * dtype.itemsize
        self.max = 2 ** (self.bits - dtype.is_signed) - 1
        self.min = -(2 ** (self.bits - 1)) if dtype.is_signed else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
