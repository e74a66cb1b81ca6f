"""Negative log likelihood of class indices, and cross entropy.

The class dimension is dimension 0 of a 1-D input, otherwise dimension 1; targets have the input's shape
without it.
Source: https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel, within
from ...declare import composite, kernel, public
from ..elementwise import add_scalar, div_scalar, mul_scalar
from ..shared import constant_in
from .layernorm import statistic_dtype
from .losses import reduction_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...schema import Op
    from ...tensor import Tensor


def _check_common(input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.title}")
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"nll_loss_out_frame\" not implemented for '{input.dtype.title}'")
    if weight is not None and weight.dtype is not input.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.title} but found {weight.dtype.title}")


def _metas(input: Tensor, shape: tuple[int, ...], reduction: str) -> list[Meta]:
    """The metas of the loss and of the summed weights, which are never 16-bit."""
    kept = Meta((), statistic_dtype(input.dtype))
    return [Meta(shape if reduction_of(reduction) == "none" else (), input.dtype), kept]


def _flat_infer(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int
) -> list[Meta]:
    if input.ndim not in (1, 2):
        raise RuntimeError("input tensor should be 1D or 2D")
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input.ndim == 1 and target.ndim == 1 and target.shape[0] != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target.shape[0]}")
    if input.ndim == 2 and tuple(target.shape) != tuple(input.shape[:1]):
        raise RuntimeError(f"size mismatch (got input: {list(input.shape)}, target: {list(target.shape)})")
    classes = input.shape[-1]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight "
            f"tensor of shape: {list(weight.shape)}"
        )
    _check_common(input, target, weight)
    return _metas(input, tuple(input.shape[:-1]), reduction)


def _spatial_infer(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int
) -> list[Meta]:
    if target.ndim != 3:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
            f"{target.ndim}"
        )
    if input.ndim != 4:
        raise RuntimeError(
            f"only batches of spatial inputs supported (4D tensors), but got input of dimension: {input.ndim}"
        )
    if weight is not None and tuple(weight.shape) != (input.shape[1],):
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    if (input.shape[0], *input.shape[2:]) != tuple(target.shape):
        raise RuntimeError(f"size mismatch (got input: {list(input.shape)} , target: {list(target.shape)}")
    _check_common(input, target, weight)
    return _metas(input, tuple(target.shape), reduction)


def _picked(
    xp: Any, classes: int, target: Any, weight: Any, ignore_index: int, dtype: Any
) -> tuple[Any, ...]:
    """Per target, flat: whether it counts, its class and weight (0 if ignored); IndexError out of range."""
    target = target.reshape(-1)
    keep = target != ignore_index
    index = xp.where(keep, target, 0).astype(xp.int64)
    within(index, 0, classes, IndexError, "Target {} is out of bounds.", "nll_loss")
    return keep, index, keep.astype(dtype) if weight is None else xp.where(keep, weight[index], 0)


def _nll(xp: Any, input: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> tuple[Any, Any]:
    axis = 0 if input.ndim == 1 else 1
    keep, index, weights = _picked(xp, input.shape[axis], target, weight, ignore_index, input.dtype)
    rows = xp.moveaxis(input, axis, -1).reshape(-1, input.shape[axis])
    losses = xp.where(keep, -rows[xp.arange(index.size), index] * weights, 0)
    total = weights.sum()
    if reduction == "none":
        return losses.reshape(input.shape[:axis] + input.shape[axis + 1 :]), total
    return losses.sum() / total if reduction == "mean" else losses.sum(), total


def _nll_grad(
    g: Any, input: Any, target: Any, weight: Any, out1: Any, reduction: str, ignore_index: int
) -> Any:
    found = nll_loss_backward(
        g, target, weight, out1, shape=list(input.shape), reduction=reduction, ignore_index=ignore_index
    )
    return constant_in(found, input)


def _nll_op(name: str, infer: Callable[..., list[Meta]], node: str) -> Op:
    def jvp(input_t: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> list[Any]:
        return [made(input_t, target, weight, reduction=reduction, ignore_index=ignore_index)[0], None]

    made = kernel(
        f"{name}(Tensor input, Tensor target, Tensor? weight, *, str reduction, int ignore_index)"
        " -> (Tensor output, const Tensor total_weight)",
        infer=infer,
        impl=_nll,
        vjp={"input": _nll_grad},
        jvp=jvp,
        node=node,
        namespace="-",
        outside=True,
        doc="The negative log likelihood, and the summed weights of targets that are not ignored.",
    )
    return made


nll_flat = _nll_op("nll_loss_flat", _flat_infer, "NllLossBackward0")
nll_spatial = _nll_op("nll_loss2d", _spatial_infer, "NllLoss2DBackward0")


def _nll_backward(
    xp: Any,
    g: Any,
    target: Any,
    weight: Any,
    total_weight: Any,
    shape: Sequence[int],
    reduction: str,
    ignore_index: int,
) -> Any:
    axis = 0 if len(shape) == 1 else 1
    classes = shape[axis]
    keep, index, weights = _picked(xp, classes, target, weight, ignore_index, g.dtype)
    each = g / total_weight if reduction == "mean" else g.reshape(-1) if reduction == "none" else g
    rows = xp.zeros((index.size, classes), g.dtype)
    rows[xp.arange(index.size), index] = xp.where(keep, -weights * each, 0)
    return xp.moveaxis(rows.reshape([*shape[:axis], *shape[axis + 1 :], classes]), -1, axis)


def _nll_backward_grad(
    g: Any, target: Any, weight: Any, shape: Sequence[int], reduction: str, ignore_index: int
) -> Any:
    forward = nll_spatial if len(shape) == 4 else nll_flat
    return forward(g, target, weight, reduction=reduction, ignore_index=ignore_index)[0]


def _nll_backward_infer(
    grad: Tensor,
    target: Tensor,
    weight: Tensor | None,
    total_weight: Tensor,
    shape: Sequence[int],
    reduction: str,
    ignore_index: int,
) -> Meta:
    size = tuple(shape)
    if len(size) not in (1, 2, 4) or min(size) < 0:
        raise RuntimeError(f"nll_loss_backward(): an input of shape {list(size)} has no loss")
    axis = 0 if len(size) == 1 else 1
    rows = (*size[:axis], *size[axis + 1 :])
    if target.numel() != numel(rows) or (rows and tuple(target.shape) != rows):
        raise RuntimeError(f"size mismatch (got input: {list(size)}, target: {list(target.shape)})")
    if weight is not None and tuple(weight.shape) != (size[axis],):
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    _check_common(grad, target, weight)
    reduction_of(reduction)
    if tuple(grad.shape) != (rows if reduction == "none" else ()):
        raise RuntimeError(
            f"nll_loss_backward(): a loss of {list(rows)} with reduction {reduction!r} has no gradient of "
            f"shape {list(grad.shape)}"
        )
    if total_weight.ndim or total_weight.dtype is not statistic_dtype(grad.dtype):
        raise RuntimeError("nll_loss_backward(): expected total_weight to be one element of grad's dtype")
    return Meta(size, grad.dtype)


nll_loss_backward: Op = kernel(
    "nll_loss_backward(Tensor grad, Tensor target, Tensor? weight, Tensor total_weight, *, int[] shape, "
    "str reduction, int ignore_index) -> Tensor",
    infer=_nll_backward_infer,
    impl=_nll_backward,
    vjp={"grad": _nll_backward_grad},
    jvp=lambda grad_t, target, weight, total_weight, shape, reduction, ignore_index: nll_loss_backward(
        grad_t, target, weight, total_weight, shape=shape, reduction=reduction, ignore_index=ignore_index
    ),
    namespace="-",
    outside=True,
    doc="The gradient of a negative log likelihood, for an input of `shape`.",
)


def _likelihood(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int
) -> tuple[Any, Any]:
    """The loss for any number of dimensions, and the summed weights."""
    if input.ndim < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {input.ndim})")
    if input.ndim != 1 and (not target.ndim or input.shape[0] != target.shape[0]):
        have = target.shape[0] if target.ndim else 0
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({have}).")
    if input.ndim in (1, 2):
        found: tuple[Any, Any] = nll_flat(
            input, target, weight, reduction=reduction, ignore_index=ignore_index
        )
        return found
    x: Any = input
    where: Any = target
    outer = tuple(input.shape[2:])
    if input.ndim != 4:
        if tuple(target.shape[1:]) != outer:
            want = [input.shape[0], *outer]
            raise RuntimeError(f"Expected target size {want}, got {list(target.shape)}")
        n, c = input.shape[:2]
        last = [1, -1] if input.numel() else [0, 0]
        x = x.contiguous().view(n, c, *last)
        where = where.contiguous().view(n, *last)
    loss, total = nll_spatial(x, where, weight, reduction=reduction, ignore_index=ignore_index)
    if input.ndim != 4 and reduction == "none":
        loss = loss.view(input.shape[0], *outer)
    return loss, total


_nll_loss = composite(
    "nll_loss(Tensor input, Tensor target, Tensor? weight=None, *, int ignore_index=-100, "
    "str reduction='mean') -> Tensor",
    body=lambda input, target, weight, ignore_index, reduction: _likelihood(
        input, target, weight, reduction_of(reduction), ignore_index
    )[0],
    namespace="nn.functional",
    doc="Negative log likelihood of class indices, given log probabilities (torch.nn.functional.nll_loss).",
    autocast="float32",
)


@public("nn.functional")
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """See torch.nn.functional.nll_loss."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def _cross_entropy(
    input: Any, target: Any, weight: Any, ignore_index: int, reduction: str, label_smoothing: float
) -> Any:
    reduction_of(reduction)
    if label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    axis = 0 if input.ndim == 1 else 1
    if tuple(input.shape) == tuple(target.shape):
        if not target.dtype.is_floating_point:
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {target.dtype.title}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _of_probabilities(input, target, weight, reduction, label_smoothing, axis)
    found = input.log_softmax(axis)
    loss, total = _likelihood(found, target, weight, reduction, ignore_index)
    if label_smoothing <= 0.0:
        return loss
    spread = (found if weight is None else found * _along(weight, axis, input.ndim)).sum(axis)
    smooth = (-spread).masked_fill(target.eq(ignore_index), 0.0)
    if reduction == "mean":
        smooth = smooth.sum() / total.type_as(smooth)
    elif reduction == "sum":
        smooth = smooth.sum()
    share = label_smoothing / input.shape[axis]
    return mul_scalar(loss, 1 - label_smoothing) + mul_scalar(smooth, share)


def _of_probabilities(
    input: Any, target: Any, weight: Any, reduction: str, label_smoothing: float, axis: int
) -> Any:
    classes = input.shape[axis]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes "
            f"but got weight tensor of shape: {list(weight.shape)}"
        )
    found = input.log_softmax(axis)
    if label_smoothing > 0.0:
        target = add_scalar(mul_scalar(target, 1 - label_smoothing), label_smoothing / classes)
    found = found * target
    if weight is not None:
        found = found * _along(weight, axis, input.ndim)
    if reduction == "none":
        return -found.sum(axis)
    if reduction == "sum":
        return -found.sum()
    return div_scalar(-found.sum(), input.numel() // classes if input.numel() else 0)


def _along(weight: Any, axis: int, ndim: int) -> Any:
    return weight.view(*[-1 if i == axis else 1 for i in range(ndim)])


_cross_entropy_op = composite(
    "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, *, int ignore_index=-100, "
    "str reduction='mean', float label_smoothing=0.0) -> Tensor",
    body=_cross_entropy,
    namespace="nn.functional",
    doc="Cross entropy between logits and class indices, or class probabilities of the input's shape "
    "(torch.nn.functional.cross_entropy).",
    autocast={"cpu": "float32"},
)


@public("nn.functional")
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """See torch.nn.functional.cross_entropy."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _cross_entropy_op(
        input, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )
