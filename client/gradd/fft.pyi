"""Fourier transforms (torch.fft), typed.

Written by `make face` from the declarations of ops.
"""

from collections.abc import Sequence

from gradd_engine.data.device import Device as device
from gradd_engine.data.dtypes import DType as dtype

from gradd._surface.facts import layout
from gradd._tensor.tensor import Tensor

def fft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The discrete Fourier transform.

    Shape: the input's. dtype: complex64.

    https://pytorch.org/docs/stable/generated/torch.fft.fft.html
    """

def fft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The discrete Fourier transform over two dimensions.

    Shapes: (2, 3) -> (2, 3). dtype: complex64.

    https://pytorch.org/docs/stable/generated/torch.fft.fft2.html
    """

def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """The frequencies of `fft` of `n` points, `d` apart.

    https://pytorch.org/docs/stable/generated/torch.fft.fftfreq.html
    """

def fftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The discrete Fourier transform, over all dimensions or those given.

    Shape: the input's. dtype: complex64.

    https://pytorch.org/docs/stable/generated/torch.fft.fftn.html
    """

def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """A spectrum with the zero frequency in the middle.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.fft.fftshift.html
    """

def hfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The Fourier transform of a Hermitian signal, of which half is given.

    Shapes: (2, 3) -> (2, 4). dtype: float32.

    https://pytorch.org/docs/stable/generated/torch.fft.hfft.html
    """

def hfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The Fourier transform of a Hermitian signal, of which half is given over two dimensions.

    Shapes: (2, 3) -> (2, 4). dtype: float32.

    https://pytorch.org/docs/stable/generated/torch.fft.hfft2.html
    """

def hfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The Fourier transform of a Hermitian signal, of which half is given, over all dimensions or
    those given.

    Shapes: (2, 3) -> (2, 4). dtype: float32.

    https://pytorch.org/docs/stable/generated/torch.fft.hfftn.html
    """

def ifft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The inverse of `fft`.

    Shape: the input's. dtype: complex64.

    https://pytorch.org/docs/stable/generated/torch.fft.ifft.html
    """

def ifft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse Fourier transform over two dimensions.

    Shapes: (2, 3) -> (2, 3). dtype: complex64.

    https://pytorch.org/docs/stable/generated/torch.fft.ifft2.html
    """

def ifftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse Fourier transform, over all dimensions or those given.

    Shape: the input's. dtype: complex64.

    https://pytorch.org/docs/stable/generated/torch.fft.ifftn.html
    """

def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The inverse of `fftshift`.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.fft.ifftshift.html
    """

def ihfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The inverse of `hfft`.

    Shapes: (2, 3) -> (2, 2). dtype: complex64.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: ... expects a real input tensor, but got ...

    https://pytorch.org/docs/stable/generated/torch.fft.ihfft.html
    """

def ihfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse Fourier transform of real numbers: the half that says all over two dimensions.

    Shapes: (2, 3) -> (2, 2). dtype: complex64.
    Raises RuntimeError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.fft.ihfft2.html
    """

def ihfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse Fourier transform of real numbers: the half that says all, over all dimensions or
    those given.

    Shapes: (2, 3) -> (2, 2). dtype: complex64.
    Raises RuntimeError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.fft.ihfftn.html
    """

def irfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The inverse of `rfft`.

    Shapes: (2, 3) -> (2, 4). dtype: float32.

    https://pytorch.org/docs/stable/generated/torch.fft.irfft.html
    """

def irfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of the Fourier transform of real numbers over two dimensions.

    Shapes: (2, 3) -> (2, 4). dtype: float32.

    https://pytorch.org/docs/stable/generated/torch.fft.irfft2.html
    """

def irfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of the Fourier transform of real numbers, over all dimensions or those given.

    Shapes: (2, 3) -> (2, 4). dtype: float32.

    https://pytorch.org/docs/stable/generated/torch.fft.irfftn.html
    """

def rfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The Fourier transform of real numbers: the half that says all.

    Shapes: (2, 3) -> (2, 2). dtype: complex64.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: ... expects a real input tensor, but got ...

    https://pytorch.org/docs/stable/generated/torch.fft.rfft.html
    """

def rfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The Fourier transform of real numbers over two dimensions.

    Shapes: (2, 3) -> (2, 2). dtype: complex64.
    Raises RuntimeError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.fft.rfft2.html
    """

def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """The frequencies of `rfft` of `n` points, `d` apart.

    https://pytorch.org/docs/stable/generated/torch.fft.rfftfreq.html
    """

def rfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The Fourier transform of real numbers, over all dimensions or those given.

    Shapes: (2, 3) -> (2, 2). dtype: complex64.
    Raises RuntimeError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.fft.rfftn.html
    """
