"""The three Fourier transforms that all of torch.fft is written in: complex to complex, real to complex, and
complex to real.

`normalization` is 0 for none, 1 for the root of the number of points, 2 for their number; `forward` is the
sign of the exponent. Source: https://pytorch.org/docs/stable/fft.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel, wrap_dim
from ...declare import LINEAR, kernel
from ...schema import named
from ..elementwise import real
from ..shape import to_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op
    from ...tensor import Tensor

NONE, BY_ROOT, BY_COUNT = range(3)
#: what NumPy calls them, forward and backward
_NORMS = {True: ("backward", "ortho", "forward"), False: ("forward", "ortho", "backward")}


def wrapped(dim: int | Sequence[int], ndim: int) -> list[int]:
    """Dimensions counted from the first; IndexError where there is no such dimension."""
    dim = [dim] if isinstance(dim, int) else dim
    if dim and not ndim:
        raise IndexError(f"Dimension specified as {dim[0]} but tensor has no dimensions")
    return [wrap_dim(d, ndim) for d in dim]


def _dims(input: Any, dim: Sequence[int], normalization: int, at_least: int = 0) -> tuple[int, ...]:
    """The dimensions, counted from the first; RuntimeError for what no transform can take."""
    found = tuple(wrapped(dim, input.ndim))
    if len(set(found)) != len(found):
        raise RuntimeError("FFT dims must be unique")
    if len(found) < at_least:
        raise RuntimeError("a Fourier transform needs at least one dimension")
    if not 0 <= normalization <= BY_COUNT:
        raise RuntimeError(f"Invalid normalization mode: {normalization}")
    for d in found:
        if input.shape[d] < 1:
            raise RuntimeError(f"Invalid number of data points ({input.shape[d]}) specified")
    return found


def _laid_out(shape: Sequence[int], dtype: Any, input: Any, dims: Sequence[int], sort: Sequence[int]) -> Meta:
    """The result as PyTorch lays it out on a CPU: the dimensions of the batch keep their order in memory, and
    the transformed ones, those among `sort` by their strides, lie inside of them.
    """
    batch = sorted((d for d in range(input.ndim) if d not in dims), key=lambda d: -input.strides[d])
    inner = sorted(sort, key=lambda d: -input.strides[d]) + [d for d in dims if d not in sort]
    strides, step = [0] * input.ndim, 1
    for d in reversed([*batch, *inner]):
        strides[d] = step
        step *= max(shape[d], 1)
    return Meta(tuple(shape), dtype, tuple(strides))


def _complex_of(input: Tensor) -> None:
    if not input.dtype.is_complex:
        raise RuntimeError(f"Only supports complex dtypes, but found: {input.dtype.title}")


def _cost(input: Any, dim: Sequence[int], count: int) -> tuple[int, int]:
    """A few operations a point and doubling, and two arrays beside the result."""
    sizes = [input.shape[d] for d in wrapped(dim, input.ndim)]
    work = 16 * count * (1 + sum(max(n, 1).bit_length() for n in sizes))
    return work, 2 * count * dtypes.to_complex(input.dtype).itemsize


def _c2c_infer(input: Tensor, dim: Any, normalization: int, forward: bool) -> Meta:
    _complex_of(input)
    dims = _dims(input, dim, normalization)
    if not dims:
        return Meta(tuple(input.shape), input.dtype)
    return _laid_out(input.shape, input.dtype, input, dims, dims)


def _c2c(xp: Any, a: Any, dim: Any, normalization: int, forward: bool) -> Any:
    if not dim:
        return a.copy()
    run = xp.fft.fftn if forward else xp.fft.ifftn
    return run(a, axes=tuple(dim), norm=_NORMS[forward][normalization])


fft_c2c: Op = kernel(
    "fft_c2c(Tensor input, int[] dim, int normalization, bool forward) -> Tensor",
    infer=_c2c_infer,
    impl=_c2c,
    cost=lambda input, dim, normalization, forward: _cost(input, dim, numel(input.shape)),
    vjp=lambda g, dim, normalization, forward: fft_c2c(g, dim, normalization, not forward),
    jvp=LINEAR,
    node="FftC2CBackward0",
    namespace="-",
    outside=True,
    raises=False,
    doc="The discrete Fourier transform of complex numbers over dimensions.",
)


def _r2c_infer(input: Tensor, dim: Any, normalization: int, onesided: bool) -> Meta:
    if not input.dtype.is_floating_point:
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {input.dtype.title}")
    if input.dtype.is_half:
        raise RuntimeError(f"Unsupported dtype {input.dtype.title}")
    dims = _dims(input, dim, normalization, 1)
    shape = list(input.shape)
    if onesided:
        shape[dims[-1]] = shape[dims[-1]] // 2 + 1
    return _laid_out(shape, dtypes.to_complex(input.dtype), input, dims, dims[:-1])


def _r2c(xp: Any, a: Any, dim: Any, normalization: int, onesided: bool) -> Any:
    run = xp.fft.rfftn if onesided else xp.fft.fftn
    return run(a, axes=tuple(dim), norm=_NORMS[True][normalization])


def _r2c_vjp(g: Any, input: Any, dim: Any, normalization: int, onesided: bool) -> Any:
    """PyTorch's keeps the input, too, of which it needs the shape alone."""
    if onesided:
        last = wrap_dim(dim[-1], g.ndim)
        missing = input.shape[last] - g.shape[last]
        g = named.constant_pad_nd(g, [0, 0] * (g.ndim - 1 - last) + [0, missing])
    return real(fft_c2c(g, dim, normalization, False))


fft_r2c: Op = kernel(
    "fft_r2c(Tensor input, int[] dim, int normalization, bool onesided) -> Tensor",
    infer=_r2c_infer,
    impl=_r2c,
    cost=lambda input, dim, normalization, onesided: _cost(input, dim, numel(input.shape)),
    vjp=_r2c_vjp,
    jvp=LINEAR,
    node="FftR2CBackward0",
    namespace="-",
    outside=True,
    raises=False,
    doc="The discrete Fourier transform of real numbers; with `onesided` only the first half of the last "
    "dimension, of which the rest is the conjugate.",
)


def _c2r_infer(input: Tensor, dim: Any, normalization: int, last_dim_size: int) -> Meta:
    _complex_of(input)
    dims = _dims(input, dim, normalization, 1)
    last, shape = dims[-1], list(input.shape)
    if last_dim_size < 1:
        raise RuntimeError(f"Invalid number of data points ({last_dim_size}) specified")
    if shape[last] != last_dim_size // 2 + 1:
        raise RuntimeError(
            f"Expected {last_dim_size // 2 + 1} points for a real transform of {last_dim_size}, but got "
            f"{shape[last]}"
        )
    shape[last] = last_dim_size
    steps: Any = input if len(dims) == 1 else _laid_out(input.shape, input.dtype, input, dims[:-1], dims[:-1])
    return _laid_out(shape, dtypes.to_real(input.dtype), steps, [last], ())


def _c2r(xp: Any, a: Any, dim: Any, normalization: int, last_dim_size: int) -> Any:
    norm = _NORMS[False][normalization]
    if len(dim) > 1:
        a = xp.fft.ifftn(a, axes=tuple(dim[:-1]), norm=norm)
    return xp.fft.irfft(a, last_dim_size, dim[-1], norm)


def _c2r_vjp(g: Any, input_meta: Any, dim: Any, normalization: int) -> Any:
    """What is left out of the input stands for its conjugate: the inner points count twice."""
    last = wrap_dim(dim[-1], g.ndim)
    found = fft_r2c(g, dim, normalization, True)
    have, twice = found.shape[last], g.shape[last] - found.shape[last]
    if twice <= 0:
        return found
    parts = [
        named.narrow(found, last, 0, 1),
        named.narrow(found, last, 1, twice) * 2,
        named.narrow(found, last, 1 + twice, have - 1 - twice),
    ]
    return named.cat(parts, last)


fft_c2r: Op = kernel(
    "fft_c2r(Tensor input, int[] dim, int normalization, int last_dim_size) -> Tensor",
    infer=_c2r_infer,
    impl=_c2r,
    cost=lambda input, dim, normalization, last_dim_size: _cost(
        input, dim, numel(input.shape) + 2 * (numel(input.shape) // max(input.shape[dim[-1]], 1))
    ),
    vjp=_c2r_vjp,
    jvp=LINEAR,
    node="FftC2RBackward0",
    namespace="-",
    outside=True,
    raises=False,
    doc="The inverse transform of a half of a spectrum to `last_dim_size` real numbers.",
)


def promoted(input: Tensor, complex: bool = False) -> Any:
    """`input` in a dtype that transforms take: integers as the default float type, with `complex` complex."""
    dtype = dtypes.default_dtype() if input.dtype.category < dtypes.FLOAT else input.dtype
    if dtype.is_half:
        raise RuntimeError(f"Unsupported dtype {dtype.title}")
    if complex:
        dtype = dtypes.to_complex(dtype)
    return input if dtype is input.dtype else to_dtype(input, dtype)


def mode(norm: str | None, forward: bool) -> int:
    """The normalization that a name stands for in that direction."""
    if norm is None or norm == "backward":
        return NONE if forward else BY_COUNT
    if norm == "forward":
        return BY_COUNT if forward else NONE
    if norm == "ortho":
        return BY_ROOT
    raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def resized(input: Any, dims: Sequence[int], sizes: Sequence[int]) -> Any:
    """`input` with that many points along each dimension: cut at the end, or continued with zeros."""
    pad = [0, 0] * input.ndim
    for d, n in zip(dims, sizes, strict=True):
        have = input.shape[d]
        if n < have:
            input = named.narrow(input, d, 0, n)
        elif n > have:
            pad[2 * (input.ndim - 1 - d) + 1] = n - have
    return named.constant_pad_nd(input, pad) if any(pad) else input
