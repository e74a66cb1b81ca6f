"""t_, transpose_, unsqueeze_, squeeze_ and their kin: a tensor that becomes a view of its own elements.

The memory stays as it is; shape and strides change, the version counts on, and the node is the view's
(https://pytorch.org/docs/stable/generated/torch.Tensor.transpose_.html).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..inplace import check_inference, check_target
from ..op import op
from ..state import state
from .reshape import squeeze_all, squeeze_dim, squeeze_dims, unsqueeze
from .views import t, transpose

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..op import Op
    from ..tensor import Tensor


def _become(input: Tensor, view: Op, node: str, *args: Any) -> Tensor:
    check_inference(input)
    if state.grad and input.requires_grad:
        check_target(input)
    seen = view(input, *args)
    fn = seen._fn
    if fn is not None:
        fn._label = node
        # What retain_grad() asked for is still the gradient of the value as it was, in its shape.
        input._fn, input._nr = fn, seen._nr
    input.array, input.shape, input.strides = seen.array, seen.shape, seen.strides
    input._vc.n += 1
    if input._base is not None:
        input._view_version = input._vc.n
    return input


def _squeeze(input: Tensor, dim: Any) -> Tensor:
    if dim is None:
        return _become(input, squeeze_all, "SqueezeBackward3")
    if isinstance(dim, int):
        return _become(input, squeeze_dim, "SqueezeBackward4", dim)
    return _become(input, squeeze_dims, "SqueezeBackward5", dim)


def _turn(input: Tensor) -> Tensor:
    if input.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return _become(input, t, "TBackward1")


def _declare(signature: str, composite: Callable[..., Tensor]) -> None:
    name = signature.partition("(")[0]
    op(
        signature,
        composite=composite,
        writes="input",
        traced=False,
        namespace="-",
        method=True,
        doc=f"The tensor itself becomes what `{name[:-1]}` makes of it (torch.Tensor.{name}).",
    )


def _swap(input: Tensor, dim0: int, dim1: int) -> Tensor:
    return _become(input, transpose, "TransposeBackward1", dim0, dim1)


_declare("t_(Tensor input)", _turn)
_declare("transpose_(Tensor input, int dim0, int dim1)", _swap)
_declare(
    "swapaxes_(Tensor input, int axis0, int axis1)", lambda input, axis0, axis1: _swap(input, axis0, axis1)
)
_declare("swapdims_(Tensor input, int dim0, int dim1)", _swap)
_declare(
    "unsqueeze_(Tensor input, int dim)",
    lambda input, dim: _become(input, unsqueeze, "UnsqueezeBackward1", dim),
)
_declare("squeeze_(Tensor input, int[]? dim=None)", _squeeze)
