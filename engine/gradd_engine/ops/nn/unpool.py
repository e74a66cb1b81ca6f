"""Maxima put back where they were (max_unpool), and power-average pooling.

Source: https://pytorch.org/docs/stable/nn.functional.html#pooling-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel, within
from ...declare import LINEAR, kernel, public
from ...kernels import put_at
from ..elementwise import mul, neg, sign
from ..shared import checked, each_dim, image_strides
from .activations import relu
from .avgpool import avg_pool1d, avg_pool2d
from .pooling import as_planes, max1d, max2d, max_pick
from .volumes import avg_pool3d, max_pool3d

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op
    from ...tensor import Tensor


def _infer(input: Tensor, indices: Tensor, output_size: Sequence[int]) -> Meta:
    dims = len(output_size)
    if dims not in (2, 3):
        raise RuntimeError(f"max_unpool(): {list(output_size)} is no size of images or volumes")
    if indices.dtype is not dtypes.int64:
        got = f" but got: {indices.dtype.title}" if dims == 2 else ""
        raise RuntimeError(f"elements in indices should be type int64{got}")
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got a tensor "
            f"with {input.ndim} dimensions."
        )
    if tuple(indices.shape) != tuple(input.shape):
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got "
            f"indices tensor with shape: {list(indices.shape)}"
        )
    for i in range(1, input.ndim):
        if input.shape[i] == 0:
            raise RuntimeError(
                f"max_unpooling{dims}d_forward_out_cpu(): Expected input to have non-zero size for non-batch "
                f"dimensions, but got {list(input.shape)} with dimension {i} being empty."
            )
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"max_unpool{dims}d\" not implemented for '{input.dtype.title}'")
    shape = checked((*input.shape[:-dims], *output_size))
    return Meta(shape, input.dtype, image_strides(shape, input))


def _put(xp: Any, input: Any, indices: Any, output_size: Sequence[int]) -> Any:
    lead = input.shape[: -len(output_size)]
    whole = numel(output_size)
    size = "x".join(map(str, output_size))
    text = f"Found an invalid max index: {{}} (output volumes are of size {size})"
    within(indices, 0, whole, RuntimeError, text, "max_unpool")
    flat = numel(lead), numel(input.shape[len(lead) :])
    return put_at(xp, input.reshape(flat), indices.reshape(flat), output_size).reshape(*lead, *output_size)


def _picked(g: Any, indices: Any, output_size: Sequence[int]) -> Any:
    if len(output_size) == 2:
        return max_pick(g, indices)
    return max_pick(as_planes(g), as_planes(indices)).reshape(list(indices.shape))


unpool: Op = kernel(
    "max_unpool(Tensor input, Tensor indices, *, int[] output_size) -> Tensor",
    infer=_infer,
    impl=_put,
    vjp={"input": _picked},
    jvp=LINEAR,
    node=lambda attrs: f"MaxUnpool{len(attrs['output_size'])}DBackward0",
    namespace="-",
    outside=True,
    doc="Zeros of `output_size` in the last dimensions, with the input at flat `indices`.",
    autocast={"cpu": "float32"},
)


def _space(
    input: Any, kernel: list[int], stride: list[int], padding: list[int], output_size: Any
) -> list[int]:
    """The size asked for, or the least that the windows come from; ValueError in PyTorch's words."""
    dims = len(kernel)
    usual = [
        (n - 1) * s + k - 2 * p
        for n, s, k, p in zip(input.shape[-dims:], stride, kernel, padding, strict=True)
    ]
    if output_size is None:
        return usual
    found = list(output_size)
    if len(found) == dims + 2:
        found = found[2:]
    if len(found) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length "
            f"of '{len(found)}'"
        )
    for d, (n, default, s) in enumerate(zip(found, usual, stride, strict=True)):
        if not default - s < n < default + s:
            raise ValueError(
                f'invalid output_size "{tuple(output_size)}" (dim {d} must be between {default - s} and '
                f"{default + s})"
            )
    return found


def _unpool(
    dims: int, input: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Any:
    kernel, pad = each_dim(kernel_size, dims), each_dim(padding, dims)
    step = kernel if stride is None else each_dim(stride, dims)
    if len(kernel) != dims or len(pad) != dims or len(step) != dims:
        raise RuntimeError(
            f"max_unpool{dims}d: kernel_size, stride and padding are each a single int, or {dims} ints"
        )
    size = _space(input, kernel, step, pad, output_size)
    if dims > 1:
        return unpool(input, indices, output_size=size)
    return unpool(input.unsqueeze(-1), indices.unsqueeze(-1), output_size=[*size, 1]).squeeze(-1)


def _declare_unpool(dims: int) -> Any:
    name = f"max_unpool{dims}d"

    def pool(
        input: Any,
        indices: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Any:
        return _unpool(dims, input, indices, kernel_size, stride, padding, output_size)

    pool.__doc__ = "Maxima put back where they were, among zeros."
    pool.__name__ = pool.__qualname__ = name
    return public("nn.functional", name=name)(pool)


max_unpool1d = _declare_unpool(1)
max_unpool2d = _declare_unpool(2)
max_unpool3d = _declare_unpool(3)


# -- powers ----------------------------------------------------------------------------------------

_AVERAGES = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}
_MAXIMA: dict[int, Any] = {1: max1d, 2: max2d, 3: max_pool3d}


def _power(dims: int, input: Any, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool) -> Any:
    if norm_type in (float("inf"), -float("inf")):
        size = input.abs()
        if norm_type > 0:
            return _MAXIMA[dims](size, kernel_size, stride, 0, 1, ceil_mode)
        return neg(_MAXIMA[dims](neg(size), kernel_size, stride, 0, 1, ceil_mode))
    out = _AVERAGES[dims](input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    cells = numel(each_dim(kernel_size, dims))
    return mul(mul(sign(out), relu(out.abs())), cells).pow(1.0 / norm_type)


def _declare_power(dims: int) -> Any:
    name = f"lp_pool{dims}d"

    def pool(
        input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Any:
        return _power(dims, input, norm_type, kernel_size, stride, ceil_mode)

    pool.__doc__ = "Norms of order `norm_type` of windows."
    pool.__name__ = pool.__qualname__ = name
    return public("nn.functional", name=name)(pool)


lp_pool1d = _declare_power(1)
lp_pool2d = _declare_power(2)
lp_pool3d = _declare_power(3)
