"""Max pooling over images [N, C, H, W] or [C, H, W]; 1-D forms are images of one row.

Source: https://pytorch.org/docs/stable/nn.functional.html#pooling-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel, preserved_strides
from ...declare import LINEAR, composite, kernel, public
from ...graph import TURN
from ...kernels import add_at, max_windows, out_shape, pick
from ..shared import constant_in, image_strides

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...schema import Op
    from ...tensor import Tensor


def two(value: Any, name: str, what: str) -> list[int]:
    """Height and width from a pair, or from one number for both."""
    found = [value] if isinstance(value, int) else list(value)
    if len(found) not in (1, 2):
        raise RuntimeError(f"{name}: {what} must either be a single int, or a tuple of two ints")
    return found * 2 if len(found) == 1 else found


def strides_of(value: Any, kernel: list[int], name: str) -> list[int]:
    """The strides; the kernel size if none are given."""
    if value is None or (not isinstance(value, int) and not len(value)):
        return kernel
    return two(value, name, "stride")


def check_numbers(
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    dims: int = 2,
) -> None:
    """Raise PyTorch's RuntimeError for numbers that describe no windows."""
    given = {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation}
    for name, numbers in given.items():
        if len(numbers) != dims:
            raise RuntimeError(f"{name} must be {dims} numbers, got {list(numbers)}")

    def each(letter: str, numbers: Sequence[int]) -> str:
        return " ".join(f"{letter}{d}: {n}" for d, n in zip("THW"[-dims:], numbers, strict=True))

    # in volumes PyTorch looks at strides first
    if dims == 2 and any(k <= 0 for k in kernel):
        raise RuntimeError(f"kernel size should be greater than zero, but got {each('k', kernel)}")
    if any(s == 0 for s in stride):
        raise RuntimeError("stride should not be zero")
    if any(k <= 0 for k in kernel):
        raise RuntimeError(f"kernel size should be greater than zero, but got {each('k', kernel)}")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"stride should be greater than zero, but got {each('d', stride)}")
    if any(d <= 0 for d in dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {each('dilation', dilation)}")
    for k, p, d in zip(kernel, padding, dilation, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > (d * (k - 1) + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and "
                f"dilation={d}"
            )


def check_windows(
    input: Tensor | Meta,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    dims: int = 2,
) -> None:
    """Raise PyTorch's RuntimeError if windows do not fit the images, or volumes where `dims` is 3."""
    check_numbers(kernel, stride, padding, dilation, dims)
    if input.ndim not in (dims + 1, dims + 2) or not numel(input.shape[-dims - 1 :]):
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(input.shape)}"
        )


def check_rows(name: str, input: Tensor) -> None:
    """Raise PyTorch's RuntimeError unless the input is rows [N, C, L] or [C, L]."""
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument #1 'self' "
            f"(while checking arguments for {name})"
        )


def check_rank(name: str, input: Tensor | Meta, dims: int, colon: str) -> None:
    """Raise PyTorch's RuntimeError unless the input has `dims` dimensions, channels, and perhaps a batch."""
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{colon} {list(input.shape)}"
        )


# -- maxima ----------------------------------------------------------------------------------------


def _max_infer(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> list[Meta]:
    if input.ndim not in (3, 4):
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
    check_windows(input, kernel_size, stride, padding, dilation)
    if input.dtype.category in (dtypes.BOOL, dtypes.COMPLEX):
        raise NotImplementedError(f"\"max_pool2d\" not implemented for '{input.dtype.title}'")
    shape = out_shape(input.shape, kernel_size, stride, padding, dilation, ceil_mode)
    strides = image_strides(shape, input)
    return [Meta(shape, input.dtype, strides), Meta(shape, dtypes.int64, strides)]


def _max(
    xp: Any,
    input: Any,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[Any, Any]:
    how = (kernel_size, stride, padding, dilation)
    shape = out_shape(input.shape, *how, ceil_mode)
    values, index = max_windows(xp, planes(input), shape[-2:], *how)
    return values.reshape(shape), index.reshape(shape)


def planes(x: Any) -> Any:
    """An array [..., H, W] as [planes, H, W]."""
    return x.reshape(numel(x.shape[:-2]), *x.shape[-2:])


def _check_places(name: str, images: Tensor, indices: Tensor, size: Sequence[int]) -> None:
    """Raise RuntimeError unless `indices` fit `images` as flat indices into planes of `size`."""
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(f"{name}(): expected indices to be Long, got {indices.dtype.title}")
    if len(size) != 2 or min(size) < 0:
        raise RuntimeError(f"{name}(): {list(size)} is no size of planes")
    if images.ndim < 2 or indices.ndim != images.ndim or indices.shape[:-2] != images.shape[:-2]:
        raise RuntimeError(
            f"{name}(): indices of shape {list(indices.shape)} do not fit images of shape "
            f"{list(images.shape)}"
        )


def as_planes(x: Any) -> Any:
    """A tensor of volumes [..., D, H, W] as one of planes [..., D * H, W], with the same flat indices."""
    return x.reshape([*x.shape[:-3], x.shape[-3] * x.shape[-2], x.shape[-1]])


def _pick_infer(input: Tensor, indices: Tensor) -> Meta:
    _check_places("max_pool2d_pick", input, indices, input.shape[-2:])
    return Meta(tuple(indices.shape), input.dtype, preserved_strides(indices))


def _max_backward_infer(grad: Tensor, indices: Tensor, size: Sequence[int]) -> Meta:
    _check_places("max_pool2d_backward", grad, indices, size)
    if indices.shape != grad.shape:
        raise RuntimeError(
            f"max_pool2d_backward(): indices of shape {list(indices.shape)} do not fit a gradient of shape "
            f"{list(grad.shape)}"
        )
    return Meta((*grad.shape[:-2], *size), grad.dtype)


def _pick(xp: Any, x: Any, index: Any) -> Any:
    return pick(xp, planes(x), planes(index)).reshape(index.shape)


max_pick: Op = kernel(
    "max_pool2d_pick(Tensor input, Tensor indices) -> Tensor",
    infer=_pick_infer,
    impl=_pick,
    vjp={"input": lambda g, input_meta, indices: max_backward(g, indices, size=list(input_meta.shape[-2:]))},
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="The elements of each plane [H, W] at flat `indices`.",
)


def _max_backward(xp: Any, grad: Any, indices: Any, size: Sequence[int]) -> Any:
    return add_at(xp, planes(grad), planes(indices), size).reshape(*grad.shape[:-2], *size)


max_backward: Op = kernel(
    "max_pool2d_backward(Tensor grad, Tensor indices, *, int[] size) -> Tensor",
    infer=_max_backward_infer,
    impl=_max_backward,
    vjp={"grad": lambda g, indices: max_pick(g, indices)},
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="A gradient added into planes of `size` [H, W] at flat `indices`.",
)

max_with_indices: Op = kernel(
    "max_pool2d_with_indices(Tensor input, int[] kernel_size, int[] stride, int[] padding, int[] dilation, "
    "bool ceil_mode) -> (Tensor output, const Tensor indices)",
    infer=_max_infer,
    impl=_max,
    # a number for each place of the window and of the plane, whatever the batch
    cost=lambda input, kernel_size, stride, padding, dilation, ceil_mode: (
        TURN * numel(kernel_size) + numel(input.shape[-2:]),
        32 * numel([n + 2 * p for n, p in zip(input.shape[-2:], padding, strict=True)]),
    ),
    vjp={
        "input": lambda g, input, out1: constant_in(max_backward(g, out1, size=list(input.shape[-2:])), input)
    },
    jvp=lambda input_t, out1: [max_pick(input_t, out1), None],
    node="MaxPool2DWithIndicesBackward0",
    namespace="-",
    outside=True,
    doc="Maxima over windows and their flat indices into each plane; the first of ties.",
    raises=False,
)


def _max_pool2d(
    input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Any, Any]:
    kernel = two(kernel_size, "max_pool2d", "kernel_size")
    return max_with_indices(  # type: ignore[no-any-return]
        input,
        kernel,
        strides_of(stride, kernel, "max_pool2d"),
        two(padding, "max_pool2d", "padding"),
        two(dilation, "max_pool2d", "dilation"),
        ceil_mode,
    )


def _max_pool1d(
    input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Any, Any]:
    if input.ndim not in (2, 3):
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(input.shape)}"
        )
    k, p, d = (one(v) for v in (kernel_size, padding, dilation))
    s = k if stride is None or stride == () or stride == [] else one(stride)
    if s <= 0:
        raise RuntimeError(f"max_pool1d() stride must be greater than zero, but got {s}")
    count = (input.shape[-1] + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)) // s + 1
    if input.numel() and k > 0 and 0 <= p <= k // 2 and d > 0 and count <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")
    out, index = max_with_indices(input.unsqueeze(-2), [1, k], [1, s], [0, p], [1, d], ceil_mode)
    return out.squeeze(-2), index.squeeze(-2)


def one(value: Any) -> int:
    """The number itself, or the only one in a sequence."""
    return value if isinstance(value, int) else int(value[0])


_MAX = "int[] kernel_size, int[]? stride=None, int[] padding=0, int[] dilation=1, bool ceil_mode=False"


def _declare(name: str, fn: Callable[..., tuple[Any, Any]]) -> tuple[Op, Op]:
    """Declare the op for maxima alone, and the one with indices."""
    alone = composite(
        f"{name}(Tensor input, {_MAX}) -> Tensor",
        body=lambda input, **how: fn(input, **how)[0],
        namespace="-",
        outside=True,
        doc=f"Maxima over windows (torch.nn.functional.{name}).",
    )
    both = composite(
        f"{name}_indexed(Tensor input, {_MAX}) -> (Tensor output, const Tensor indices)",
        body=fn,
        namespace="-",
        outside=True,
        doc=f"Maxima over windows and their flat indices (torch.nn.functional.{name}, return_indices=True).",
    )
    return alone, both


max2d, max2d_indices = _declare("max_pool2d", _max_pool2d)
max1d, max1d_indices = _declare("max_pool1d", _max_pool1d)

_WINDOW = "(input, kernel_size, stride=None, padding: int | Sequence[int] = 0, dilation=1, ceil_mode=False"
_WITH_INDICES = (f"{_WINDOW})", f"{_WINDOW}, return_indices=False) -> Any")


@public("nn.functional", forms=_WITH_INDICES)
def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """See torch.nn.functional.max_pool2d."""
    pool = max2d_indices if return_indices else max2d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


@public("nn.functional", forms=_WITH_INDICES)
def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """See torch.nn.functional.max_pool1d."""
    pool = max1d_indices if return_indices else max1d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


_INDEXED = f"{_WINDOW}, return_indices=False) -> tuple[Tensor, Tensor]"


def both_by_name(name: str, pool: Op) -> None:
    """Publish the form of max pooling that always gives indices, as PyTorch has it besides."""

    def indexed(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode)

    indexed.__doc__ = f"See torch.nn.functional.{name}, with return_indices=True."
    public("nn.functional", name=f"{name}_with_indices", forms=_INDEXED)(indexed)


both_by_name("max_pool1d", max1d_indices)
both_by_name("max_pool2d", max2d_indices)
