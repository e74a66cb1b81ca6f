"""Pooling over windows of volumes [N, C, D, H, W] or [C, D, H, W]: images along H and W, then rows along D.

Source: https://pytorch.org/docs/stable/nn.functional.html#pooling-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel
from ...declare import composite, kernel, public
from ...graph import TURN
from ...kernels import max_windows, out_shape
from ..shared import constant_in
from .avgpool import averages_of
from .pooling import as_planes, both_by_name, check_numbers, max_backward, max_pick

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op
    from ...tensor import Tensor

_UNIT = (1, 1, 1)


def _check(
    name: str,
    input: Tensor | Meta,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> None:
    """Raise PyTorch's RuntimeError unless windows fit the volumes."""
    if input.ndim not in (4, 5):
        raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")
    check_numbers(kernel, stride, padding, dilation, 3)
    empty = next((i for i, n in enumerate(input.shape[-4:]) if n == 0), None)
    if empty is not None:
        raise RuntimeError(
            f"{name}(): Expected input's non-batch dimensions to have positive length, but input has a shape "
            f"of {list(input.shape)} and non-batch dimension {empty} has length zero!"
        )


def _triple(value: Any, name: str, what: str) -> list[int]:
    """Depth, height and width from three numbers, or from one for all."""
    found = [value] if isinstance(value, int) else list(value)
    if len(found) not in (1, 3):
        raise RuntimeError(f"{name}: {what} a single int, or a tuple of three ints")
    return found * 3 if len(found) == 1 else found


# -- maxima ----------------------------------------------------------------------------------------


def _max_infer(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> list[Meta]:
    _check("max_pool3d_with_indices_out_cpu_template", input, kernel_size, stride, padding, dilation)
    if input.dtype.category in (dtypes.BOOL, dtypes.COMPLEX):
        raise NotImplementedError(f"\"max_pool3d\" not implemented for '{input.dtype.title}'")
    shape = out_shape(input.shape, kernel_size, stride, padding, dilation, ceil_mode)
    return [Meta(shape, input.dtype), Meta(shape, dtypes.int64)]


def _max(
    xp: Any,
    input: Any,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[Any, Any]:
    d, h, w = input.shape[-3:]
    many = numel(input.shape[:-3])
    shape = out_shape(input.shape, kernel_size, stride, padding, dilation, ceil_mode)
    deep, *places = shape[-3:]
    how = [each[1:] for each in (kernel_size, stride, padding, dilation)]
    values, within = max_windows(xp, input.reshape(many * d, h, w), places, *how)
    # The first of equal values is in the first plane, and there the first: two maxima in turn keep that.
    how = [[each[0], rest] for each, rest in ((kernel_size, 1), (stride, 1), (padding, 0), (dilation, 1))]
    rows = numel(places)
    values, at = max_windows(xp, values.reshape(many, d, rows), [deep, rows], *how)
    at = at.reshape(many, deep * rows)
    index = xp.take_along_axis(within.reshape(many, d * rows), at, 1) + at // max(rows, 1) * (h * w)
    return values.reshape(shape), index.reshape(shape)


def _max_grad(g: Any, input: Any, out1: Any) -> Any:
    d, h, w = input.shape[-3:]
    found = max_backward(as_planes(g), as_planes(out1), size=[d * h, w])
    return constant_in(found.reshape(list(input.shape)), input)


def _max_cost(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[int, int]:
    """A number for each place of the window and of a plane, and the maxima along H and W of each plane."""
    planes = numel(input.shape[:-2])
    how = [each[1:] for each in (kernel_size, stride, padding, dilation)]
    within = out_shape(input.shape[-3:], how[0], how[1], how[2], how[3], ceil_mode)[1:]
    padded = [n + 2 * p for n, p in zip(input.shape[-3:], padding, strict=True)]
    return TURN * sum(kernel_size) + numel(input.shape[-3:]), 32 * numel(padded) + 24 * planes * numel(within)


max3d_indices: Op = kernel(
    "max_pool3d_with_indices(Tensor input, int[] kernel_size, int[] stride, int[] padding, int[] dilation, "
    "bool ceil_mode) -> (Tensor output, const Tensor indices)",
    infer=_max_infer,
    impl=_max,
    cost=_max_cost,
    vjp={"input": _max_grad},
    jvp=lambda input_t, out1: [max_pick(as_planes(input_t), as_planes(out1)).reshape(list(out1.shape)), None],
    node="MaxPool3DWithIndicesBackward0",
    namespace="-",
    outside=True,
    doc="Maxima over windows of volumes and their flat indices into each; the first of ties.",
    raises=False,
)


def _max_pool3d(
    input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Any, Any]:
    kernel = _triple(kernel_size, "max_pool3d", "kernel_size must either be")
    omitted = stride is None or (not isinstance(stride, int) and not len(stride))
    return max3d_indices(  # type: ignore[no-any-return]
        input,
        kernel,
        kernel if omitted else _triple(stride, "max_pool3d", "stride must either be omitted,"),
        _triple(padding, "max_pool3d", "padding must either be"),
        _triple(dilation, "max_pool3d", "dilation must be either"),
        ceil_mode,
    )


_MAX = "int[] kernel_size, int[]? stride=None, int[] padding=0, int[] dilation=1, bool ceil_mode=False"

_max_alone: Op = composite(
    f"max_pool3d(Tensor input, {_MAX}) -> Tensor",
    body=lambda input, **how: _max_pool3d(input, **how)[0],
    namespace="-",
    outside=True,
    doc="Maxima over windows of volumes (torch.nn.functional.max_pool3d).",
    autocast={"cpu": "float32"},
)
_max_both: Op = composite(
    f"max_pool3d_indexed(Tensor input, {_MAX}) -> (Tensor output, const Tensor indices)",
    body=_max_pool3d,
    namespace="-",
    outside=True,
    doc="Maxima over windows and their flat indices (torch.nn.functional.max_pool3d, return_indices=True).",
)

_WINDOW = "(input, kernel_size, stride=None, padding: int | Sequence[int] = 0, dilation=1, ceil_mode=False"


@public("nn.functional", forms=(f"{_WINDOW})", f"{_WINDOW}, return_indices=False) -> Any"))
def max_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """See torch.nn.functional.max_pool3d."""
    pool = _max_both if return_indices else _max_alone
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


both_by_name("max_pool3d", _max_both)


# -- averages --------------------------------------------------------------------------------------


def _check_averages(
    input: Tensor | Meta, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> None:
    _check("avg_pool3d", input, kernel, stride, padding, _UNIT)
    space = input.shape[-3:]
    if any(n + 2 * p < k for n, k, p in zip(space, kernel, padding, strict=True)):
        have, want = (
            " ".join(f"{letter}{d}: {n}" for d, n in zip("THW", numbers, strict=True))
            for letter, numbers in (("", space), ("k", kernel))
        )
        raise RuntimeError(f"input image ({have}) smaller than kernel size ({want})")
    if input.dtype not in (dtypes.int64, dtypes.float32, dtypes.float64):
        raise NotImplementedError(f"\"avg_pool3d_out_frame\" not implemented for '{input.dtype.title}'")


avg, avg_transposed = averages_of(3, _check_averages)


def _avg_pool3d(input: Any, kernel_size: Any, stride: Any, padding: Any, **how: Any) -> Any:
    kernel = _triple(kernel_size, "avg_pool3d", "kernel_size must be")
    omitted = stride is None or (not isinstance(stride, int) and not len(stride))
    return avg(
        input,
        kernel_size=kernel,
        stride=kernel if omitted else _triple(stride, "avg_pool3d", "stride must be omitted,"),
        padding=_triple(padding, "avg_pool3d", "padding must be"),
        **how,
    )


avg_pool3d = composite(
    "avg_pool3d(Tensor input, int[] kernel_size, int[]? stride=None, int[] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
    body=_avg_pool3d,
    namespace="nn.functional",
    doc="Averages over windows of [N, C, D, H, W] or [C, D, H, W] (torch.nn.functional.avg_pool3d).",
    autocast={"cpu": "float32"},
)
