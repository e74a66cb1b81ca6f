"""``permute_copy`` and its like: what a view shows, in memory of its own, row-major.

https://pytorch.org/docs/stable/generated/torch.permute_copy.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...declare import composite
from ...schema import named
from ..shape import contiguous_copy, detach

#: signature without its result, and the view; each is a function of the top level
_ONE: dict[str, Callable[..., Any]] = {
    "alias_copy(Tensor input)": lambda input: input,
    "as_strided_copy(Tensor input, int[] size, int[] stride, int? storage_offset=None)": (
        lambda input, size, stride, storage_offset: input.as_strided(size, stride, storage_offset)
    ),
    "detach_copy(Tensor input)": detach,
    "expand_copy(Tensor input, int[] size)": lambda input, size: input.expand(size),
    "narrow_copy(Tensor input, int dim, int start, int length)": (
        lambda input, dim, start, length: named.narrow(input, dim, start, length)
    ),
    "permute_copy(Tensor input, int[] dims)": lambda input, dims: input.permute(dims),
    "select_copy(Tensor input, int dim, int index)": lambda input, dim, index: input.select(dim, index),
    "slice_copy(Tensor input, int dim=0, int? start=None, int? end=None, int step=1)": (
        lambda input, dim, start, end, step: named.slice(input, dim, start, end, step)
    ),
    "squeeze_copy(Tensor input, int[]? dim=None)": (
        lambda input, dim: input.squeeze() if dim is None else input.squeeze(dim)
    ),
    "t_copy(Tensor input)": lambda input: input.t(),
    "transpose_copy(Tensor input, int dim0, int dim1)": (
        lambda input, dim0, dim1: input.transpose(dim0, dim1)
    ),
    "unfold_copy(Tensor input, int dimension, int size, int step)": (
        lambda input, dimension, size, step: input.unfold(dimension, size, step)
    ),
    "unsqueeze_copy(Tensor input, int dim)": lambda input, dim: input.unsqueeze(dim),
    "view_as_complex_copy(Tensor input)": lambda input: named.view_as_complex(input),
    "view_as_real_copy(Tensor input)": lambda input: named.view_as_real(input),
    "view_copy(Tensor input, int[]? size=None, *, dtype? dtype=None)": (
        lambda input, size, dtype: input.view(dtype if size is None else size)
    ),
}
_SEVERAL: dict[str, Callable[..., Any]] = {
    "split_copy(Tensor input, int split_size, int dim=0)": (
        lambda input, split_size, dim: input.split(split_size, dim)
    ),
    "split_with_sizes_copy(Tensor input, int[] split_sizes, int dim=0)": (
        lambda input, split_sizes, dim: input.split_with_sizes(split_sizes, dim)
    ),
    "unbind_copy(Tensor input, int dim=0)": lambda input, dim: input.unbind(dim),
}


def _copied(view: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given, **attrs: contiguous_copy(view(*given, **attrs))


def _each_copied(view: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given, **attrs: tuple(contiguous_copy(part) for part in view(*given, **attrs))


def _doc(signature: str) -> str:
    name = signature.partition("(")[0]
    return f"As `{name.removesuffix('_copy')}`, copied (torch.{name})."


for _signature, _view in _ONE.items():
    composite(
        f"{_signature} -> Tensor",
        body=_copied(_view),
        inline=True,
        out=True,
        method=_signature.startswith("narrow_copy"),
        doc=_doc(_signature),
    )
for _signature, _view in _SEVERAL.items():
    composite(
        f"{_signature} -> Tensor[]",
        body=_each_copied(_view),
        inline=True,
        out=True,
        doc=_doc(_signature),
    )
