"""Fractional max pooling: windows whose places along each dimension are drawn, for images and volumes.

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool2d.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel, wrap_dim
from ...declare import composite, kernel, public
from ...graph import TURN
from ...kernels import fractional_maxima
from ...schema import named
from ..shared import checked, zeros
from .adaptive import max_grad, max_tangent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op
    from ...tensor import Tensor

_SPACE = ("time", "height", "width")


def _check_samples(input: Tensor, samples: Tensor, dims: int) -> None:
    """Raise PyTorch's RuntimeError unless there is a number for each plane and dimension."""
    if samples.dtype is not input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    batch = input.shape[0] if input.ndim == dims + 2 else 1
    if samples.shape[0] < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != input.shape[-dims - 1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != dims:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {dims}; got {samples.shape[2]}.")


def _infer(
    input: Tensor, samples: Tensor, kernel_size: Sequence[int], output_size: Sequence[int]
) -> list[Meta]:
    dims = len(kernel_size)
    if dims not in (2, 3) or len(output_size) != dims:
        raise RuntimeError(f"fractional_max_pool(): {list(kernel_size)} and {list(output_size)} are no sizes")
    name, out = f"fractional_max_pool{dims}d", "_out" * (dims == 3)
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}{out}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(input.shape)}"
        )
    for i in range(1, input.ndim):
        if input.shape[i] == 0:
            raise RuntimeError(
                f"{name}{out}(): Expected input to have non-zero size for non-batch dimensions, but got"
                f"{list(input.shape)} with dimension {i} being empty."
            )
    sizes = list(zip(_SPACE[-dims:], kernel_size, output_size, input.shape[-dims:], strict=True))
    # in volumes PyTorch looks at the width before the height
    for what, k, many, n in sizes if dims == 2 else (sizes[0], sizes[2], sizes[1]):
        # in volumes PyTorch asks for one element more
        if many + k - 1 + (dims == 3) > n or k < 1 or many < 1:
            raise RuntimeError(f"{name}{out}(): pool {what} {k} too large relative to input {what} {n}")
    _check_samples(input, samples, dims)
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"{name}_out_frame\" not implemented for '{input.dtype.title}'")
    shape = checked((*input.shape[:-dims], *output_size))
    return [Meta(shape, input.dtype), Meta(shape, dtypes.int64)]


fractional: Op = kernel(
    "fractional_max_pool(Tensor input, Tensor samples, *, int[] kernel_size, int[] output_size) "
    "-> (Tensor output, const Tensor indices)",
    infer=_infer,
    impl=lambda xp, input, samples, kernel_size, output_size: fractional_maxima(
        xp, input, samples, kernel_size, output_size
    ),
    # for each place of the window a number and an index for each result
    cost=lambda input, samples, kernel_size, output_size: (
        TURN * numel(kernel_size),
        48 * numel([*input.shape[: -len(output_size)], *output_size]),
    ),
    vjp={"input": max_grad},
    jvp=max_tangent,
    node=lambda attrs: f"FractionalMaxPool{len(attrs['output_size'])}DBackward0",
    namespace="-",
    outside=True,
    doc="Maxima over `output_size` windows and their flat indices; `samples` [N, C, dimensions], from 0 to "
    "1, say where the windows of each plane are.",
    raises=False,
)


def _drawn(input: Any, samples: Any, kernel_size: Any, output_size: Any) -> tuple[Any, Any]:
    if samples is None:
        dims = len(kernel_size)
        batch = 1 if input.ndim == dims + 1 else input.shape[0]
        samples = named.rand_like(zeros([batch, input.shape[-dims - 1], dims], dtype=input.dtype))
    out, index = fractional(input, samples, kernel_size=kernel_size, output_size=output_size)
    return out, index


_drawn_op: Op = composite(
    "fractional_max_pool_drawn(Tensor input, Tensor? samples, *, int[] kernel_size, int[] output_size) "
    "-> (Tensor output, const Tensor indices)",
    body=_drawn,
    namespace="-",
    outside=True,
    doc="Maxima over `output_size` windows at drawn places, and their flat indices.",
)


def _sizes(value: Any, dims: int, name: str, what: str) -> list[int]:
    found = [value] * dims if isinstance(value, int) else list(value)
    if len(found) != dims:
        raise RuntimeError(f"{name}: {what} must either be a single Int or tuple of Ints")
    return found


def _pool(
    dims: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any
) -> tuple[Any, Any]:
    name = f"fractional_max_pool{dims}d"
    wrap_dim(-dims - 1, input.ndim)  # raises where there is no such dimension
    if output_size is None:
        if output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        ratios = list(output_ratio) if hasattr(output_ratio, "__len__") else [output_ratio] * dims
        if dims == 2 and len(ratios) > dims:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        output_size = [int(n * r) for n, r in zip(input.shape[-dims:], ratios, strict=True)]
    out, index = _drawn_op(
        input,
        samples,
        kernel_size=_sizes(kernel_size, dims, name, "kernel_size"),
        output_size=_sizes(output_size, dims, name, "output_size"),
    )
    return out, index


def _declare(dims: int) -> None:
    name = f"fractional_max_pool{dims}d"
    given = (
        "(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, "
        "_random_samples=None)"
    )

    def indexed(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        return _pool(dims, input, kernel_size, output_size, output_ratio, _random_samples)

    def pool(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        found = _pool(dims, input, kernel_size, output_size, output_ratio, _random_samples)
        return found if return_indices else found[0]

    what = "The greatest in windows at places that are drawn, or that `_random_samples` in [0, 1) say"
    pool.__doc__ = f"{what}; with `return_indices` a pair."
    indexed.__doc__ = f"{what}, and where they are."
    public("nn.functional", name=name, forms=f"{given} -> Any")(pool)
    public("nn.functional", name=f"{name}_with_indices", forms=f"{given} -> tuple[Tensor, Tensor]")(indexed)


for _dims in (2, 3):
    _declare(_dims)
