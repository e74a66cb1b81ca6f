"""Windows: ``torch.hann_window`` and its neighbours, periodic by default, and torch.signal.windows, symmetric
by default. Computed in float64 and rounded once.

https://pytorch.org/docs/stable/signal.html
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import kernel, public
from ..create import check_device, finished, wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ...data import DType


def _cosines(xp: Any, n: Any, period: int, *terms: float) -> Any:
    turned = 2.0 * math.pi / period * n
    return sum((a if k % 2 == 0 else -a) * xp.cos(k * turned) for k, a in enumerate(terms)) + xp.zeros(n.size)


def _triangle(xp: Any, n: Any, period: int) -> Any:
    return 1.0 - xp.abs(2.0 * n / period - 1.0)


def _sine(xp: Any, n: Any, period: int) -> Any:
    return xp.sin(math.pi * (n + 0.5) / (period + 1))


def _exponential(xp: Any, n: Any, period: int, center: float, tau: float) -> Any:
    return xp.exp(-xp.abs(n - center) / tau)


def _gaussian(xp: Any, n: Any, period: int, std: float) -> Any:
    return xp.exp(-0.5 * ((n - period / 2.0) / std) ** 2)


def _kaiser(xp: Any, n: Any, period: int, beta: float) -> Any:
    inside = xp.maximum(0.0, 1.0 - (2.0 * n / period - 1.0) ** 2)
    return xp.i0(beta * xp.sqrt(inside)) / xp.i0(xp.asarray([beta]))


#: by name: the function of ``(xp, places, period, *parameters)``, and how many parameters (-1: some)
_SHAPES: dict[str, tuple[Callable[..., Any], int]] = {
    "cosines": (_cosines, -1),
    "triangle": (_triangle, 0),
    "sine": (_sine, 0),
    "exponential": (_exponential, 2),
    "gaussian": (_gaussian, 1),
    "kaiser": (_kaiser, 1),
}


def _infer(length: int, period: int, shape: str, parameters: Any, dtype: DType | None) -> Meta:
    known = _SHAPES.get(shape)
    if known is None:
        raise RuntimeError(f"window(): there is no shape {shape!r}, but {', '.join(_SHAPES)}")
    if len(parameters) != known[1] if known[1] >= 0 else not parameters:
        raise RuntimeError(f"window(): {len(parameters)} parameters do not make the shape {shape!r}")
    if length < 0 or period < 1:
        raise RuntimeError(f"window(): no window of length {length} has a period of {period}")
    found = dtype or dtypes.default_dtype()
    if not found.is_floating_point:
        raise RuntimeError(f"window() expects floating point dtypes, got: {found!r}")
    return Meta((length,), found)


window = kernel(
    "window(int length, int period, str shape, float[] parameters, *, dtype? dtype=None) -> Tensor",
    infer=_infer,
    impl=lambda xp, length, period, shape, parameters, dtype: _SHAPES[shape][0](
        xp, xp.arange(float(length)), period, *parameters
    ),
    cost=lambda length, period, shape, parameters, dtype: (
        64 * max(length, 0) * (1 + len(parameters)),
        64 * max(length, 0),
    ),
    namespace="-",
    outside=True,
    raises=False,
    doc="A window that repeats after `period` points: what `shape` names, of `parameters`.",
)


def _made(
    length: int, whole: bool, dtype: DType, requires_grad: bool, shape: str, parameters: Sequence[float]
) -> Any:
    """The window; symmetric if `whole`, else the first period of it."""
    if length == 1 and shape != "exponential":
        shape, parameters = "cosines", [1.0]
    period = max(length - 1 if whole else length, 1)
    return finished(window(length, period, shape, [float(p) for p in parameters], dtype=dtype), requires_grad)


# -- torch.*_window ----------------------------------------------------------------------------------


def _checked(name: str, length: int, dtype: DType | None, device: Any, requires_grad: bool) -> DType:
    check_device(device)
    found = dtype or dtypes.default_dtype()
    if not found.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {found!r}")
    wanted(found, requires_grad, name)
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    return found


def _plain(name: str, shape: str, *parameters: float) -> None:
    def function(
        window_length: int,
        periodic: bool = True,
        *,
        dtype: DType | None = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
    ) -> Any:
        found = _checked(name, window_length, dtype, device, requires_grad)
        return _made(window_length, not periodic, found, requires_grad, shape, parameters)

    function.__name__ = function.__qualname__ = name
    kind = name.removesuffix("_window").capitalize()
    function.__doc__ = f"{kind}'s window of that length: a period of it, or symmetric (torch.{name})."
    public(creates=True)(function)


_plain("hann_window", "cosines", 0.5, 0.5)
_plain("blackman_window", "cosines", 0.42, 0.5, 0.08)
_plain("bartlett_window", "triangle")


@public(creates=True)
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Hamming's window: a period of it, or symmetric (torch.hamming_window)."""
    found = _checked("hamming_window", window_length, dtype, device, requires_grad)
    return _made(window_length, not periodic, found, requires_grad, "cosines", [alpha, beta])


@public(creates=True)
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Kaiser's window: a period of it, or symmetric (torch.kaiser_window)."""
    found = _checked("kaiser_window", window_length, dtype, device, requires_grad)
    return _made(window_length, not periodic, found, requires_grad, "kaiser", [beta])


# -- torch.signal.windows ----------------------------------------------------------------------------


def _signal(name: str, M: int, sym: bool, options: dict[str, Any], shape: str, *parameters: float) -> Any:
    check_device(options.pop("device", None))
    layout = options.pop("layout", None)
    if layout is not None and str(layout) != "torch.strided":
        lowest = "general_cosine" if shape == "cosines" else name
        raise ValueError(f"{lowest} is implemented for strided tensors only, got: {layout}")
    requires_grad = options.pop("requires_grad", False)
    dtype = options.pop("dtype", None) or dtypes.default_dtype()
    if options:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(options))}'")
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype!r}")
    wanted(dtype, requires_grad, name)
    return _made(M, sym, dtype, requires_grad, shape, parameters)


_OPTIONS = "dtype=None, layout=None, device=None, requires_grad=False"


def _windows(form: str, name: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    form = form.replace("...", _OPTIONS)
    return public("signal.windows", name=name, creates=True, numpy_names=False, forms=form)


@_windows("(M: int, *, a: Sequence[float], sym: bool = True, ...)")
def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: Any) -> Any:
    """See torch.signal.windows.general_cosine."""
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return _signal("general_cosine", M, sym, options, "cosines", *a)


@_windows("(M: int, *, alpha: float = 0.54, sym: bool = True, ...)")
def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Any:
    """See torch.signal.windows.general_hamming."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, **options)


def _cosine_sum(name: str, terms: list[float]) -> None:
    def function(M: int, *, sym: bool = True, **options: Any) -> Any:
        return general_cosine(M, a=terms, sym=sym, **options)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"See torch.signal.windows.{name}."
    _windows("(M: int, *, sym: bool = True, ...)", name)(function)


for _name, _terms in (
    ("hann", [0.5, 0.5]),
    ("hamming", [0.54, 0.46]),
    ("blackman", [0.42, 0.5, 0.08]),
    ("nuttall", [0.3635819, 0.4891775, 0.1365995, 0.0106411]),
):
    _cosine_sum(_name, _terms)


@_windows("(M: int, *, sym: bool = True, ...)")
def bartlett(M: int, *, sym: bool = True, **options: Any) -> Any:
    """See torch.signal.windows.bartlett."""
    return _signal("bartlett", M, sym, options, "triangle")


@_windows("(M: int, *, sym: bool = True, ...)")
def cosine(M: int, *, sym: bool = True, **options: Any) -> Any:
    """See torch.signal.windows.cosine."""
    return _signal("cosine", M, sym, options, "sine")


@_windows("(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, ...)")
def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Any
) -> Any:
    """See torch.signal.windows.exponential."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if center is None:
        center = (M if not sym and M > 1 else M - 1) / 2.0
    return _signal("exponential", M, sym, options, "exponential", center, tau)


@_windows("(M: int, *, std: float = 1.0, sym: bool = True, ...)")
def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Any:
    """See torch.signal.windows.gaussian."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _signal("gaussian", M, sym, options, "gaussian", std)


@_windows("(M: int, *, beta: float = 12.0, sym: bool = True, ...)")
def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Any:
    """See torch.signal.windows.kaiser."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _signal("kaiser", M, sym, options, "kaiser", beta)
