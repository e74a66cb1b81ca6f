"""``out=``: a result stored in a tensor that is there already, or several in as many.

Source: https://pytorch.org/docs/stable/generated/torch.add.html and its neighbours.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..data import ambient, can_cast, state, warn
from ..graph import LEVELS, check_memory, check_overlap, levels_of
from ..schema import named, type_name
from ..tensor import Tensor
from .arguments import flat_tensors
from .dispatch import dispatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..schema import Op


def store(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], out: Any) -> Any:
    """Run `op` and store its result in `out`, which is resized where it has another shape; of an op with
    several results, in a tuple of as many.

    RuntimeError where a gradient would be needed of it, where its elements share memory, or where its dtype
    cannot take the result; NotImplementedError where there is a tangent.
    """
    given = _given(op.name, out, 2 if op.many else 1)
    _check(op.name, inputs, given)
    for t in given:
        check_overlap(op, t, inputs)
    with ambient(grad=False):
        return _put(dispatch(op, inputs, attrs), out)


def storing(fn: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`fn` with the keyword ``out``, as `store` has it."""

    @functools.wraps(fn)
    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None:
            return fn(*args, **kwargs)
        _check(name, (*args, *kwargs.values()), _given(name, out, 1 if isinstance(out, Tensor) else 2))
        with ambient(grad=False):
            found = fn(*args, **kwargs)
            _given(name, out, 1 if isinstance(found, Tensor) else len(found))
            return _put(found, out)

    return call


def _given(name: str, out: Any, count: int) -> tuple[Tensor, ...]:
    """`out` as a tuple; TypeError unless it is a tensor, or a sequence of tensors for several results."""
    if count == 1:
        if not isinstance(out, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type_name(out)}")
        return (out,)
    if not isinstance(out, (tuple, list)) or not all(isinstance(t, Tensor) for t in out):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type_name(out)}")
    return tuple(out)


def _check(name: str, inputs: Any, given: tuple[Tensor, ...]) -> None:
    if state.grad and any(t.requires_grad for t in flat_tensors((*inputs, *given))):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one "
            "of the arguments requires grad."
        )
    if LEVELS and levels_of((*inputs, *given)):
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an out= "
            "function"
        )
    for t in given:
        check_memory(t)


def _put(found: Any, out: Any) -> Any:
    """Store one result, or each of several; gives `out`."""
    if not isinstance(found, Tensor):
        if len(found) != len(out):
            raise TypeError(f"expected tuple of {len(found)} elements but got {len(out)}")
        for one, target in zip(found, out, strict=True):
            _put(one, target)
        # a named tuple has its fields one by one
        return type(found)(*out) if hasattr(found, "_fields") else tuple(out)
    if not can_cast(found.dtype, out.dtype):
        raise RuntimeError(
            f"result type {found.dtype.title} can't be cast to the desired output type {out.dtype.title}"
        )
    if out.shape != found.shape:
        if out.numel():
            warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out.shape)}, which does not match the required output shape "
                f"{list(found.shape)}. This behavior is deprecated, and in a future PyTorch release "
                "outputs will not be resized unless they have zero elements. You can explicitly reuse "
                "an out tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
            )
        named.resize_(out, list(found.shape))
    named.copy_(out, found)
    return out
