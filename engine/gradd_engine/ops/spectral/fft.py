"""torch.fft: Fourier transforms of one dimension, two and any number, and what goes with them.

https://pytorch.org/docs/stable/fft.html
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...data import dtypes
from ...declare import composite, public
from ...schema import named
from ...tensor import Tensor
from ..create import made
from .fourier import fft_c2c, fft_c2r, fft_r2c, mode, promoted, resized, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...data import DType

# -- one dimension -----------------------------------------------------------------------------------


def _points(n: int) -> int:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return n


def _cut(x: Any, n: int | None, dim: int) -> Any:
    _points(x.shape[dim] if n is None else n)
    return x if n is None else resized(x, [dim], [n])


def _c2c(input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    if not input.dtype.is_complex:
        return _r2c("", input, n, dim, norm, forward, False)
    d = wrapped(dim, input.ndim)[0]
    return fft_c2c(_cut(input, n, d), [d], mode(norm, forward), forward)


def _r2c(
    name: str, input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool, onesided: bool = True
) -> Any:
    if input.dtype.is_complex:
        raise RuntimeError(f"{name} expects a real input tensor, but got {input.dtype.title}")
    x = promoted(input)
    d = wrapped(dim, x.ndim)[0]
    found = fft_r2c(_cut(x, n, d), [d], mode(norm, forward), onesided)
    return found if forward else named.conj(found)


def _c2r(input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    x = promoted(input, complex=True)
    d = wrapped(dim, x.ndim)[0]
    count = _points(2 * (x.shape[d] - 1) if n is None else n)
    x = x if n is None else resized(x, [d], [n // 2 + 1])
    return fft_c2r(named.conj(x) if forward else x, [d], mode(norm, forward), count)


def _one(name: str, body: Callable[..., Any], doc: str) -> None:
    composite(
        f"fft_{name}(Tensor input, int? n=None, int dim=-1, str? norm=None) -> Tensor",
        body=body,
        inline=True,
        out=True,
        namespace="fft",
        doc=f"{doc} (torch.fft.{name}).",
        autocast={"cpu": "float32"},
    )


_one("fft", lambda input, n, dim, norm: _c2c(input, n, dim, norm, True), "The discrete Fourier transform")
_one("ifft", lambda input, n, dim, norm: _c2c(input, n, dim, norm, False), "The inverse of `fft`")
_one(
    "rfft",
    lambda input, n, dim, norm: _r2c("rfft", input, n, dim, norm, True),
    "The Fourier transform of real numbers: the half that says all",
)
_one("irfft", lambda input, n, dim, norm: _c2r(input, n, dim, norm, False), "The inverse of `rfft`")
_one(
    "hfft",
    lambda input, n, dim, norm: _c2r(input, n, dim, norm, True),
    "The Fourier transform of a Hermitian signal, of which half is given",
)
_one(
    "ihfft",
    lambda input, n, dim, norm: _r2c("ihfft", input, n, dim, norm, False),
    "The inverse of `hfft`",
)

# -- several -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Over:
    """The dimensions of a transform, and how many points of each there are to be."""

    dims: list[int]
    sizes: list[int]


def _over(input: Tensor, s: Any, dim: Any) -> _Over:
    dims = None if dim is None else wrapped(dim, input.ndim)
    if dims is not None and len(set(dims)) != len(dims):
        raise RuntimeError("FFT dims must be unique")
    if s is not None:
        s = [s] if isinstance(s, int) else s
        if dims is not None and len(dims) != len(s):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(s) > input.ndim:
            raise RuntimeError(
                f"Got shape with {len(s)} values but input tensor only has {input.ndim} dimensions."
            )
        if dims is None:
            dims = list(range(input.ndim - len(s), input.ndim))
        sizes = [input.shape[d] if n == -1 else n for n, d in zip(s, dims, strict=True)]
    else:
        dims = list(range(input.ndim)) if dims is None else dims
        sizes = [input.shape[d] for d in dims]
    return _Over(dims, [_points(n) for n in sizes])


def _over_half(name: str, input: Tensor, s: Any, dim: Any) -> tuple[_Over, int]:
    """Where a half of a spectrum is given: of the last dimension as many points as it has, and as many as the
    result has.
    """
    over = _some(name, _over(input, s, dim))
    given = -1 if s is None else s if isinstance(s, int) else s[-1]
    last = 2 * (over.sizes[-1] - 1) if given == -1 else given
    return _Over(over.dims, [*over.sizes[:-1], _points(last) // 2 + 1]), last


def _some(name: str, over: _Over) -> _Over:
    if not over.dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    return over


def _fftn(input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    over = _over(input, s, dim)
    x = promoted(input, complex=True)
    return fft_c2c(resized(x, over.dims, over.sizes), over.dims, mode(norm, forward), forward)


def _rfftn(name: str, input: Tensor, s: Any, dim: Any, norm: str | None) -> Any:
    if input.dtype.is_complex:
        raise RuntimeError(f"{name} expects a real-valued input tensor, but got {input.dtype.title}")
    over = _some(name, _over(input, s, dim))
    x = promoted(input)
    return fft_r2c(resized(x, over.dims, over.sizes), over.dims, mode(norm, True), True)


def _irfftn(name: str, input: Tensor, s: Any, dim: Any, norm: str | None) -> Any:
    over, last = _over_half(name, input, s, dim)
    x = promoted(input, complex=True)
    return fft_c2r(resized(x, over.dims, over.sizes), over.dims, mode(norm, False), last)


def _hfftn(name: str, input: Tensor, s: Any, dim: Any, norm: str | None) -> Any:
    over, last = _over_half(name, input, s, dim)
    how = mode(norm, True)
    x = resized(promoted(input, complex=True), over.dims, over.sizes)
    if len(over.dims) > 1:
        x = fft_c2c(x, over.dims[:-1], how, True)
    return fft_c2r(named.conj(x), over.dims[-1:], how, last)


def _ihfftn(name: str, input: Tensor, s: Any, dim: Any, norm: str | None) -> Any:
    over = _some(name, _over(input, s, dim))
    if input.dtype.is_complex:
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {input.dtype.title}")
    how = mode(norm, False)
    x = fft_r2c(resized(promoted(input), over.dims, over.sizes), over.dims[-1:], how, True)
    if len(over.dims) == 1:
        return named.conj(x)
    return fft_c2c(named.conj_physical(x), over.dims[:-1], how, False)


def _several(name: str, body: Callable[..., Any], doc: str) -> None:
    for suffix, default, count in (("n", "? dim=None", ""), ("2", " dim=[-2, -1]", " over two dimensions")):
        composite(
            f"fft_{name}{suffix}(Tensor input, int[]? s=None, int[]{default}, str? norm=None) -> Tensor",
            body=lambda input, s, dim, norm, called=f"{name}{suffix}": body(called, input, s, dim, norm),
            inline=True,
            out=True,
            namespace="fft",
            doc=f"{doc}{count or ', over all dimensions or those given'} (torch.fft.{name}{suffix}).",
            autocast={"cpu": "float32"},
        )


_several(
    "fft",
    lambda name, input, s, dim, norm: _fftn(input, s, dim, norm, True),
    "The discrete Fourier transform",
)
_several(
    "ifft",
    lambda name, input, s, dim, norm: _fftn(input, s, dim, norm, False),
    "The inverse Fourier transform",
)
_several("rfft", _rfftn, "The Fourier transform of real numbers")
_several("irfft", _irfftn, "The inverse of the Fourier transform of real numbers")
_several("hfft", _hfftn, "The Fourier transform of a Hermitian signal, of which half is given")
_several("ihfft", _ihfftn, "The inverse Fourier transform of real numbers: the half that says all")

# -- order and frequencies ---------------------------------------------------------------------------


def _shift(input: Tensor, dim: Any, shifts: Callable[[int], int]) -> Any:
    dims = list(range(input.ndim)) if dim is None else wrapped(dim, input.ndim)
    return named.roll(input, [shifts(input.shape[d]) for d in dims], dims)


composite(
    "fft_fftshift(Tensor input, int[]? dim=None) -> Tensor",
    body=lambda input, dim: _shift(input, dim, lambda n: n // 2),
    inline=True,
    namespace="fft",
    doc="A spectrum with the zero frequency in the middle (torch.fft.fftshift).",
)
composite(
    "fft_ifftshift(Tensor input, int[]? dim=None) -> Tensor",
    body=lambda input, dim: _shift(input, dim, lambda n: (n + 1) // 2),
    inline=True,
    namespace="fft",
    doc="The inverse of `fftshift` (torch.fft.ifftshift).",
)


def _frequencies(name: str, spans: Callable[[int], list[tuple[int, int]]], doc: str) -> None:
    def function(
        n: int,
        d: float = 1.0,
        *,
        out: Any = None,
        dtype: DType | None = None,
        device: Any = None,
        requires_grad: bool = False,
        layout: Any = None,
        pin_memory: bool = False,
    ) -> Any:
        def make(dtype: DType) -> Any:
            if dtype.category < dtypes.FLOAT:
                raise RuntimeError(f"{name} requires a floating point or complex dtype")
            parts = [named.arange(start, end, dtype=dtype) for start, end in spans(n)]
            whole = parts[0] if len(parts) == 1 else named.cat(parts)
            width = n * d
            return whole * (1.0 / width if width else float("inf"))

        usual = dtypes.default_dtype()
        return made(name, make, dtype, usual, requires_grad, out=out, device=device, layout=layout)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    public("fft", creates=True)(function)


_frequencies(
    "fftfreq",
    lambda n: [(0, (n + 1) // 2), (-(n // 2), 0)],
    "The frequencies of `fft` of `n` points, `d` apart (torch.fft.fftfreq).",
)
_frequencies(
    "rfftfreq",
    lambda n: [(0, n // 2 + 1)],
    "The frequencies of `rfft` of `n` points, `d` apart (torch.fft.rfftfreq).",
)
