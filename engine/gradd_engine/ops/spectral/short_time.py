"""Fourier transforms of overlapping windows of a signal, and the signal back from them.

https://pytorch.org/docs/stable/generated/torch.stft.html,
https://pytorch.org/docs/stable/generated/torch.istft.html
"""

from __future__ import annotations

from typing import Any

from ...data import dtypes, holds, warn, wrap_dim
from ...declare import composite, kernel
from ...schema import named
from ...tensor import Tensor
from ..shape import clone, transpose, unsqueeze
from ..shared import same
from .fourier import BY_COUNT, BY_ROOT, NONE, fft_c2c, fft_c2r, fft_r2c

_SIDES = "Cannot have onesided output if window or input is complex"


def _refuse(name: str, input: Tensor, given: dict[str, Any], why: str) -> RuntimeError:
    """The error of a call: PyTorch's message begins with the call itself."""
    return RuntimeError(f"{_call(name, input, given)} : {why}")


def _call(name: str, input: Tensor, given: dict[str, Any]) -> str:
    said = ", ".join(f"{key}={_shown(value)}" for key, value in given.items())
    return f"{name}({input.dtype.value_type}{list(input.shape)}, {said})"


def _shown(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        return f"{value.dtype.value_type}{{{list(value.shape)}}}"
    return str(int(value))


def _centred(window: Any, missing: int) -> Any:
    """A window with zeros on both sides."""
    left = missing // 2
    return named.constant_pad_nd(window, [left, missing - left]) if missing else window


def _reflected(x: Any, pad: int) -> Any:
    """A batch of signals, continued by its mirror image on both sides."""
    count = x.shape[-1]
    if pad >= count:
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, but got: "
            f"padding ({pad}, {pad}) at dimension 2 of input {[1, *x.shape]}"
        )
    before = named.flip(named.narrow(x, -1, 1, pad), [-1])
    behind = named.flip(named.narrow(x, -1, count - 1 - pad, pad), [-1])
    return named.cat([before, x, behind], -1)


def _continued(x: Any, pad: int, mode: str) -> Any:
    if not pad:
        return x
    count = x.shape[-1]
    if mode == "constant":
        return named.constant_pad_nd(x, [pad, pad])
    if mode == "reflect":
        return _reflected(x, pad)
    if mode == "replicate":
        ends = (named.narrow(x, -1, 0, 1), named.narrow(x, -1, count - 1, 1))
        first, last = (named.expand(end, [*x.shape[:-1], pad]) for end in ends)
        return named.cat([first, x, last], -1)
    if mode == "circular":
        if pad > count:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        return named.cat([named.narrow(x, -1, count - pad, pad), x, named.narrow(x, -1, 0, pad)], -1)
    raise NotImplementedError(f"Unrecognised padding mode {mode}")


def _complex_result(input: Tensor, window: Tensor | None, return_complex: bool | None) -> bool:
    if return_complex is None:
        if input.dtype.is_complex or (window is not None and window.dtype.is_complex):
            return True
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require "
            "that return_complex=True in a future PyTorch release."
        )
    if not return_complex:
        warn(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return "
            "complex tensors for all inputs, and return_complex=False will raise an error.\n"
            "Note: you can still call torch.view_as_real on the complex output to recover the old return "
            "format."
        )
    return return_complex


def _stft(
    input: Tensor,
    window: Tensor | None,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    center: bool,
    pad_mode: str,
    normalized: bool,
    onesided: bool | None,
    return_complex: bool | None,
    align_to_window: bool | None,
) -> Any:
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    hop = n_fft >> 2 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    given = {
        "n_fft": n_fft,
        "hop_length": hop,
        "win_length": width,
        "window": window,
        "normalized": normalized,
        "onesided": onesided,
        "return_complex": return_complex,
        "align_to_window": align_to_window,
    }
    complex_result = _complex_result(input, window, return_complex)
    if input.dtype.category < dtypes.FLOAT:
        raise _refuse("stft", input, given, "expected a tensor of floating point or complex values")
    if input.ndim not in (1, 2):
        raise _refuse("stft", input, given, "expected a 1D or 2D tensor")
    x: Any = unsqueeze(input, 0) if input.ndim == 1 else input
    if center:
        x = _continued(x, n_fft // 2, pad_mode)
    count = x.shape[1]
    said = x if input.ndim == 2 else named.squeeze_dim(x, 0)
    _check_frames(said, count, n_fft, hop, width, window, given)
    if window is None:
        window = None if width == n_fft else named.ones([width], dtype=input.dtype)
    if align_to_window:
        count += n_fft - width
        x = named.constant_pad_nd(x, [(n_fft - width) // 2, n_fft - width - (n_fft - width) // 2])
    frames = named.unfold(x, 1, n_fft, hop)
    if window is not None:
        frames = frames * _centred(window, n_fft - width)
    found = _spectra(frames, normalized, onesided)
    found = transpose(found, 1, 2)
    found = named.squeeze_dim(found, 0) if input.ndim == 1 else found
    return found if complex_result else named.view_as_real(found)


def _check_frames(
    x: Tensor, count: int, n_fft: int, hop: int, width: int, window: Tensor | None, given: dict[str, Any]
) -> None:
    if not 0 < n_fft <= count:
        raise _refuse("stft", x, given, f"expected 0 < n_fft < {count}, but got n_fft={n_fft}")
    if hop <= 0:
        raise _refuse("stft", x, given, f"expected hop_length > 0, but got hop_length={hop}")
    if not 0 < width <= n_fft:
        raise _refuse("stft", x, given, f"expected 0 < win_length <= n_fft, but got win_length={width}")
    if window is not None and tuple(window.shape) != (width,):
        raise _refuse(
            "stft",
            x,
            given,
            f"expected a 1D window tensor of size equal to win_length={width}, but got window with size "
            f"{list(window.shape)}",
        )


def _spectra(frames: Any, normalized: bool, onesided: bool | None) -> Any:
    how = BY_ROOT if normalized else NONE
    if frames.dtype.is_complex:
        if onesided:
            raise RuntimeError(_SIDES)
        return fft_c2c(frames, [2], how, True)
    return fft_r2c(frames, [2], how, onesided is None or onesided)


stft = composite(
    "stft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
    "bool center=True, str pad_mode='reflect', bool normalized=False, bool? onesided=None, "
    "bool? return_complex=None, bool? align_to_window=None) -> Tensor",
    body=_stft,
    inline=True,
    method=True,
    doc="The spectra of overlapping windows of signals (torch.stft).",
    autocast={"cpu": "float32"},
)

# -- the signal back ---------------------------------------------------------------------------------


def _covered(xp: Any, envelope: Any, call: str) -> Any:
    text = f"{call} window overlap add min: 1\n[ CPUBoolType{{}} ]"
    holds(xp.abs(envelope) < 1e-11, RuntimeError, text, call)
    return envelope.copy()


covered = kernel(
    "istft_envelope(Tensor envelope, str call='istft') -> Tensor",
    infer=same,
    impl=_covered,
    vjp=lambda g: clone(g),
    jvp=lambda envelope_t: clone(envelope_t),
    namespace="-",
    outside=True,
    doc="The sum of squared windows itself; RuntimeError where it is almost zero somewhere.",
)


def _istft(
    input: Tensor,
    window: Tensor | None,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    center: bool,
    normalized: bool,
    onesided: bool | None,
    length: int | None,
    return_complex: bool,
) -> Any:
    hop = n_fft >> 2 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    given = {
        "n_fft": n_fft,
        "hop_length": hop,
        "win_length": width,
        "window": window,
        "center": center,
        "normalized": normalized,
        "onesided": onesided,
        "length": length,
        "return_complex": return_complex,
    }
    if not input.dtype.is_complex:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    half = onesided if onesided is not None else input.ndim < 2 or input.shape[-2] != n_fft
    _check_spectra(input, n_fft, hop, width, window, half, given)
    if window is None:
        window = named.ones([width], dtype=dtypes.to_real(input.dtype))
    weights = _centred(window, n_fft - width)
    x: Any = unsqueeze(input, 0) if input.ndim == 2 else input
    y = _signals(transpose(x, 1, 2), n_fft, normalized, half, return_complex, window.dtype.is_complex)
    frames = y.shape[1]
    size = n_fft + hop * (frames - 1)
    squared = named.expand(weights * weights, [1, frames, n_fft])
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else size - (n_fft // 2 if center else 0)
    kept = max(min(end, size) - start, 0)
    signal, envelope = (
        named.narrow(_added(part, size, hop), 1, min(start, size), kept) for part in (y * weights, squared)
    )
    found = signal / covered(envelope, _call("istft", input, given))
    if input.ndim == 2:
        found = named.squeeze_dim(found, 0)
    if end > size:
        warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in "
            "the tail. Please check your center, n_fft, hop_length, and win_length parameters."
        )
        found = named.constant_pad_nd(found, [0, end - size])
    return found


def _check_spectra(
    input: Tensor, n_fft: int, hop: int, width: int, window: Tensor | None, half: bool, given: dict[str, Any]
) -> None:
    def refuse(why: str) -> RuntimeError:
        return _refuse("istft", input, given, why)

    if input.ndim < 2:
        wrap_dim(-3, input.ndim + 1)
    if not input.numel():
        raise refuse("input tensor cannot be empty.")
    if input.ndim > 3:
        raise refuse(f"expected a tensor with 3 or 4 dimensions, but got {input.ndim + 1}")
    count, wanted = input.shape[-2], n_fft // 2 + 1 if half else n_fft
    if count != wanted:
        what = "n_fft / 2 + 1 when onesided=True" if half else "n_fft when onesided=False"
        raise refuse(
            f"expected the frequency dimension (3rd to the last) of the input tensor to match {what}, but "
            f"got {count}"
        )
    if not 0 < hop <= width:
        raise refuse("expected 0 < hop_length <= win_length")
    if not 0 < width <= n_fft:
        raise refuse("expected 0 < win_length <= n_fft")
    if window is not None and tuple(window.shape) != (width,):
        raise refuse("Invalid window shape. window has to be 1D and length of `win_length`")


def _signals(x: Any, n_fft: int, normalized: bool, half: bool, whole: bool, complex_window: bool) -> Any:
    """A signal for each spectrum in the last dimension; complex ones if `whole`."""
    how = BY_ROOT if normalized else BY_COUNT
    if whole:
        if half:
            raise RuntimeError(_SIDES)
        return fft_c2c(x, [2], how, False)
    if complex_window:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if not half:
        x = named.narrow(x, 2, 0, n_fft // 2 + 1)
    return fft_c2r(x, [2], how, n_fft)


def _added(frames: Any, size: int, hop: int) -> Any:
    """Frames [batch, n, width] that begin `hop` apart, added up."""
    batch, count, width = frames.shape
    into = [batch, size], [size, 1]
    return named.as_strided_backward(frames, *into, [batch, count, width], [size, hop, 1], 0)


istft = composite(
    "istft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
    "bool center=True, bool normalized=False, bool? onesided=None, int? length=None, "
    "bool return_complex=False) -> Tensor",
    body=_istft,
    inline=True,
    method=True,
    doc="The signals of which `stft` made spectra (torch.istft).",
)
