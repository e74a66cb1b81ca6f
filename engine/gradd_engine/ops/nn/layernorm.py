"""Layer norm and normalize, and helpers shared with RMS, batch and group norm.

All centre and scale over some dimensions. Backward uses two small ops over (input, mean, 1 / deviation); when
differentiated themselves, they recompute both, so higher orders are exact.
Source: https://pytorch.org/docs/stable/nn.functional.html#normalization-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import Joint, composite, kernel
from ...graph import cast_gradient
from ..elementwise import add, div, mul, sub
from ..shape import sum_to_size
from ..shared import contiguous_like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...data import DType
    from ...schema import Op
    from ...tensor import Tensor


def statistics(xp: Any, x: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
    """Mean, biased variance and 1 / sqrt(variance + eps) over `axes`, kept with size 1."""
    count = 1
    for a in axes:
        count *= x.shape[a]
    mean = x.sum(axis=axes, keepdims=True) / count
    variance = xp.square(x - mean).sum(axis=axes, keepdims=True) / count
    return mean, variance, 1 / xp.sqrt(variance + eps)


def _recorded(x: Any, dims: Sequence[int], eps: float) -> tuple[Any, Any]:
    """The standardised input and 1 / deviation, in recorded ops."""
    centred = sub(x, x.mean(list(dims), True))
    scale = add(mul(centred, centred).mean(list(dims), True), eps).rsqrt()
    return mul(centred, scale), scale


def check_statistics(
    name: str, input: Tensor, mean: Tensor, rstd: Tensor, dims: Sequence[int], grad: Tensor | None = None
) -> None:
    """Raise RuntimeError unless `mean` and `rstd` fit `input` over `dims` and `grad` has its shape."""
    over = {d % input.ndim for d in dims} if input.ndim else set()
    if len(over) != len(dims) or any(not -input.ndim <= d < input.ndim for d in dims):
        raise RuntimeError(f"{name}(): {list(dims)} are no dimensions of {list(input.shape)}")
    kept = tuple(1 if d in over else n for d, n in enumerate(input.shape))
    dtype = statistic_dtype(input.dtype)
    for what, t in (("mean", mean), ("rstd", rstd)):
        if tuple(t.shape) != kept or t.dtype is not dtype:
            raise RuntimeError(
                f"{name}(): expected {what} to have shape {list(kept)} and dtype {dtype}, got "
                f"{list(t.shape)} and {t.dtype}"
            )
    if not input.dtype.is_floating_point or (grad is not None and not grad.dtype.is_floating_point):
        raise RuntimeError(f"{name}(): expected floating tensors")
    if grad is not None and grad.shape != input.shape:
        raise RuntimeError(
            f"{name}(): a gradient of shape {list(grad.shape)} is not that of {list(input.shape)}"
        )


def _standardized_infer(input: Tensor, mean: Tensor, rstd: Tensor, dims: Sequence[int], eps: float) -> Meta:
    check_statistics("standardized", input, mean, rstd, dims)
    return contiguous_like(input)


def _standardize_backward_infer(
    grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, dims: Sequence[int], eps: float
) -> Meta:
    check_statistics("standardize_backward", input, mean, rstd, dims, grad)
    return Meta(tuple(input.shape), grad.dtype)


standardized: Op = kernel(
    "standardized(Tensor input, Tensor mean, Tensor rstd, *, int[] dims, float eps) -> Tensor",
    infer=_standardized_infer,
    impl=lambda xp, input, mean, rstd, dims, eps: (input - mean) * rstd,
    composite=lambda input, mean, rstd, dims, eps: _recorded(input, dims, eps)[0],
    namespace="-",
    outside=True,
    doc="(input - mean) * rstd, the input's own statistics over `dims`.",
    raises="not of floats",
)


def _standardize_grad(
    xp: Any, g: Any, input: Any, mean: Any, rstd: Any, dims: Sequence[int], eps: float
) -> Any:
    axes = tuple(dims)
    x = (input - mean) * rstd
    count = max(input.size // max(mean.size, 1), 1)
    middle = g.sum(axis=axes, keepdims=True) / count
    along = (g * x).sum(axis=axes, keepdims=True) / count
    return (g - middle - x * along) * rstd


def _standardize_grad_recorded(
    g: Any, input: Any, mean: Any, rstd: Any, dims: Sequence[int], eps: float
) -> Any:
    x, scale = _recorded(input, dims, eps)
    axes = list(dims)
    return mul(sub(sub(g, g.mean(axes, True)), mul(x, mul(g, x).mean(axes, True))), scale)


standardize_backward: Op = kernel(
    "standardize_backward(Tensor grad, Tensor input, Tensor mean, Tensor rstd, *, int[] dims, float eps)"
    " -> Tensor",
    infer=_standardize_backward_infer,
    impl=_standardize_grad,
    composite=_standardize_grad_recorded,
    namespace="-",
    outside=True,
    doc="The gradient of standardized(input) over `dims` for `input`.",
    raises="not of floats",
)


def standard_tangent(
    input: Any, input_t: Any, scale: Any, scale_t: Any, offset_t: Any, dims: Sequence[int], eps: float
) -> Any:
    """The tangent of standardized(input) * scale + offset, which broadcast against the input."""
    x, rstd = _recorded(input, dims, eps)
    axes = list(dims)
    parts = []
    if input_t is not None:
        t = mul(sub(sub(input_t, input_t.mean(axes, True)), mul(x, mul(input_t, x).mean(axes, True))), rstd)
        parts.append(t if scale is None else mul(t, scale))
    if scale_t is not None:
        parts.append(mul(x, scale_t))
    if offset_t is not None:
        parts.append(offset_t.expand(*input.shape))
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return total


def statistic_dtype(dtype: DType) -> DType:
    """The dtype of means and deviations: never 16-bit."""
    return dtypes.float32 if dtype.is_half else dtype


def affine(x: Any, weight: Any, bias: Any) -> Any:
    """x * weight + bias on arrays; either may be None."""
    if weight is not None:
        x = x * weight
    return x if bias is None else x + bias


# -- layer norm ------------------------------------------------------------------------------------


def check_normalized(
    input: Tensor, shape: Sequence[int], what: str, weight: Tensor | None, bias: Tensor | None
) -> None:
    """Raise RuntimeError unless `shape` is the input's last sizes, and that of weight and bias."""
    dims = list(shape)
    if not dims:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            f"but got normalized_shape = {dims}"
        )
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and list(t.shape) != dims:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(t.shape)} and normalized_shape = {dims}"
            )
    if list(input.shape[-len(dims) :]) != dims or input.ndim < len(dims):
        raise RuntimeError(
            f"Given normalized_shape={dims}, expected input with shape [*{what}{', '.join(map(str, dims))}], "
            f"but got input of size{list(input.shape)}"
        )


def check_mixed(input: Tensor, kernel: str, *others: Tensor | None) -> None:
    """Require floating input, and parameters of its dtype or, for 16 bits, float32."""
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.title}'")
    for t in others:
        if t is None or t.dtype is input.dtype:
            continue
        if t.dtype is not dtypes.float32:
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        if not input.dtype.is_half:
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def trailing(ndim: int, shape: Sequence[int]) -> list[int]:
    """The last dimensions, as many as `shape` has."""
    return list(range(ndim - len(shape), ndim))


def _layer_infer(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, normalized_shape: Sequence[int], eps: float
) -> list[Meta]:
    check_normalized(input, normalized_shape, ", ", weight, bias)
    check_mixed(input, "LayerNormKernelImpl", weight, bias)
    lead = tuple(input.shape[: input.ndim - len(normalized_shape)])
    kept = Meta(lead + (1,) * len(normalized_shape), statistic_dtype(input.dtype))
    return [Meta(tuple(input.shape), input.dtype), kept, kept]


def _layer(
    xp: Any, input: Any, weight: Any, bias: Any, normalized_shape: Sequence[int], eps: float
) -> tuple[Any, ...]:
    mean, _, rstd = statistics(xp, input, tuple(trailing(input.ndim, normalized_shape)), eps)
    return affine((input - mean) * rstd, weight, bias), mean, rstd


def _layer_backward_infer(
    grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, wanted: Sequence[bool],
    normalized_shape: Sequence[int], eps: float,
) -> list[Meta]:  # fmt: skip
    name, own = "native_layer_norm_backward", tuple(normalized_shape)
    if not own or tuple(input.shape[-len(own) :]) != own or len(own) > input.ndim:
        raise RuntimeError(f"{name}(): {list(own)} are not the last sizes of {list(input.shape)}")
    check_statistics(name, input, mean, rstd, trailing(input.ndim, own), grad)
    if weight is not None and tuple(weight.shape) != own:
        raise RuntimeError(f"{name}(): expected weight of shape {list(own)}, got {list(weight.shape)}")
    check_mixed(input, name, weight)
    if len(wanted) != 3:
        raise RuntimeError(f"{name}(): expected three flags in wanted, got {len(wanted)}")
    shapes = (tuple(input.shape), own, own)
    dtypes_of = (input.dtype, *[grad.dtype if weight is None else weight.dtype] * 2)
    return [Meta(s, d) for s, d, yes in zip(shapes, dtypes_of, wanted, strict=True) if yes]


def _layer_backward(
    xp: Any, grad: Any, input: Any, mean: Any, rstd: Any, weight: Any, wanted: Sequence[bool],
    normalized_shape: Sequence[int], eps: float,
) -> list[Any]:  # fmt: skip
    axes = tuple(trailing(input.ndim, normalized_shape))
    outer = tuple(range(input.ndim - len(axes)))
    x = (input - mean) * rstd
    found = []
    if wanted[0]:
        g = grad if weight is None else grad * weight
        count = max(input.size // max(mean.size, 1), 1)
        middle = g.sum(axis=axes, keepdims=True) / count
        along = (g * x).sum(axis=axes, keepdims=True) / count
        found.append((g - middle - x * along) * rstd)
    if wanted[1]:
        found.append((grad * x).sum(axis=outer))
    if wanted[2]:
        found.append(grad.sum(axis=outer))
    return found


def _layer_backward_recorded(
    grad: Any, input: Any, mean: Any, rstd: Any, weight: Any, wanted: Sequence[bool],
    normalized_shape: Sequence[int], eps: float,
) -> tuple[Any, ...]:  # fmt: skip
    how: dict[str, Any] = {"dims": trailing(input.ndim, normalized_shape), "eps": eps}
    shape = list(normalized_shape)
    found = []
    if wanted[0]:
        inner = grad if weight is None else mul(grad, weight)
        found.append(cast_gradient(standardize_backward(inner, input, mean, rstd, **how), input.dtype))
    for share in (
        *([mul(grad, standardized(input, mean, rstd, **how))] if wanted[1] else []),
        *([grad] if wanted[2] else []),
    ):
        total = sum_to_size(share, shape)
        found.append(cast_gradient(total, total.dtype if weight is None else weight.dtype))
    return tuple(found)


layer_backward: Op = kernel(
    "native_layer_norm_backward(Tensor grad, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, *, "
    "bool[] wanted, int[] normalized_shape, float eps) -> Tensor[]",
    infer=_layer_backward_infer,
    impl=_layer_backward,
    composite=_layer_backward_recorded,
    namespace="-",
    outside=True,
    doc="The `wanted` ones among the gradients of layer norm for its input, weight and bias.",
    raises="not of floats",
)


def _layer_grad(
    g: Any,
    input: Any,
    weight: Any,
    bias: Any,
    out1: Any,
    out2: Any,
    needs: Any,
    normalized_shape: Sequence[int],
    eps: float,
) -> tuple[Any, ...]:
    wanted = [bool(n) for n in needs]
    found = iter(
        layer_backward(
            g, input, out1, out2, weight, wanted=wanted, normalized_shape=list(normalized_shape), eps=eps
        )
    )
    return tuple(next(found) if n else None for n in wanted)


layer: Op = kernel(
    "native_layer_norm(Tensor input, Tensor? weight, Tensor? bias, *, int[] normalized_shape, float eps)"
    " -> (Tensor output, const Tensor mean, const Tensor rstd)",
    infer=_layer_infer,
    impl=_layer,
    vjp=Joint("input weight bias", _layer_grad),
    jvp=lambda input, input_t, weight, weight_t, bias, bias_t, normalized_shape, eps: [
        standard_tangent(
            input, input_t, weight, weight_t, bias_t, trailing(input.ndim, normalized_shape), eps
        ),
        None,
        None,
    ],
    namespace="-",
    outside=True,
    doc="Layer norm, with the means and reciprocal standard deviations it used.",
    raises=False,
)

composite(
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-5) -> Tensor",
    body=lambda input, weight, bias, normalized_shape, eps: layer(
        input, weight, bias, normalized_shape=list(normalized_shape), eps=eps
    )[0],
    namespace="nn.functional",
    doc="Normalises over the last dimensions (torch.nn.functional.layer_norm).",
    autocast={"cuda": "float32"},
)


# -- length ----------------------------------------------------------------------------------------

composite(
    "normalize(Tensor input, float p=2.0, int dim=1, float eps=1e-12) -> Tensor",
    body=lambda input, p, dim, eps: div(input, input.norm(p, dim, True).clamp_min(eps).expand(*input.shape)),
    out=True,
    namespace="nn.functional",
    doc="Vectors along `dim` divided by their p-norm, or by `eps` if larger (torch.nn.functional.normalize).",
)
