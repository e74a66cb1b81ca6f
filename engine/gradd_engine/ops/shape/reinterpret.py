"""The bytes of a tensor as elements of another dtype (torch.Tensor.view with a dtype).

https://pytorch.org/docs/stable/generated/torch.Tensor.view.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...data import Meta, dtypes
from ...declare import view
from ...tensor import Tensor

if TYPE_CHECKING:
    from ...data import DType
    from ...schema import Op


def _infer(input: Tensor, dtype: DType) -> Meta:
    old, new = input.dtype.itemsize, dtype.itemsize
    shape, strides, offset = tuple(input.shape), tuple(input.strides), input.offset
    if dtype is dtypes.bool_ and input.dtype is not dtype:
        raise NotImplementedError("viewing bytes as bool is not supported: they may be neither 0 nor 1")
    if old == new:
        return Meta(shape, dtype, strides, offset)
    names = f"to view {input.dtype.title} as {dtype.title} (different element sizes), but got"
    if not shape:
        raise RuntimeError(f"self.dim() cannot be 0 {names.removesuffix(', but got')}")
    if strides[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {names} {strides[-1]}")
    if old > new:
        k = old // new
        return Meta((*shape[:-1], shape[-1] * k), dtype, (*(s * k for s in strides[:-1]), 1), offset * k)
    k = new // old
    if shape[-1] % k:
        raise RuntimeError(f"self.size(-1) must be divisible by {k} {names} {shape[-1]}")
    if offset % k:
        raise RuntimeError(f"self.storage_offset() must be divisible by {k} {names} {offset}")
    for d, step in enumerate(strides[:-1]):
        if step % k:
            raise RuntimeError(f"self.stride({d}) must be divisible by {k} {names} {step}")
    return Meta((*shape[:-1], shape[-1] // k), dtype, (*(s // k for s in strides[:-1]), 1), offset // k)


view_dtype: Op = view(
    "view_dtype(Tensor(a) input, dtype dtype) -> Tensor(a)",
    infer=_infer,
    namespace="-",
    outside=True,
    doc="The bytes of a tensor as elements of another dtype; no gradient passes.",
)
