"""RMS norm: division by the root mean square over the last dimensions.

As in PyTorch, it is one node of a graph on a GPU, and those of its parts on a CPU.
Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.rms_norm.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import Joint, composite, kernel
from ...graph import cast_gradient
from ..elementwise import add, add_scalar, mul, sub
from ..shape import sum_to_size
from ..shared import image_strides, kept_format
from .layernorm import affine, check_normalized, statistic_dtype, trailing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op
    from ...tensor import Tensor

_EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}


def _check(name: str, input: Tensor, weight: Tensor | None, shape: Sequence[int]) -> Meta:
    """What the reciprocal root mean squares are; RuntimeError if the arguments do not fit."""
    check_normalized(input, shape, "", weight, None)
    if not input.dtype.is_floating_point or not (weight is None or weight.dtype is input.dtype):
        raise RuntimeError(f"{name}(): expected floating tensors of one dtype")
    lead = tuple(input.shape[: input.ndim - len(shape)])
    return Meta(lead + (1,) * len(shape), statistic_dtype(input.dtype))


def _infer(input: Tensor, weight: Tensor | None, normalized_shape: Sequence[int], eps: float) -> list[Meta]:
    kept = _check("native_rms_norm", input, weight, normalized_shape)
    return [Meta(tuple(input.shape), input.dtype, image_strides(input.shape, input)), kept]


def _impl(xp: Any, input: Any, weight: Any, normalized_shape: Sequence[int], eps: float) -> tuple[Any, Any]:
    axes = tuple(trailing(input.ndim, normalized_shape))
    count = 1
    for n in normalized_shape:
        count *= n
    rrms = 1 / xp.sqrt(xp.square(input).sum(axis=axes, keepdims=True) / max(count, 1) + eps)
    return affine(input * rrms, weight, None), rrms


def _backward_infer(
    grad: Tensor, input: Tensor, rrms: Tensor, weight: Tensor | None, wanted: Sequence[bool],
    normalized_shape: Sequence[int], eps: float,
) -> list[Meta]:  # fmt: skip
    name = "native_rms_norm_backward"
    kept = _check(name, input, weight, normalized_shape)
    if tuple(rrms.shape) != kept.shape or rrms.dtype is not kept.dtype:
        raise RuntimeError(
            f"{name}(): expected rrms to have shape {list(kept.shape)} and dtype {kept.dtype}, got "
            f"{list(rrms.shape)} and {rrms.dtype}"
        )
    if grad.shape != input.shape or not grad.dtype.is_floating_point:
        raise RuntimeError(
            f"{name}(): a gradient of shape {list(grad.shape)} is not that of {list(input.shape)}"
        )
    if len(wanted) != 2:
        raise RuntimeError(f"{name}(): expected two flags in wanted, got {len(wanted)}")
    shapes = tuple(input.shape), tuple(normalized_shape)
    return [Meta(s, input.dtype) for s, yes in zip(shapes, wanted, strict=True) if yes]


def _backward(
    xp: Any, grad: Any, input: Any, rrms: Any, weight: Any, wanted: Sequence[bool],
    normalized_shape: Sequence[int], eps: float,
) -> list[Any]:  # fmt: skip
    axes = tuple(trailing(input.ndim, normalized_shape))
    x = input * rrms
    found = []
    if wanted[0]:
        g = grad if weight is None else grad * weight
        count = max(input.size // max(rrms.size, 1), 1)
        found.append((g - x * ((g * x).sum(axis=axes, keepdims=True) / count)) * rrms)
    if wanted[1]:
        found.append((grad * x).sum(axis=tuple(range(input.ndim - len(axes)))))
    return found


def _recorded(input: Any, shape: Sequence[int], eps: float) -> tuple[Any, Any, list[int]]:
    """The input without its scale, the reciprocal of that, and the dimensions, in recorded ops."""
    axes = trailing(input.ndim, shape)
    rrms = add_scalar(mul(input, input).mean(axes, True), eps).rsqrt()
    return mul(input, rrms), rrms, axes


def _across(g: Any, x: Any, rrms: Any, axes: list[int]) -> Any:
    """The gradient, or the tangent, of input * rrms."""
    return mul(sub(g, mul(x, mul(g, x).mean(axes, True))), rrms)


def _backward_recorded(
    grad: Any, input: Any, rrms: Any, weight: Any, wanted: Sequence[bool], normalized_shape: Sequence[int],
    eps: float,
) -> tuple[Any, ...]:  # fmt: skip
    x, scale, axes = _recorded(input, normalized_shape, eps)
    found = []
    if wanted[0]:
        inner = grad if weight is None else mul(grad, weight)
        found.append(cast_gradient(_across(inner, x, scale, axes), input.dtype))
    if wanted[1]:
        found.append(cast_gradient(sum_to_size(mul(grad, x), list(normalized_shape)), input.dtype))
    return tuple(found)


_backward_op: Op = kernel(
    "native_rms_norm_backward(Tensor grad, Tensor input, Tensor rrms, Tensor? weight, *, bool[] wanted, "
    "int[] normalized_shape, float eps) -> Tensor[]",
    infer=_backward_infer,
    impl=_backward,
    composite=_backward_recorded,
    namespace="-",
    outside=True,
    doc="The `wanted` ones among the gradients of RMS norm for its input and weight.",
    raises="not of floats",
)


def _vjp(
    g: Any, input: Any, weight: Any, out1: Any, needs: Any, normalized_shape: Sequence[int], eps: float
) -> tuple[Any, ...]:
    wanted = [bool(n) for n in needs]
    found = iter(
        _backward_op(g, input, out1, weight, wanted=wanted, normalized_shape=list(normalized_shape), eps=eps)
    )
    return tuple(next(found) if n else None for n in wanted)


def _jvp(
    input: Any, input_t: Any, weight: Any, weight_t: Any, normalized_shape: Sequence[int], eps: float
) -> list[Any]:
    x, rrms, axes = _recorded(input, normalized_shape, eps)
    parts = []
    if input_t is not None:
        t = _across(input_t, x, rrms, axes)
        parts.append(t if weight is None else mul(t, weight))
    if weight_t is not None:
        parts.append(mul(x, weight_t))
    return [parts[0] if len(parts) == 1 else add(*parts), None]


_norm: Op = kernel(
    "native_rms_norm(Tensor input, Tensor? weight, *, int[] normalized_shape, float eps)"
    " -> (Tensor output, const Tensor rrms)",
    infer=_infer,
    impl=_impl,
    vjp=Joint("input weight", _vjp),
    jvp=_jvp,
    node="FusedRmsNormBackward0",
    namespace="-",
    outside=True,
    doc="RMS norm, with the reciprocal root mean squares it used.",
    raises=False,
)


def _rms(input: Any, weight: Any, normalized_shape: Sequence[int], eps: float | None) -> Any:
    if input.ndim < len(normalized_shape):
        raise ValueError(
            f"Input tensor must have at least {len(normalized_shape)} dimensions, but got {input.ndim}"
        )
    check_normalized(input, normalized_shape, "", weight, None)
    if input.dtype.category < dtypes.FLOAT:
        raise NotImplementedError(f"\"rms_norm\" not implemented for '{input.dtype.title}'")
    wide = input.float() if input.dtype.is_half else input
    if eps is None:
        eps = _EPSILON[dtypes.to_real(wide.dtype).name]
    if wide.dtype.is_complex or input.device.type != "cuda":
        mean = wide.pow(2).mean(trailing(input.ndim, normalized_shape), True)
        found = mul(wide, add_scalar(mean, eps).rsqrt())
    elif weight is not None and weight.dtype is wide.dtype is input.dtype:
        return _norm(wide, weight, normalized_shape=list(normalized_shape), eps=eps)[0]
    else:
        found = _norm(wide, None, normalized_shape=list(normalized_shape), eps=eps)[0]
    if wide is not input:
        found = found.type_as(input)
    return kept_format(found if weight is None else mul(found, weight))


composite(
    "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    body=_rms,
    namespace="nn.functional",
    doc="Divides by the root mean square over the last dimensions (torch.nn.functional.rms_norm).",
    autocast={"cuda": "float32"},
)
