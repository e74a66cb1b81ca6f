"""The standard's extension for Fourier transforms.

https://data-apis.org/array-api/latest/extensions/fourier_transform_functions.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gradd.fft as _fft

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradd_engine.data import DType

    from .._tensor import Tensor

    One = Callable[..., Tensor]
    Axes = Sequence[int] | None


def _one(name: str, function: Callable[..., Any]) -> One:
    """A transform along one axis."""

    def call(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
        found: Tensor = function(x, n, axis, norm)
        return found

    return _named(call, name)


def _several(name: str, function: Callable[..., Any]) -> One:
    """A transform along several axes."""

    def call(x: Tensor, /, *, s: Axes = None, axes: Axes = None, norm: str = "backward") -> Tensor:
        found: Tensor = function(x, s, axes, norm)
        return found

    return _named(call, name)


def _named(call: One, name: str) -> One:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"See https://data-apis.org/array-api/latest/extensions/generated/array_api.fft.{name}.html"
    )
    return call


fft, ifft = _one("fft", _fft.fft), _one("ifft", _fft.ifft)
rfft, irfft = _one("rfft", _fft.rfft), _one("irfft", _fft.irfft)
hfft, ihfft = _one("hfft", _fft.hfft), _one("ihfft", _fft.ihfft)
fftn, ifftn = _several("fftn", _fft.fftn), _several("ifftn", _fft.ifftn)
rfftn, irfftn = _several("rfftn", _fft.rfftn), _several("irfftn", _fft.irfftn)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Any = None) -> Tensor:
    """The frequencies of a transform of size `n`, whose samples are `d` apart."""
    return _fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Any = None) -> Tensor:
    """The frequencies of a transform of real numbers of size `n`, whose samples are `d` apart."""
    return _fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x: Tensor, /, *, axes: int | Axes = None) -> Tensor:
    """`x` with the frequency 0 in the middle."""
    return _fft.fftshift(x, axes)


def ifftshift(x: Tensor, /, *, axes: int | Axes = None) -> Tensor:
    """What undoes `fftshift`."""
    return _fft.ifftshift(x, axes)
