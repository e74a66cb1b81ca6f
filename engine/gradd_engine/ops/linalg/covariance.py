"""Covariance and correlation matrices; each row is a variable.

Source: https://pytorch.org/docs/stable/generated/torch.cov.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import dtypes, holds, warn
from ...declare import kernel, public
from ...schema import named
from ..elementwise import clamp
from ..reduce import mean
from ..shape import to_dtype
from ..shared import same
from .matmul import mm

if TYPE_CHECKING:
    from ...tensor import Tensor


def _weights(name: str, given: Any, count: int, category: int) -> None:
    kind = "integral" if category == dtypes.INT else "floating point"
    if given.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{given.ndim} dimensions"
        )
    if given.dtype.category != category:
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with {given.dtype.title} dtype"
        )
    if given.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{given.numel()} != {count}"
        )


def _not_negative(xp: Any, weights: Any, name: str) -> Any:
    holds(weights < 0, RuntimeError, f"cov(): {name} cannot be negative", "cov")
    return xp.array(weights)


checked_weights = kernel(
    "checked_weights(Tensor weights, *, str name) -> Tensor",
    infer=same,
    impl=_not_negative,
    vjp=lambda g: g,
    # a tangent may be negative
    jvp=lambda weights_t: weights_t,
    namespace="-",
    outside=True,
    doc="The weights of `cov`; RuntimeError if one is negative.",
)


@public(method=True)
def cov(input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariance matrix of variables, one per row (torch.cov)."""
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} "
            "dimensions"
        )
    if input.dtype is dtypes.bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = named.reshape(input, [1, -1]) if input.ndim < 2 else input
    count = x.shape[1]
    weights = None
    for name, given, category in (("fweights", fweights, dtypes.INT), ("aweights", aweights, dtypes.FLOAT)):
        if given is not None:
            _weights(name, given, count, category)
            given = checked_weights(given, name=name)
            weights = given if weights is None else weights * given
    free: Any = count - correction
    if weights is None:
        average = mean(to_dtype(x, dtypes.default_dtype()) if x.dtype.category == dtypes.INT else x, 1)
        if free <= 0:
            _too_few()
            free = 0
        x = x - named.unsqueeze(average, 1)
        other = x
    else:
        total = named.sum(weights)
        average = named.sum(x * weights, 1) / total
        held = correction if aweights is None else correction * named.sum(weights * aweights) / total
        free = clamp(total - held, 0)
        x = x - named.unsqueeze(average, 1)
        other = x * weights
    found = mm(x, named.t(other).conj()) / free
    return named.squeeze(found)


def _too_few() -> None:
    warn(
        "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
        "observations."
    )


@public(method=True)
def corrcoef(input: Tensor) -> Any:
    """The correlation coefficients of variables, one per row (torch.corrcoef)."""
    if input.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.ndim} "
            "dimensions"
        )
    found = cov(input)
    if not found.ndim:
        return found / found
    spread = named.diag(found)
    spread = (spread.real if found.dtype.is_complex else spread).sqrt()
    found = found / named.reshape(spread, [-1, 1]) / named.reshape(spread, [1, -1])
    if found.dtype.is_complex:
        return named.complex(clamp(found.real, -1, 1), clamp(found.imag, -1, 1))
    return clamp(found, -1, 1)
