"""unsafe_split, unsafe_split_with_sizes, unsafe_chunk: parts that autograd does not treat as views.

PyTorch leaves open whether writing to a part changes the input; here each part is a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, wrap_dim
from ...declare import LINEAR, composite, kernel
from .slicing import chunked, even, rejoined, split_infer, split_sizes_infer, views_cost

if TYPE_CHECKING:
    from collections.abc import Sequence


def _own(views: Sequence[Meta]) -> list[Meta]:
    return [Meta(meta.shape, meta.dtype) for meta in views]


def _cut(xp: Any, a: Any, sizes: Sequence[int], dim: int) -> list[Any]:
    d, out, start = dim % max(a.ndim, 1), [], 0
    for n in sizes:
        out.append(a[(slice(None),) * d + (slice(start, start + n),)].copy())
        start += n
    return out


def _even_of(shape: Sequence[int], split_size: int, dim: int) -> list[int]:
    return even(shape[wrap_dim(dim, len(shape))], split_size)


unsafe_split = kernel(
    "unsafe_split(Tensor tensor, int split_size, int dim=0) -> Tensor[]",
    infer=lambda tensor, split_size, dim: _own(split_infer(tensor, split_size, dim)),
    impl=lambda xp, a, split_size, dim: _cut(xp, a, _even_of(a.shape, split_size, dim), dim),
    cost=lambda tensor, split_size, dim=0: views_cost(tensor, dim, split_size),
    vjp=lambda grads, tensor_meta, split_size, dim: rejoined(
        grads, tensor_meta, wrap_dim(dim, tensor_meta.ndim), _even_of(tensor_meta.shape, split_size, dim)
    ),
    jvp=LINEAR,
    method=True,
    doc="Copies of parts of `split_size` elements of `dim` (torch.unsafe_split).",
    raises=False,
)

unsafe_split_with_sizes = kernel(
    "unsafe_split_with_sizes(Tensor input, int[] split_sizes, int dim=0) -> Tensor[]",
    infer=lambda input, split_sizes, dim: _own(split_sizes_infer(input, split_sizes, dim)),
    impl=lambda xp, a, split_sizes, dim: _cut(xp, a, split_sizes, dim),
    vjp=lambda grads, input_meta, split_sizes, dim: rejoined(
        grads, input_meta, wrap_dim(dim, input_meta.ndim), split_sizes
    ),
    jvp=LINEAR,
    method=True,
    doc="Copies of parts of the given sizes along `dim` (torch.unsafe_split_with_sizes).",
    raises=False,
)


unsafe_chunk = composite(
    "unsafe_chunk(Tensor input, int chunks, int dim=0) -> Tensor[]",
    body=lambda input, chunks, dim: chunked(
        "unsafe_chunk", unsafe_split, unsafe_split_with_sizes, input, chunks, dim
    ),
    method=True,
    doc="Copies of at most `chunks` parts of equal size (torch.unsafe_chunk).",
)
