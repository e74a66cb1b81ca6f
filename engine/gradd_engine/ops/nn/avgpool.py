"""Average pooling over windows and to a given size.

All are linear: each op and its transpose are each other's gradients.
Source: https://pytorch.org/docs/stable/nn.functional.html#pooling-functions
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, dtypes, numel, wrap_dim
from ...declare import LINEAR, composite, kernel
from ...graph import TURN
from ...kernels import out_shape, spread_windows, sum_windows
from ..shared import constant_in, image_strides
from .pooling import check_rank, check_rows, check_windows, one, planes, strides_of, two

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...schema import Op
    from ...tensor import Tensor

_UNIT = (1, 1)


def divisors(
    xp: Any,
    size: Sequence[int],
    out: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    count_include_pad: bool,
    divisor_override: int | None,
    dtype: Any,
) -> Any:
    """The divisor of each window, of shape [positions along H, positions along W], or of three dimensions."""
    if divisor_override is not None:
        return xp.full(tuple(out), divisor_override, dtype)
    found = xp.ones((), np.int64)
    for s, n, k, t, p in zip(size, out, kernel, stride, padding, strict=True):
        begin = xp.arange(n) * t - p
        end = xp.minimum(begin + k, s + p)
        count = end - begin if count_include_pad else xp.minimum(end, s) - xp.maximum(begin, 0)
        found = found[..., None] * count
    return found.astype(dtype)


def _summed(
    xp: Any,
    x: Any,
    places: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
) -> Any:
    """Sums over windows of images, or of volumes: in each plane, then along their depth."""
    found = sum_windows(xp, planes(x), places[-2:], kernel[-2:], stride[-2:], padding[-2:])
    if len(places) == 3:
        rows = numel(places[1:])
        along = [[each[0], other] for each, other in ((kernel, 1), (stride, 1), (padding, 0))]
        found = sum_windows(xp, found.reshape(-1, x.shape[-3], rows), [places[0], rows], *along)
    return found.reshape(*x.shape[: x.ndim - len(places)], *places)


def _spread(
    xp: Any, x: Any, size: Sequence[int], kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> Any:
    """The transpose of `_summed`: each element added to its whole window, in images or volumes of `size`."""
    lead, places = x.shape[: x.ndim - len(size)], x.shape[x.ndim - len(size) :]
    if len(size) == 3:
        rows = numel(places[1:])
        along = [[each[0], other] for each, other in ((kernel, 1), (stride, 1), (padding, 0))]
        x = spread_windows(xp, x.reshape(-1, places[0], rows), [size[0], rows], *along)
    images = x.reshape(-1, *places[-2:])
    found = spread_windows(xp, images, size[-2:], kernel[-2:], stride[-2:], padding[-2:])
    return found.reshape(*lead, *size)


_AVG = (
    "int[] kernel_size, int[] stride, int[] padding, bool ceil_mode, bool count_include_pad, "
    "int? divisor_override"
)


def _how(
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: Any,
) -> dict[str, Any]:
    return {
        "kernel_size": kernel_size, "stride": stride, "padding": padding, "ceil_mode": ceil_mode,
        "count_include_pad": count_include_pad, "divisor_override": divisor_override,
    }  # fmt: skip


def _avg_cost(whole: Sequence[int], kernel: Sequence[int], padding: Sequence[int]) -> tuple[int, int]:
    """A step for each place of the window along each dimension, and padded copies."""
    dims = len(kernel)
    padded = [n + 2 * p + k for n, p, k in zip(whole[-dims:], padding, kernel, strict=True)]
    return TURN * sum(kernel), 16 * numel(whole[:-dims]) * numel(padded)


def averages_of(dims: int, check: Callable[..., None]) -> tuple[Op, Op]:
    """Declare the averages over windows of `dims` dimensions, and their transpose; `check` refuses the input,
    or the numbers, in PyTorch's words.
    """
    unit, name = (1,) * dims, f"avg_pool{dims}d"

    def infer(
        input: Tensor | Meta,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Meta:
        check(input, kernel_size, stride, padding)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        shape = out_shape(input.shape, kernel_size, stride, padding, unit, ceil_mode)
        return Meta(shape, input.dtype, image_strides(shape, input) if dims == 2 else None)

    def compute(
        xp: Any,
        input: Any,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Any:
        places = out_shape(input.shape, kernel_size, stride, padding, unit, ceil_mode)[-dims:]
        total = _summed(xp, input, places, kernel_size, stride, padding)
        by = divisors(
            xp, input.shape[-dims:], places, kernel_size, stride, padding, count_include_pad,
            divisor_override, input.dtype,
        )  # fmt: skip
        return total / by if input.dtype.kind == "f" else xp.trunc(total / by)

    def back_infer(grad: Tensor, size: Sequence[int], **how: Any) -> Meta:
        shape = (*grad.shape[:-dims], *size)
        if len(size) != dims or infer(Meta(shape, grad.dtype), **how).shape != tuple(grad.shape):
            raise RuntimeError(
                f"{name}_backward(): a gradient of shape {list(grad.shape)} is not that of windows over "
                f"{list(shape)}"
            )
        return Meta(shape, grad.dtype)

    def back(
        xp: Any,
        grad: Any,
        size: Sequence[int],
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Any:
        by = divisors(
            xp, size, grad.shape[-dims:], kernel_size, stride, padding, count_include_pad, divisor_override,
            grad.dtype,
        )  # fmt: skip
        return _spread(xp, grad / by, size, kernel_size, stride, padding)

    def gradient(
        g: Any,
        input: Any,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: Any,
    ) -> Any:
        how = _how(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return constant_in(transposed(g, size=list(input.shape[-dims:]), **how), input)

    forward: Op = kernel(
        f"{name}_windows(Tensor input, *, {_AVG}) -> Tensor",
        infer=infer,
        impl=compute,
        cost=lambda input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: (
            _avg_cost(input.shape, kernel_size, padding)
        ),
        vjp=gradient,
        jvp=LINEAR,
        node=f"AvgPool{dims}DBackward0",
        namespace="-",
        outside=True,
        doc=f"Averages over windows of {dims} dimensions.",
        raises=False,
    )
    transposed: Op = kernel(
        f"{name}_backward(Tensor grad, *, int[] size, {_AVG}) -> Tensor",
        infer=back_infer,
        impl=back,
        cost=lambda grad, size, kernel_size, padding, **_: _avg_cost(
            (*grad.shape[:-dims], *size), kernel_size, padding
        ),
        vjp=lambda g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: forward(
            g, **_how(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        ),
        jvp=LINEAR,
        namespace="-",
        outside=True,
        doc=f"Spreads the gradient of window averages back into {dims} dimensions of `size`.",
        raises=False,
    )
    return forward, transposed


def _check_images(
    input: Tensor | Meta, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> None:
    check_windows(input, kernel, stride, padding, _UNIT)
    if input.dtype is not dtypes.int64 and not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"avg_pool2d_out_frame\" not implemented for '{input.dtype.title}'")


avg, avg_transposed = averages_of(2, _check_images)


def _avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    if input.ndim < 3:
        wrap_dim(-3, input.ndim)  # raises
    kernel = two(kernel_size, "avg_pool2d", "kernel_size")
    windows = (kernel, strides_of(stride, kernel, "avg_pool2d"), two(padding, "avg_pool2d", "padding"))
    return avg(input, **_how(*windows, ceil_mode, count_include_pad, divisor_override))


def _avg_pool1d(
    input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool
) -> Any:
    check_rows("avg_pool1d", input)
    k, p = one(kernel_size), one(padding)
    s = one(strides_of(stride, [k, k], "avg_pool1d"))
    windows = ([1, k], [1, s], [0, p])
    return avg(input.unsqueeze(-2), **_how(*windows, ceil_mode, count_include_pad, None)).squeeze(-2)


avg_pool2d = composite(
    "avg_pool2d(Tensor input, int[] kernel_size, int[]? stride=None, int[] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
    body=_avg_pool2d,
    namespace="nn.functional",
    doc="Averages over windows of [N, C, H, W] or [C, H, W] (torch.nn.functional.avg_pool2d).",
)
avg_pool1d = composite(
    "avg_pool1d(Tensor input, int[] kernel_size, int[]? stride=None, int[] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True) -> Tensor",
    body=_avg_pool1d,
    namespace="|nn.functional",
    doc="Averages over windows of [N, C, L] or [C, L] (torch.nn.functional.avg_pool1d).",
)


# -- to a given size -------------------------------------------------------------------------------


def _parts(size: int, out: int) -> list[slice]:
    """PyTorch's windows: from floor(i size / out) to ceil((i + 1) size / out)."""
    return [slice(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]


def _adaptive_infer(input: Tensor | Meta, output_size: Sequence[int]) -> Meta:
    if len(output_size) != 2:
        raise RuntimeError("adaptive_avg_pool2d: output_size must be 2")
    if any(s < 0 for s in output_size):
        raise RuntimeError(
            "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but received "
            f"{{{', '.join(map(str, output_size))}}}"
        )
    check_rank("adaptive_avg_pool2d", input, 2, "")
    for i in (-2, -1):
        if input.shape[i] == 0:
            raise RuntimeError(
                "adaptive_avg_pool2d(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {list(input.shape)} with dimension {i + input.ndim} being empty"
            )
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"adaptive_avg_pool2d\" not implemented for '{input.dtype.title}'")
    shape = (*input.shape[:-2], *output_size)
    return Meta(shape, input.dtype, image_strides(shape, input))


def _adaptive_transposed_infer(grad: Tensor, size: Sequence[int]) -> Meta:
    shape = (*grad.shape[:-2], *size)
    found = _adaptive_infer(Meta(shape, grad.dtype), list(grad.shape[-2:])).shape
    if len(size) != 2 or found != tuple(grad.shape):
        raise RuntimeError(
            f"adaptive_avg_pool2d_backward(): a gradient of shape {list(grad.shape)} is not that of "
            f"averages over {list(shape)}"
        )
    return Meta(shape, grad.dtype)


def _adaptive(xp: Any, input: Any, output_size: Sequence[int]) -> Any:
    rows, columns = (_parts(s, n) for s, n in zip(input.shape[-2:], output_size, strict=True))
    found = xp.empty((*input.shape[:-2], *output_size), input.dtype)
    for (i, a), (j, b) in product(enumerate(rows), enumerate(columns)):
        found[..., i, j] = input[..., a, b].mean(axis=(-2, -1)) if input.size else 0
    return found


def _adaptive_transposed(xp: Any, grad: Any, size: Sequence[int]) -> Any:
    rows, columns = (_parts(s, n) for s, n in zip(size, grad.shape[-2:], strict=True))
    found = xp.zeros((*grad.shape[:-2], *size), grad.dtype)
    for (i, a), (j, b) in product(enumerate(rows), enumerate(columns)):
        share = grad[..., i, j] / ((a.stop - a.start) * (b.stop - b.start))
        found[..., a, b] += share[..., None, None]
    return found


def _windows_cost(sizes: Sequence[int]) -> tuple[int, int]:
    """A step per window, and a slice for each row and column of windows."""
    return TURN * numel(sizes), 200 * sum(sizes)


adaptive: Op = kernel(
    "adaptive_avg_pool2d_windows(Tensor input, *, int[] output_size) -> Tensor",
    infer=_adaptive_infer,
    impl=_adaptive,
    cost=lambda input, output_size: _windows_cost(output_size),
    vjp=lambda g, input: constant_in(adaptive_transposed(g, size=list(input.shape[-2:])), input),
    jvp=LINEAR,
    node="AdaptiveAvgPool2DBackward0",
    namespace="-",
    outside=True,
    doc="Averages over a grid of `output_size` windows.",
    raises=False,
)

adaptive_transposed: Op = kernel(
    "adaptive_avg_pool2d_backward(Tensor grad, *, int[] size) -> Tensor",
    infer=_adaptive_transposed_infer,
    impl=_adaptive_transposed,
    cost=lambda grad, size: _windows_cost(grad.shape[-2:]),
    vjp=lambda g, grad_meta: adaptive(g, output_size=list(grad_meta.shape[-2:])),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="Spreads the gradient of window averages back into planes of `size` [H, W].",
    raises="not of floats",
)


def _adaptive_pool2d(input: Any, output_size: Any) -> Any:
    if output_size is not None and not isinstance(output_size, int) and input.ndim <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    check_rank("adaptive_avg_pool2d", input, 2, "")
    wanted = [output_size] * 2 if output_size is None or isinstance(output_size, int) else list(output_size)
    if len(wanted) != 2:
        raise RuntimeError("adaptive_avg_pool2d: output_size must be 2")
    if any(w is None for w in wanted):
        wanted = [s if w is None else w for w, s in zip(wanted, input.shape[-2:], strict=True)]
    if wanted == [1, 1] and numel(input.shape[-2:]):
        return input.mean([-1, -2], True)
    return adaptive(input, output_size=wanted)


adaptive_avg_pool2d = composite(
    "adaptive_avg_pool2d(Tensor input, any output_size) -> Tensor",
    body=_adaptive_pool2d,
    namespace="nn.functional",
    doc="Averages over [H, W] to `output_size`; None keeps a size (torch.nn.functional.adaptive_avg_pool2d).",
)


def _adaptive_pool1d(input: Any, output_size: Any) -> Any:
    if not isinstance(output_size, int) and len(output_size) != 1:
        raise RuntimeError(
            f"adaptive_avg_pool1d() argument 'output_size' should contain one int (got {len(output_size)})"
        )
    check_rows("adaptive_avg_pool1d", input)
    return _adaptive_pool2d(input.unsqueeze(-2), [1, one(output_size)]).squeeze(-2)


adaptive_avg_pool1d = composite(
    "adaptive_avg_pool1d(Tensor input, int[] output_size) -> Tensor",
    body=_adaptive_pool1d,
    namespace="|nn.functional",
    doc="Average pooling over the last dimension to `output_size` (torch.nn.functional.adaptive_avg_pool1d).",
)
