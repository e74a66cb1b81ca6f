"""``out=``: an op's result stored in a tensor that is there already.

Source: https://pytorch.org/docs/stable/generated/torch.add.html and its neighbours.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ..data import ambient, can_cast, state
from ..graph import LEVELS, check_memory, check_overlap, levels_of
from ..schema import named
from ..tensor import Tensor
from .arguments import flat_tensors
from .dispatch import dispatch

if TYPE_CHECKING:
    from ..schema import Op


def store(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], out: Any) -> Tensor:
    """Run `op` and store its result in `out`, which is resized where it has another shape.

    RuntimeError where a gradient would be needed of it, where its elements share memory, or where its dtype
    cannot take the result; NotImplementedError where there is a tangent.
    """
    if not isinstance(out, Tensor):
        raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if state.grad and any(t.requires_grad for t in flat_tensors((*inputs, out))):
        raise RuntimeError(
            f"{op.name}(): functions with out=... arguments don't support automatic differentiation, but one "
            "of the arguments requires grad."
        )
    if LEVELS and levels_of((*inputs, out)):
        raise NotImplementedError(
            f"Trying to use forward AD with {op.name}_out that does not support it because it is an out= "
            "function"
        )
    check_memory(out)
    check_overlap(op, out, inputs)
    with ambient(grad=False):
        found = dispatch(op, inputs, attrs)
        if not can_cast(found.dtype, out.dtype):
            raise RuntimeError(
                f"result type {found.dtype.title} can't be cast to the desired output type {out.dtype.title}"
            )
        if out.shape != found.shape:
            if out.numel():
                warnings.warn(
                    "An output with one or more elements was resized since it had shape "
                    f"{list(out.shape)}, which does not match the required output shape "
                    f"{list(found.shape)}. This behavior is deprecated, and in a future PyTorch release "
                    "outputs will not be resized unless they have zero elements. You can explicitly reuse "
                    "an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
                    UserWarning,
                    stacklevel=3,
                )
            named.resize_(out, list(found.shape))
        named.copy_(out, found)
    return out
