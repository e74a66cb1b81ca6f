"""Losses between an input and a target of the same shape, and helpers for all losses.

Source: https://pytorch.org/docs/stable/nn.functional.html#loss-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, broadcast_shapes, dtypes, numel, warn
from ...declare import Joint, composite, elementwise, kernel, public
from ..elementwise import div, mul, neg, sub, where
from ..shared import broadcast, pointwise_meta

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...data import DType
    from ...schema import Op
    from ...tensor import Tensor


def reduction_of(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> str:
    """The checked reduction; legacy flags take precedence, and older names stand for newer ones, with
    PyTorch's warnings.
    """
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        return "mean"
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def reduced(loss: Any, reduction: str) -> Any:
    """A tensor of losses, averaged, summed or unchanged."""
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def _reduced_meta(inputs: tuple[Any, ...], reduction: str, dtype: DType) -> Meta:
    meta = pointwise_meta(inputs, dtype, dtype)
    return meta if reduction == "none" else Meta((), dtype, compute=dtype)


def _reduce(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    return loss.sum() / loss.size if reduction == "mean" else loss.sum()


def _each(g: Any, of: Any, reduction: str) -> Any:
    """The gradient of each element's loss; no division by zero for an empty mean."""
    return div(g, max(of.numel(), 1)) if reduction == "mean" else g


# -- of the difference -----------------------------------------------------------------------------


def _promoting(kernel_name: str, real: bool = False) -> Callable[..., Meta]:
    def infer(input: Tensor, target: Tensor, reduction: str, **_: Any) -> Meta:
        dtype = dtypes.result_type((input, target))
        if dtype.category < dtypes.FLOAT or (real and dtype.is_complex):
            raise NotImplementedError(f"\"{kernel_name}\" not implemented for '{dtype.title}'")
        return _reduced_meta((input, target), reduction, dtype)

    return infer


def _pair(slope: Any, g: Any, needs: Any, reduction: str) -> tuple[Any, Any]:
    """The gradients of input and target, from the derivative by their difference."""
    found = mul(slope, _each(g, slope, reduction))
    return found if needs[0] else None, neg(found) if needs[1] else None


def _tangent(slope: Any, input_t: Any, target_t: Any, reduction: str) -> Any:
    moved = input_t if target_t is None else neg(target_t) if input_t is None else sub(input_t, target_t)
    return reduced(mul(slope, moved), reduction)


def _mse_slope(input: Any, target: Any) -> Any:
    return mul(sub(input, target), 2.0)


mse_loss_backward: Op = elementwise(
    "mse_loss_backward(Tensor grad_output, Tensor input, Tensor target) -> Tensor",
    infer=lambda grad_output, input, target: broadcast(grad_output, input, target),
    impl=lambda xp, g, input, target: (input - target) * input.dtype.type(2) * g,
    composite=lambda grad_output, input, target: mul(_mse_slope(input, target), grad_output),
    namespace="-",
    outside=True,
    doc="The gradient of a squared difference for its input.",
    raises="not of floats",
)


def _mse_pair(g: Any, input: Any, target: Any, needs: Any, reduction: str) -> tuple[Any, Any]:
    if reduction == "mean":
        g = div(g, max(numel(broadcast_shapes(input.shape, target.shape)), 1))
    found = mse_loss_backward(g, input, target)
    return found if needs[0] else None, neg(found) if needs[1] else None


mse: Op = kernel(
    "mse_loss(Tensor input, Tensor target, *, str reduction='mean') -> Tensor",
    infer=_promoting("mse_cpu", real=True),
    impl=lambda xp, input, target, reduction: _reduce(xp.square(input - target), reduction),
    vjp=Joint(
        "input target",
        lambda g, input, target, needs, reduction: _mse_pair(g, input, target, needs, reduction),
    ),
    jvp=lambda input_t, target_t, input, target, reduction: _tangent(
        _mse_slope(input, target), input_t, target_t, reduction
    ),
    namespace="-",
    outside=True,
    doc="The squared difference (torch.nn.functional.mse_loss).",
    raises=False,
    autocast="float32",
)


def _smooth(xp: Any, input: Any, target: Any, reduction: str, beta: float) -> Any:
    z = xp.abs(input - target)
    return _reduce(xp.where(z < beta, z * z * 0.5 / beta, z - 0.5 * beta), reduction)


def _smooth_slope(input: Any, target: Any, beta: float) -> Any:
    error = sub(input, target)
    return _held(error, div(error, beta), beta, 1.0)


def _held(error: Any, inner: Any, joint: float, bound: float) -> Any:
    """`inner` for |error| below the joint, otherwise plus or minus `bound`, at the joint too."""
    return where(error <= -joint, -bound, where(error >= joint, bound, inner))


def _huber_slope(input: Any, target: Any, delta: float) -> Any:
    error = sub(input, target)
    return _held(error, error, delta, delta)


smooth_l1: Op = kernel(
    "smooth_l1_loss(Tensor input, Tensor target, *, str reduction='mean', float beta=1.0) -> Tensor",
    infer=_promoting("smooth_l1_cpu"),
    impl=_smooth,
    vjp=Joint(
        "input target",
        lambda g, input, target, needs, reduction, beta: _pair(
            _smooth_slope(input, target, beta), g, needs, reduction
        ),
    ),
    jvp=lambda input_t, target_t, input, target, reduction, beta: _tangent(
        _smooth_slope(input, target, beta), input_t, target_t, reduction
    ),
    node="SmoothL1LossBackward0",
    namespace="-",
    outside=True,
    doc="Squared below `beta`, absolute above (torch.nn.functional.smooth_l1_loss); `beta` is positive.",
    raises=False,
    autocast="float32",
)


def _huber(xp: Any, input: Any, target: Any, reduction: str, delta: float) -> Any:
    z = xp.abs(input - target)
    return _reduce(xp.where(z <= delta, z * z * 0.5, (z - 0.5 * delta) * delta), reduction)


huber: Op = kernel(
    "huber_loss(Tensor input, Tensor target, *, str reduction='mean', float delta=1.0) -> Tensor",
    infer=_promoting("huber_cpu"),
    impl=_huber,
    vjp=Joint(
        "input target",
        lambda g, input, target, needs, reduction, delta: _pair(
            _huber_slope(input, target, delta), g, needs, reduction
        ),
    ),
    jvp=lambda input_t, target_t, input, target, reduction, delta: _tangent(
        _huber_slope(input, target, delta), input_t, target_t, reduction
    ),
    namespace="-",
    outside=True,
    doc="Half the squared error below `delta`, linear above (torch.nn.functional.huber_loss).",
    raises=False,
    autocast="float32",
)

l1: Op = composite(
    "l1_loss(Tensor input, Tensor target, *, str reduction='mean') -> Tensor",
    body=lambda input, target, reduction: reduced(sub(input, target).abs(), reduction_of(reduction)),
    namespace="-",
    outside=True,
    doc="The absolute difference (torch.nn.functional.l1_loss).",
    autocast="float32",
)


def _alike(input: Any, target: Any) -> tuple[Any, Any]:
    """Both broadcast to one shape, with PyTorch's warning if they differed."""
    if tuple(input.shape) == tuple(target.shape):
        return input, target
    warn(
        f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This "
        "will likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
    )
    from ...data import broadcast_shapes

    shape = broadcast_shapes(tuple(input.shape), tuple(target.shape))
    a, b = (x if tuple(x.shape) == shape else x.expand(*shape) for x in (input, target))
    return a, b


def _check_weight(input: Any, weight: Any) -> None:
    if tuple(weight.shape) != tuple(input.shape):
        raise ValueError("Weights and input must have the same size.")


def _weighted(losses: Any, weight: Any, reduction: str) -> Any:
    losses = mul(losses, weight)
    return div(losses.sum(), weight.sum()) if reduction == "mean" else reduced(losses, reduction)


def _distance(
    plain: Op, size: Callable[[Any], Any], input: Any, target: Any, weight: Any, reduction: str
) -> Any:
    """`plain` of input and target; with weights, the weighted `size` of their difference."""
    a, b = _alike(input, target)
    if weight is None:
        return plain(a, b, reduction=reduction)
    _check_weight(input, weight)
    return _weighted(size(sub(a, b)), weight, reduction)


@public("nn.functional")
def mse_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """See torch.nn.functional.mse_loss."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _distance(mse, lambda error: error.pow(2), input, target, weight, reduction)


@public("nn.functional")
def l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """See torch.nn.functional.l1_loss."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _distance(l1, lambda error: error.abs(), input, target, weight, reduction)


@public("nn.functional")
def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """See torch.nn.functional.smooth_l1_loss."""
    a, b = _alike(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return l1(a, b, reduction=reduction) if beta == 0 else smooth_l1(a, b, reduction=reduction, beta=beta)


@public("nn.functional")
def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """See torch.nn.functional.huber_loss."""
    a, b = _alike(input, target)
    reduction = reduction_of(reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return huber(a, b, reduction=reduction, delta=delta)
    _check_weight(input, weight)
    return reduced(mul(huber(a, b, reduction="none", delta=delta), weight), reduction)
