"""Comparisons of whole tensors: isclose, allclose, equal."""

from __future__ import annotations

from typing import Any

from ...data import Meta, dtypes
from ...declare import elementwise, public
from ...schema import Op, type_name
from ...tensor import Tensor
from ..shared import pointwise_meta
from .extrema import all as all_of


def _infer(input: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Meta:
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.title} did not match {other.dtype.title}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {float(value):g}")
    return pointwise_meta([input, other], dtypes.bool_, input.dtype)


def _isclose(xp: Any, a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    close = a == b
    if equal_nan and a.dtype.kind in "fc":
        close = close | ((a != a) & (b != b))
    allowed = atol + xp.abs(rtol * b)
    distance = xp.abs(a - b) if a.dtype.kind != "b" else a != b
    return close | (xp.isfinite(distance) & (distance <= allowed))


isclose: Op = elementwise(
    "isclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    infer=_infer,
    impl=_isclose,
    method=True,
    doc="Whether |input - other| <= atol + rtol * |other| (torch.isclose).",
    raises=False,
)


def _truth(t: Any, within_vmap: str) -> bool:
    """The value of a one-element bool tensor, read at once; RuntimeError with the message `within_vmap` if it
    differs by sample.
    """
    if t.backend.level and t.mapped:
        raise RuntimeError(within_vmap)
    return bool(t.item() if hasattr(t, "item") else t.array)


@public(method=True)
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """See torch.allclose: a Python bool."""
    return _truth(
        all_of(isclose(input, other, rtol, atol, equal_nan)),
        "vmap over torch.allclose isn't supported yet. Please file an issue at "
        "https://github.com/pytorch/pytorch/issues if you need this feature.",
    )


@public(method=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """See torch.equal: whether shape and elements are the same, as a Python bool."""
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 2) must be Tensor, not {type_name(other)}")
    if input.shape != other.shape:
        return False
    return _truth(
        all_of(input == other),
        "Batching rule not implemented for aten::equal. We could not generate a fallback.",
    )
