"""Pooling to a given size: maxima of rows, images and volumes, averages of volumes.

Source: https://pytorch.org/docs/stable/nn.functional.html#pooling-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel
from ...declare import LINEAR, composite, kernel, public
from ...graph import TURN
from ...kernels import adaptive_maxima, adaptive_taps, resampled, transposed
from ..shared import checked, constant_in, image_strides
from .pooling import as_planes, check_rank, check_rows, max_backward, max_pick, one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op
    from ...tensor import Tensor


def _check(name: str, input: Tensor | Meta, dims: int, colon: str) -> None:
    """Raise RuntimeError unless the input has `dims` dimensions of space, channels, and perhaps a batch."""
    check_rank(name, input, dims, colon)
    for i in range(input.ndim - dims - 1, input.ndim):
        if input.shape[i] == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has "
                f"sizes {list(input.shape)} with dimension {i} being empty"
            )


def _wanted(name: str, input: Any, output_size: Any, dims: int, colon: str) -> list[int]:
    """One size for each dimension; None keeps a size, and one number is all of them."""
    if output_size is None or isinstance(output_size, int):
        each: list[Any] = [output_size] * dims
    else:
        each = list(output_size)
        if input.ndim <= len(each):
            raise ValueError(f"Input dimension should be at least {len(each) + 1}")
    check_rank(name, input, dims, colon)
    space = input.shape[input.ndim - len(each) :]
    return [n if w is None else w for w, n in zip(each, space, strict=True)]


def _cost(space: Sequence[int], out: Sequence[int], each: int) -> tuple[int, int]:
    """A step for each place of the longest window, and tables of these."""
    lengths = [-(-n // max(m, 1)) + 1 for n, m in zip(space, out, strict=True)]
    tables = sum(24 * k * max(m, n) for k, m, n in zip(lengths, out, space, strict=True))
    back = [-(-m // max(n, 1)) + 1 for n, m in zip(space, out, strict=True)]
    return TURN * (sum(lengths) + sum(back)), 2 * tables + 24 * sum(
        k * n for k, n in zip(back, space, strict=True)
    ) + each


# -- maxima ----------------------------------------------------------------------------------------


def _max_infer(input: Tensor, output_size: Sequence[int]) -> list[Meta]:
    dims = len(output_size)
    if dims not in (2, 3):
        raise RuntimeError(f"adaptive_max_pool(): {list(output_size)} is not a size of images or volumes")
    name = f"adaptive_max_pool{dims}d"
    _check(name, input, dims, ":")
    shape = checked((*input.shape[:-dims], *output_size))
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"{name}{'_cpu' * (dims == 3)}\" not implemented for '{input.dtype.title}'"
        )
    strides = image_strides(shape, input)
    return [Meta(shape, input.dtype, strides), Meta(shape, dtypes.int64, strides)]


def max_grad(g: Any, input: Any, out1: Any, output_size: Any) -> Any:
    """The gradient of maxima with flat indices `out1` into images or volumes."""
    if len(output_size) == 2:
        return constant_in(max_backward(g, out1, size=list(input.shape[-2:])), input)
    d, h, w = input.shape[-3:]
    found = max_backward(as_planes(g), as_planes(out1), size=[d * h, w])
    return constant_in(found.reshape(list(input.shape)), input)


def max_tangent(input_t: Any, out1: Any, output_size: Any) -> list[Any]:
    """The tangent of maxima, and none of their indices."""
    if len(output_size) == 2:
        return [max_pick(input_t, out1), None]
    return [max_pick(as_planes(input_t), as_planes(out1)).reshape(list(out1.shape)), None]


adaptive_max: Op = kernel(
    "adaptive_max_pool(Tensor input, *, int[] output_size) -> (Tensor output, const Tensor indices)",
    infer=_max_infer,
    impl=lambda xp, input, output_size: adaptive_maxima(xp, input, output_size),
    cost=lambda input, output_size: _cost(
        input.shape[-len(output_size) :],
        output_size,
        64 * max(numel(input.shape), numel([*input.shape[: -len(output_size)], *output_size])),
    ),
    vjp={"input": max_grad},
    jvp=max_tangent,
    node=lambda attrs: f"AdaptiveMaxPool{len(attrs['output_size'])}DBackward0",
    namespace="-",
    outside=True,
    doc="Maxima over a grid of `output_size` windows, and their flat indices; the first of ties.",
    raises=False,
)


def _max_pool(name: str, input: Any, output_size: Any, dims: int) -> tuple[Any, Any]:
    if dims > 1:
        wanted = _wanted(name, input, output_size, dims, ":")
        if len(wanted) != dims:
            raise RuntimeError(f"{name}(): internal error: output_size.size() must be {dims}")
        out, index = adaptive_max(input, output_size=wanted)
        return out, index
    if not isinstance(output_size, int) and len(output_size) != 1:
        raise RuntimeError(f"{name}() argument 'output_size' should contain one int (got {len(output_size)})")
    check_rows(name, input)
    _check(name, input, 1, ":")
    out, index = adaptive_max(input.unsqueeze(-2), output_size=[1, one(output_size)])
    return out.squeeze(-2), index.squeeze(-2)


_INDEXED = "(input, output_size, return_indices=False) -> tuple[Tensor, Tensor]"


def _declare(dims: int) -> Any:
    name = f"adaptive_max_pool{dims}d"

    def both(input: Any, output_size: Any) -> tuple[Any, Any]:
        return _max_pool(name, input, output_size, dims)

    # PyTorch casts volumes alone.
    cast = {"cpu": "float32"} if dims == 3 else {}
    alone = composite(
        f"{name}(Tensor input, any output_size) -> Tensor",
        body=lambda input, output_size: both(input, output_size)[0],
        namespace="-",
        outside=True,
        doc=f"Maxima of `output_size` windows (torch.nn.functional.{name}).",
        autocast=cast,
    )
    indexed = composite(
        f"{name}_indexed(Tensor input, any output_size) -> (Tensor output, const Tensor indices)",
        body=both,
        namespace="-",
        outside=True,
        doc=f"Maxima and their flat indices (torch.nn.functional.{name}, return_indices=True).",
        autocast=cast,
    )

    def pool(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        return (indexed if return_indices else alone)(input, output_size)

    def with_indices(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        return indexed(input, output_size)

    pool.__doc__ = f"See torch.nn.functional.{name}."
    pool.__name__ = pool.__qualname__ = name
    forms = ("(input, output_size)", "(input, output_size, return_indices=False) -> Any")
    with_indices.__doc__ = f"{pool.__doc__[:-1]}, with return_indices=True."
    public("nn.functional", name=f"{name}_with_indices", forms=_INDEXED)(with_indices)
    return public("nn.functional", name=name, forms=forms)(pool)


adaptive_max_pool1d = _declare(1)
adaptive_max_pool2d = _declare(2)
adaptive_max_pool3d = _declare(3)


# -- averages of volumes ---------------------------------------------------------------------------


def _avg_infer(input: Tensor | Meta, output_size: Sequence[int]) -> Meta:
    if len(output_size) != 3:
        raise RuntimeError("adaptive_avg_pool3d: output_size must be 3")
    if any(s < 0 for s in output_size):
        first, second, third = output_size
        raise RuntimeError(
            "adaptive_avg_pool3d: elements of output_size must be greater than or equal to 0 but received "
            f"{{{first}, {second},{third}}}"
        )
    _check("adaptive_avg_pool3d", input, 3, "")
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"adaptive_avg_pool3d_cpu\" not implemented for '{input.dtype.title}'")
    return Meta((*input.shape[:-3], *output_size), input.dtype)


def _avg_back_infer(grad: Tensor, size: Sequence[int]) -> Meta:
    shape = (*grad.shape[:-3], *size)
    if len(size) != 3 or _avg_infer(Meta(shape, grad.dtype), grad.shape[-3:]).shape != tuple(grad.shape):
        raise RuntimeError(
            f"adaptive_avg_pool3d_backward(): a gradient of shape {list(grad.shape)} is not that of averages "
            f"over {list(shape)}"
        )
    return Meta(shape, grad.dtype)


def _avg(xp: Any, input: Any, output_size: Sequence[int]) -> Any:
    each = zip(input.shape[-3:], output_size, strict=True)
    return resampled(xp, input, [adaptive_taps(n, m) for n, m in each])


def _avg_back(xp: Any, grad: Any, size: Sequence[int]) -> Any:
    each = zip(size, grad.shape[-3:], strict=True)
    return resampled(xp, grad, [transposed(adaptive_taps(n, m), n) for n, m in each])


averages: Op = kernel(
    "adaptive_avg_pool3d_windows(Tensor input, *, int[] output_size) -> Tensor",
    infer=_avg_infer,
    impl=_avg,
    cost=lambda input, output_size: _cost(
        input.shape[-3:], output_size, 16 * max(numel(input.shape), numel([*input.shape[:-3], *output_size]))
    ),
    vjp=lambda g, input: constant_in(averages_transposed(g, size=list(input.shape[-3:])), input),
    jvp=LINEAR,
    node="AdaptiveAvgPool3DBackward0",
    namespace="-",
    outside=True,
    doc="Averages over a grid of `output_size` windows of volumes.",
    raises=False,
)

averages_transposed: Op = kernel(
    "adaptive_avg_pool3d_backward(Tensor grad, *, int[] size) -> Tensor",
    infer=_avg_back_infer,
    impl=_avg_back,
    cost=lambda grad, size: _cost(
        size, grad.shape[-3:], 16 * max(numel(grad.shape), numel([*grad.shape[:-3], *size]))
    ),
    vjp=lambda g, grad_meta: averages(g, output_size=list(grad_meta.shape[-3:])),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="Spreads the gradient of window averages back into volumes of `size` [D, H, W].",
    raises=False,
)


def _avg_pool3d(input: Any, output_size: Any) -> Any:
    wanted = _wanted("adaptive_avg_pool3d", input, output_size, 3, "")
    if len(wanted) != 3:
        raise RuntimeError("adaptive_avg_pool3d: output_size must be 3")
    if wanted == [1, 1, 1] and numel(input.shape[-3:]):
        return input.mean([-1, -2, -3], True)
    return averages(input, output_size=wanted)


adaptive_avg_pool3d = composite(
    "adaptive_avg_pool3d(Tensor input, any output_size) -> Tensor",
    body=_avg_pool3d,
    namespace="nn.functional",
    doc="Averages over [D, H, W] to `output_size`; None keeps a size "
    "(torch.nn.functional.adaptive_avg_pool3d).",
    autocast={"cpu": "float32"},
)
