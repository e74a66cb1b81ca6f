"""Flat images read at places: three ops, linear in each of their numbers and each other's derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel
from ...declare import kernel
from ...graph import TURN
from ...kernels import add_places, read_places, weigh_places
from ..shared import checked

if TYPE_CHECKING:
    from ...schema import Op
    from ...tensor import Tensor


def _check(name: str, at: Tensor, weight: Any, *images: Tensor) -> None:
    """Raise RuntimeError unless places, weights and images [N, C, ...] are of one batch."""
    given = [*images] if weight is None else [*images, weight]
    if at.dtype is not dtypes.int64 or any(t.dtype is not images[0].dtype for t in given):
        raise RuntimeError(f"{name}(): expected places of Long and numbers of one dtype")
    if not images[0].dtype.is_floating_point:
        raise NotImplementedError(f"\"{name}\" not implemented for '{images[0].dtype.title}'")
    fits = at.ndim == 3 and all(t.ndim == 3 and t.shape[0] == at.shape[0] for t in given)
    if not fits or (weight is not None and tuple(weight.shape) != tuple(at.shape)):
        shapes = [list(t.shape) for t in (*given, at)]
        raise RuntimeError(f"{name}(): {shapes} do not fit each other")


def _read_infer(input: Tensor, at: Tensor, weight: Tensor) -> Meta:
    _check("read_places", at, weight, input)
    return Meta(checked((*input.shape[:2], at.shape[2])), input.dtype)


def _add_infer(grad: Tensor, at: Tensor, weight: Tensor, size: int) -> Meta:
    _check("add_places", at, weight, grad)
    if size < 0 or grad.shape[2] != at.shape[2]:
        raise RuntimeError(f"add_places(): {list(grad.shape)} is not of {at.shape[2]} points, or size {size}")
    return Meta(checked((*grad.shape[:2], size)), grad.dtype)


def _weigh_infer(grad: Tensor, input: Tensor, at: Tensor) -> Meta:
    _check("weigh_places", at, None, grad, input)
    if grad.shape[1] != input.shape[1] or grad.shape[2] != at.shape[2]:
        raise RuntimeError(f"weigh_places(): {list(grad.shape)} does not fit {list(input.shape)}")
    return Meta(tuple(at.shape), grad.dtype)


def _cost(channels: int, at: Tensor, size: int) -> tuple[int, int]:
    """A step for each tap of each sample, and copies of its channels: of all samples, at most."""
    n, taps, points = at.shape
    return TURN * n * taps, 8 * n * channels * (size + 2 * points * taps) + 32 * numel(at.shape)


def _both(first: Any, second: Any) -> Any:
    return second if first is None else first if second is None else first + second


read: Op = kernel(
    "read_places(Tensor input, Tensor at, Tensor weight) -> Tensor",
    infer=_read_infer,
    impl=read_places,
    cost=lambda input, at, weight: _cost(input.shape[1], at, input.shape[2]),
    vjp={
        "input": lambda g, at, weight, input_meta: add(g, at, weight, size=input_meta.shape[2]),
        "weight": lambda g, input, at: weigh(g, input, at),
    },
    jvp=lambda input_t, weight_t, input, at, weight: _both(
        None if input_t is None else read(input_t, at, weight),
        None if weight_t is None else read(input, at, weight_t),
    ),
    namespace="-",
    outside=True,
    doc="Images [N, C, size] read at points: the sum of the elements `at` [N, taps, points] times `weight`.",
)

add: Op = kernel(
    "add_places(Tensor grad, Tensor at, Tensor weight, *, int size) -> Tensor",
    infer=_add_infer,
    impl=add_places,
    cost=lambda grad, at, weight, size: _cost(grad.shape[1], at, size),
    vjp={
        "grad": lambda g, at, weight: read(g, at, weight),
        "weight": lambda g, grad, at: weigh(grad, g, at),
    },
    jvp=lambda grad_t, weight_t, grad, at, weight, size: _both(
        None if grad_t is None else add(grad_t, at, weight, size=size),
        None if weight_t is None else add(grad, at, weight_t, size=size),
    ),
    namespace="-",
    outside=True,
    doc="Points [N, C, points] times the weights of their taps, added into images [N, C, size] `at` these.",
)

weigh: Op = kernel(
    "weigh_places(Tensor grad, Tensor input, Tensor at) -> Tensor",
    infer=_weigh_infer,
    impl=weigh_places,
    cost=lambda grad, input, at: _cost(input.shape[1], at, input.shape[2]),
    vjp={
        "grad": lambda g, input, at: read(input, at, g),
        "input": lambda g, grad, at, input_meta: add(grad, at, g, size=input_meta.shape[2]),
    },
    jvp=lambda grad_t, input_t, grad, input, at: _both(
        None if grad_t is None else weigh(grad_t, input, at),
        None if input_t is None else weigh(grad, input_t, at),
    ),
    namespace="-",
    outside=True,
    doc="For each tap the sum over channels of a point's `grad` times the image's element `at` the tap.",
)
