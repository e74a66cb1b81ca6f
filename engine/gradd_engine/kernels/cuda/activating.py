"""Activations and their gradients on the device, each in one launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .launch import dense, each, empty
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Callable


def _alike(*arrays: Any) -> bool:
    a = arrays[0]
    return a.dtype.char in REALS and all(b.dtype == a.dtype and b.shape == a.shape for b in arrays)


def _run(xp: Any, name: str, arrays: tuple[Any, ...], *numbers: float) -> Any:
    out = empty(xp, arrays[0].shape, arrays[0].dtype)
    given = [dense(xp, a) for a in arrays]
    each(xp, name, out.dtype.char, out.size, *given, out, out.size, *numbers)
    return out


def _plainly(name: str) -> Callable[..., Any]:
    """For ops of arrays alone."""

    def native(plain: Any) -> Any:
        def kernel(xp: Any, *arrays: Any) -> Any:
            return _run(xp, name, arrays) if _alike(*arrays) else plain(xp, *arrays)

        return kernel

    return native


def _numbered(name: str, many: int, *names: str) -> Callable[..., Any]:
    """For ops of `many` arrays, then numbers of these names, in their order or by name."""

    def native(plain: Any) -> Any:
        def kernel(xp: Any, *given: Any, **named: Any) -> Any:
            arrays = given[:many]
            numbers = [*given[many:], *(named[n] for n in names[len(given) - many :])]
            if not _alike(*arrays) or not all(isinstance(x, (int, float, np.number)) for x in numbers):
                return plain(xp, *given, **named)
            return _run(xp, name, arrays, *map(float, numbers))

        return kernel

    return native


def _gelu(name: str) -> Callable[..., Any]:
    def native(plain: Any) -> Any:
        def kernel(xp: Any, *arrays: Any, approximate: str) -> Any:
            if not _alike(*arrays):
                return plain(xp, *arrays, approximate=approximate)
            return _run(xp, f"{name}_{approximate}", arrays)

        return kernel

    return native


NATIVE = {
    "elu": _numbered("elu", 1, "alpha", "scale", "input_scale"),
    "gelu": _gelu("gelu"),
    "gelu_backward": _gelu("gelu_backward"),
    "leaky_relu": _numbered("leaky_relu", 1, "negative_slope"),
    "relu": _plainly("relu"),
    "sigmoid": _plainly("sigmoid"),
    "sigmoid_backward": _plainly("sigmoid_backward"),
    "silu": _plainly("silu"),
    "silu_backward": _plainly("silu_backward"),
    "tanh_backward": _plainly("tanh_backward"),
    "threshold_backward": _numbered("threshold_backward", 2, "threshold"),
}
