"""unsqueeze_, squeeze_, t_, transpose_ and as_strided_: a tensor takes the geometry of a view of itself.

Nothing is written, but its version increases and its node is the view's. Whether it is a view, and of which
base, does not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import state
from ...declare import attach, composite
from ...graph import check_inference, check_target
from ...tensor import Tensor, carry, detached, remember_shape
from .reshape import squeeze_all, squeeze_dim, squeeze_dims, unsqueeze
from .view_ops import as_strided, t, transpose

if TYPE_CHECKING:
    from collections.abc import Callable


def _turned(input: Tensor, label: str, turn: Callable[..., Any], *args: Any) -> Tensor:
    """Give `input` the geometry of ``turn(input, *args)`` and return it; its node is called `label`."""
    check_inference(input)
    if state.grad and input.requires_grad:
        check_target(input)
    node, nr = input._node(), input._nr
    before = carry(input, detached(input))
    before._fn, before._nr = node, nr
    view = turn(before, *args)
    if view._fn is None:
        remember_shape(input)
    input._shape, input.strides, input.offset, input.array = view.shape, view.strides, view.offset, view.array
    input._vc.n += 1
    if view._fn is not None or not input.requires_grad:
        input._view_version = input._vc.n
    if view._fn is not None:
        view._fn._label = label
        input._fn, input._nr = view._fn, 0
    input._tangents = view._tangents
    return input


def _squeeze(input: Tensor, dim: Any) -> Tensor:
    if dim is None:
        return _turned(input, "SqueezeBackward3", squeeze_all)
    if isinstance(dim, int):
        return _turned(input, "SqueezeBackward4", squeeze_dim, dim)
    return _turned(input, "SqueezeBackward5", squeeze_dims, dim)


def _t(input: Tensor) -> Tensor:
    if input.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return _turned(input, "TBackward1", t)


unsqueeze_ = composite(
    "unsqueeze_(Tensor(a!) input, int dim) -> Tensor(a!)",
    body=lambda input, dim: _turned(input, "UnsqueezeBackward1", unsqueeze, dim),
    traced=False,
    method=True,
    namespace="-",
    doc="A dimension of size 1 inserted, in place (torch.Tensor.unsqueeze_).",
)

squeeze_ = composite(
    "squeeze_(Tensor(a!) input, int[]? dim=None) -> Tensor(a!)",
    body=_squeeze,
    traced=False,
    method=True,
    namespace="-",
    doc="Dimensions of size 1 removed, in place (torch.Tensor.squeeze_).",
)

t_ = composite(
    "t_(Tensor(a!) input) -> Tensor(a!)",
    body=_t,
    traced=False,
    method=True,
    namespace="-",
    doc="The matrix transposed, in place (torch.Tensor.t_).",
)

transpose_ = composite(
    "transpose_(Tensor(a!) input, int dim0, int dim1) -> Tensor(a!)",
    body=lambda input, dim0, dim1: _turned(input, "TransposeBackward1", transpose, dim0, dim1),
    traced=False,
    method=True,
    namespace="-",
    doc="Two dimensions swapped, in place (torch.Tensor.transpose_).",
)

as_strided_ = composite(
    "as_strided_(Tensor(a!) input, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a!)",
    body=lambda input, size, stride, storage_offset: _turned(
        input, "AsStridedBackward1", as_strided, size, stride, storage_offset
    ),
    traced=False,
    method=True,
    doc="Other strides over the same memory, in place (torch.Tensor.as_strided_).",
)


def _swapaxes_(self: Tensor, axis0: int, axis1: int) -> Any:
    """Two dimensions swapped, in place (torch.Tensor.swapaxes_)."""
    return transpose_(self, axis0, axis1)


def _swapdims_(self: Tensor, dim0: int, dim1: int) -> Any:
    """Two dimensions swapped, in place (torch.Tensor.swapdims_)."""
    return transpose_(self, dim0, dim1)


attach("swapaxes_", _swapaxes_)
attach("swapdims_", _swapdims_)
