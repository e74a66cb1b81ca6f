"""The gradients of batch and group norm, all in one op: the sums that they share are made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, numel
from ...declare import kernel
from ...graph import cast_gradient
from ..elementwise import mul
from ..shape import sum_to_size
from .layernorm import check_mixed, check_statistics, standardize_backward, standardized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op
    from ...tensor import Tensor


def along(t: Any, ndim: int) -> Any:
    """A vector, tensor or array, along dimension 1 of `ndim`; None stays None."""
    return None if t is None else t.reshape((1, -1) + (1,) * (ndim - 2))


def of_channels(g: Any) -> Any:
    """The sum over all dimensions except 1."""
    c = g.shape[1]
    return sum_to_size(g, [1, c] + [1] * (g.ndim - 2)).reshape(c)


def over(ndim: int) -> tuple[int, ...]:
    """All dimensions except 1."""
    return (0, *range(2, ndim))


def grouped(input: Any, groups: int) -> Any:
    """The input as [N, groups, rest]; as it is with 0 groups, which stands for batch norm."""
    if not groups:
        return input
    n = input.shape[0]
    return input.reshape((n, groups, numel(input.shape) // max(n * groups, 1)))


def _dims(ndim: int, groups: int) -> list[int]:
    return [2] if groups else list(over(ndim))


def _infer(
    grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, wanted: Sequence[bool],
    groups: int, eps: float,
) -> list[Meta]:  # fmt: skip
    name = "channel_norm_backward"
    shape = tuple(input.shape)
    if len(shape) < 2 or groups < 0 or (groups and shape[1] % groups):
        raise RuntimeError(f"{name}(): {groups} groups do not fit an input of shape {list(shape)}")
    if len(wanted) != 3:
        raise RuntimeError(f"{name}(): expected three flags in wanted, got {len(wanted)}")
    if weight is not None and tuple(weight.shape) != (shape[1],):
        raise RuntimeError(f"{name}(): expected weight of shape {[shape[1]]}, got {list(weight.shape)}")
    if tuple(grad.shape) != shape:
        raise RuntimeError(f"{name}(): a gradient of shape {list(grad.shape)} is not that of {list(shape)}")
    check_mixed(input, name, weight)
    rest = numel(shape) // max(shape[0] * groups, 1)
    seen: Any = Meta((shape[0], groups, rest), input.dtype) if groups else input
    check_statistics(name, seen, mean, rstd, _dims(len(shape), groups))
    kept = (shape[1],)
    dtypes_of = (input.dtype, *[grad.dtype if weight is None else weight.dtype] * 2)
    return [Meta(s, d) for s, d, yes in zip((shape, kept, kept), dtypes_of, wanted, strict=True) if yes]


def _plain(
    xp: Any, grad: Any, input: Any, mean: Any, rstd: Any, weight: Any, wanted: Sequence[bool], groups: int,
    eps: float,
) -> list[Any]:  # fmt: skip
    axes = tuple(_dims(input.ndim, groups))
    x = (grouped(input, groups) - mean) * rstd
    found = []
    if wanted[0]:
        g = grouped(grad if weight is None else grad * along(weight, input.ndim), groups)
        count = max(input.size // max(mean.size, 1), 1)
        middle = g.sum(axis=axes, keepdims=True) / count
        part = (g * x).sum(axis=axes, keepdims=True) / count
        found.append(((g - middle - x * part) * rstd).reshape(input.shape))
    if wanted[1]:
        found.append((grad * x.reshape(input.shape)).sum(axis=over(input.ndim)))
    if wanted[2]:
        found.append(grad.sum(axis=over(input.ndim)))
    return found


def _recorded(
    grad: Any, input: Any, mean: Any, rstd: Any, weight: Any, wanted: Sequence[bool], groups: int, eps: float
) -> tuple[Any, ...]:
    how: dict[str, Any] = {"dims": _dims(input.ndim, groups), "eps": eps}
    x = grouped(input, groups)
    found = []
    if wanted[0]:
        inner = grad if weight is None else mul(grad, along(weight, grad.ndim))
        moved = standardize_backward(grouped(inner, groups), x, mean, rstd, **how)
        found.append(cast_gradient(moved.reshape(tuple(input.shape)), input.dtype))
    shares = []
    if wanted[1]:
        shares.append(mul(grad, standardized(x, mean, rstd, **how).reshape(tuple(input.shape))))
    if wanted[2]:
        shares.append(grad)
    for share in shares:
        total = of_channels(share)
        found.append(cast_gradient(total, total.dtype if weight is None else weight.dtype))
    return tuple(found)


channel_norm_backward: Op = kernel(
    "channel_norm_backward(Tensor grad, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, *, "
    "bool[] wanted, int groups, float eps) -> Tensor[]",
    infer=_infer,
    impl=_plain,
    composite=_recorded,
    namespace="-",
    outside=True,
    doc="The `wanted` ones among the gradients of group norm, or with 0 groups of batch norm, for its input, "
    "weight and bias.",
    raises="not of floats",
)


def gradients(
    g: Any, input: Any, weight: Any, mean: Any, rstd: Any, needs: Any, groups: int, eps: float
) -> tuple[Any, ...]:
    """The needed gradients for input, weight and bias; None for the others."""
    wanted = [bool(n) for n in needs]
    found = iter(channel_norm_backward(g, input, mean, rstd, weight, wanted=wanted, groups=groups, eps=eps))
    return tuple(next(found) if n else None for n in wanted)
