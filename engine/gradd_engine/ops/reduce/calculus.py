"""Numerical differences, gradients and integrals: diff, gradient, trapezoid, cumulative_trapezoid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import dtypes, wrap_dim
from ...declare import public
from ...tensor import Tensor
from ..elementwise import logical_xor
from ..index import cat, narrow
from ..shape import reshape
from ..shared import zeros
from .scans import cumsum

if TYPE_CHECKING:
    from collections.abc import Sequence


def _step(x: Tensor, dim: int) -> Any:
    n = x.shape[dim]
    later, sooner = narrow(x, dim, min(n, 1), max(n - 1, 0)), narrow(x, dim, 0, max(n - 1, 0))
    return logical_xor(later, sooner) if x.dtype is dtypes.bool_ else later - sooner


@public(method=True, out=True)
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """See torch.diff: differences of neighbours along `dim`, taken `n` times."""
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    d = wrap_dim(dim, input.ndim)
    if not n:
        return input.clone()  # type: ignore[attr-defined]
    for more in (prepend, append):
        if more is not None and more.ndim != input.ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    parts = [t for t in (prepend, input, append) if t is not None]
    found = cat(parts, d) if len(parts) > 1 else input
    for _ in range(min(n, found.shape[d])):
        found = _step(found, d)
    return found


def _spaced(x: Any, dim: int, ndim: int) -> Any:
    return reshape(x, [-1 if i == dim else 1 for i in range(ndim)])


def _along(input: Tensor, dim: int, spacing: Any, edge_order: int) -> Any:
    """The gradient along one dimension: central differences inside, one-sided at the ends."""
    n = input.shape[dim]

    def at(i: int, count: int = 1) -> Any:
        return narrow(input, dim, i, count)

    if not isinstance(spacing, Tensor):
        inside = (at(2, n - 2) - at(0, n - 2)) / 2.0 / spacing
        if edge_order == 1:
            first, last = (at(1) - at(0)) / spacing, (at(n - 1) - at(n - 2)) / spacing
        else:
            first = (at(0) * -1.5 + at(1) * 2.0 - at(2) * 0.5) / spacing
            last = (at(n - 1) * 1.5 - at(n - 2) * 2.0 + at(n - 3) * 0.5) / spacing
        return cat([first, inside, last], dim)
    gaps = _spaced(_step(spacing, 0), dim, input.ndim)
    before, after = narrow(gaps, dim, 0, n - 2), narrow(gaps, dim, 1, n - 2)
    both = before + after
    a, b, c = -after / (before * both), (after - before) / (before * after), before / (after * both)
    inside = a * at(0, n - 2) + b * at(1, n - 2) + c * at(2, n - 2)

    def gap(i: int) -> Any:
        return narrow(gaps, dim, i, 1)

    if edge_order == 1:
        first, last = (at(1) - at(0)) / gap(0), (at(n - 1) - at(n - 2)) / gap(n - 2)
    else:
        one, two = gap(0), gap(1)
        first = (
            -(2 * one + two) / (one * (one + two)) * at(0)
            + (one + two) / (one * two) * at(1)
            - one / (two * (one + two)) * at(2)
        )
        one, two = gap(n - 3), gap(n - 2)
        last = (
            two / (one * (one + two)) * at(n - 3)
            - (one + two) / (one * two) * at(n - 2)
            + (one + 2 * two) / (two * (one + two)) * at(n - 1)
        )
    return cat([first, inside, last], dim)


def _spacings(input: Tensor, spacing: Any, dims: list[int], given: bool) -> list[Any]:
    if not isinstance(spacing, (list, tuple)):
        return [1 if spacing is None else spacing] * len(dims)
    if len(spacing) != len(dims):
        where = (
            f"'self.dim() = {input.ndim}', since dim argument was not given"
            if not given
            else "the list of dims"
        )
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
            f"{where}, but got a list of length {len(spacing)}"
        )
    return list(spacing)


@public()
def gradient(
    input: Tensor, *, spacing: Any = 1, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> tuple[Any, ...]:
    """See torch.gradient: estimated gradients along each dimension, or along `dim`."""
    if dim is None:
        dims = list(range(input.ndim))
    else:
        dims = [wrap_dim(d, input.ndim) for d in ([dim] if isinstance(dim, int) else dim)]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    spacings = _spacings(input, spacing, dims, dim is not None)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if any(input.shape[d] < edge_order + 1 for d in dims):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple(_along(input, d, s, edge_order) for d, s in zip(dims, spacings, strict=True))


def _pairs(y: Tensor, x: Any, dx: Any, dim: int, name: str) -> Any:
    """The sums of neighbours, and the gaps between them."""
    for letter, t in (("y", y), ("x", x)):
        if isinstance(t, Tensor) and t.dtype is dtypes.bool_:
            raise RuntimeError(f"{name}: received a bool input for `{letter}`, but bool is not supported")
    if x is not None and dx is not None:
        raise TypeError(f"{name}() received an invalid combination of arguments: one of x and dx")
    n = y.shape[dim]
    sums = narrow(y, dim, 0, n - 1) + narrow(y, dim, 1, n - 1)
    if x is None:
        return sums, 1 if dx is None else dx
    if x.ndim == 1:
        if x.shape[0] != n:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        return sums, _spaced(_step(x, 0), dim, y.ndim)
    return sums, _step(x, wrap_dim(dim - y.ndim, x.ndim))


@public(name="trapezoid")
def trapezoid(y: Tensor, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """See torch.trapezoid: the integral by the trapezoidal rule."""
    d = wrap_dim(dim, y.ndim) if y.ndim else _no_dimension(dim)
    if not y.shape[d]:
        shape = [s for i, s in enumerate(y.shape) if i != d]
        return zeros(shape, dtype=y.dtype)
    sums, gaps = _pairs(y, x, dx, d, "trapezoid")
    return (sums * gaps).sum(d) / 2.0


@public()
def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """See torch.cumulative_trapezoid: the integral up to each sample after the first."""
    d = wrap_dim(dim, y.ndim) if y.ndim else _no_dimension(dim)
    sums, gaps = _pairs(y, x, dx, d, "cumulative_trapezoid")
    return cumsum(sums * gaps, d) / 2.0 if x is not None else cumsum(sums * (gaps / 2.0), d)


def _no_dimension(dim: int) -> int:
    raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")


public(name="trapz")(trapezoid)
