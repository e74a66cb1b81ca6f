"""resize_: another shape for the tensor itself, in new memory if its own is too small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, numel, state
from ...declare import attach, composite, public
from ...graph import check_inference
from ...schema import named
from ...tensor import Tensor, detached
from ..shared import as_list, checked, zeros
from .view_ops import as_strided

if TYPE_CHECKING:
    from collections.abc import Sequence


def _resize(input: Tensor, size: Sequence[int]) -> Tensor:
    if input.requires_grad and state.inference is None:
        raise RuntimeError("cannot resize variables that require grad")
    check_inference(input)
    shape = checked(size)
    if shape == tuple(input.shape):
        return input
    meta = Meta(shape, input.dtype, None, input.offset)
    have = 0 if input._storage is None else input._storage.nbytes // input.dtype.itemsize - input.offset
    if numel(shape) <= have:
        found = input.backend.view(input, meta)
    else:
        found = zeros(list(shape), dtype=input.dtype)
        kept = as_strided(detached(input), [have], [1], input.offset)
        named.copy_(as_strided(found, [have], [1], 0), kept)
    input._storage, input.array = found._storage, found.array
    input._shape, input.strides, input.offset = found.shape, found.strides, found.offset
    input._vc.n += 1
    return input


_resize_op = composite(
    "resize_(Tensor(a!) input, int[] size) -> Tensor(a!)",
    body=_resize,
    traced=False,
    namespace="-",
    outside=True,
    doc="""Change the shape over the same memory (torch.Tensor.resize_).

    If that is too small, the tensor moves to new memory: its elements, then zeros; its views keep the old
    memory. RuntimeError for tensors that require grad.
    """,
    wide=True,
)


def _resize_method(self: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """See torch.Tensor.resize_."""
    return _resize_op(self, as_list(sizes if size is None else size, "resize_", "size"))  # type: ignore[no-any-return]


attach("resize_", _resize_method)


@public(name="resize_as_", method=True)
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """See torch.Tensor.resize_as_; `memory_format` is ignored."""
    return _resize_method(input, *the_template.shape)
