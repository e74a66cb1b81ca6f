"""Batching rules for products, convolutions, pooling and normalisation."""

from __future__ import annotations

from typing import Any

from ..data import numel
from ..schema import named
from .mapped_call import MappedCall, by_sample, rule
from .rules import one_by_one

# -- products --------------------------------------------------------------------------------------


@rule("mm")
def _matrices(call: MappedCall) -> Any:
    a, b = call.inputs
    if b.mapped:
        return named.matmul(a.array, b.array)
    rows = named.reshape(call.front(a), [call.size * a.shape[0], a.shape[1]])
    return named.mm(rows, b.array)


@rule("bmm")
def _batches(call: MappedCall) -> Any:
    a, b = call.inputs
    return named.matmul(a.array, b.array)


@rule("mv")
def _matrix_vector(call: MappedCall) -> Any:
    a, v = call.inputs
    if not v.mapped:
        return named.matmul(a.array, v.array)
    if not a.mapped:
        return named.mm(v.array, named.t(a.array))
    return named.squeeze_dim(named.bmm(a.array, named.unsqueeze(v.array, 2)), 2)


@by_sample("dot")
def _dot(input: Any, tensor: Any) -> Any:
    return named.sum(named.mul(input, tensor))


@by_sample("vdot")
def _vdot(input: Any, other: Any) -> Any:
    return named.sum(named.mul(named.conj_physical(input), other))


def _sum(input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """``beta * input + alpha * product``; `input` is ignored if beta is 0, even if nan."""
    scaled = product if alpha == 1 else named.mul(product, alpha)
    if beta == 0:
        return scaled
    return named.add(input if beta == 1 else named.mul(input, beta), scaled)


@by_sample("addmm", "addmv", "baddbmm", "addr")
def _added(input: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
    if a.ndim == 1:
        product = named.mul(named.unsqueeze(a, 1), named.unsqueeze(b, 0))
    else:
        product = (named.mv if b.ndim == 1 else named.mm if a.ndim == 2 else named.bmm)(a, b)
    return _sum(input, product, beta, alpha)


# -- convolutions ----------------------------------------------------------------------------------


def _merged(p: Any, dim: int) -> Any:
    """The batch dimension 0, moved before a sample's dimension `dim` and merged with it."""
    moved = named.movedim(p, [0], [dim])
    shape = list(moved.shape)
    return named.reshape(moved, [*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2 :]])


def _parted(p: Any, dim: int, size: int) -> Any:
    """The inverse of `_merged`."""
    shape = list(p.shape)
    found = named.reshape(p, [*shape[:dim], size, shape[dim] // max(size, 1), *shape[dim + 1 :]])
    return named.movedim(found, [dim], [0])


@rule("convolution", "convolution_transpose")
def _convolution(call: MappedCall) -> Any:
    input, weight, bias = call.inputs
    if not call.size:
        return one_by_one(call)
    if not weight.mapped:
        found = call.below([_merged(call.front(input), 0), weight.array, None])
        found = _parted(found, 0, call.size)
    else:
        # One group of channels per sample, each with its own weight.
        found = call.below(
            [_merged(call.front(input), 1), _merged(weight.array, 0), None],
            groups=call.attrs["groups"] * call.size,
        )
        found = _parted(found, 1, call.size)
    if bias is None:
        return found
    lead = [call.size] if bias.mapped else [1]
    return named.add(found, named.view(bias.array, [*lead, 1, *bias.shape, *[1] * (found.ndim - 3)]))


@rule("convolution_weight")
def _convolution_weight(call: MappedCall) -> Any:
    grad, input = call.inputs
    if not call.size:
        return one_by_one(call)
    found = call.below(
        [_merged(call.front(grad), 1), _merged(call.front(input), 1)],
        groups=call.attrs["groups"] * call.size,
    )
    return _parted(found, 0, call.size)


# -- images ----------------------------------------------------------------------------------------


@rule(
    "max_pool2d_with_indices", "max_pool2d_pick", "max_pool2d_backward", "avg_pool2d_windows",
    "adaptive_avg_pool2d_windows", "upsample_nearest", "upsample_nearest_backward",
)  # fmt: skip
def _images(call: MappedCall) -> Any:
    """The samples' images (or channels), concatenated."""
    return call.below([_merged(call.front(t), 0) for t in call.inputs])


@rule("avg_pool2d_backward", "adaptive_avg_pool2d_backward")
def _images_back(call: MappedCall) -> Any:
    return call.below([_merged(call.front(t), 0) for t in call.inputs])


# -- normalisation ---------------------------------------------------------------------------------

_UNBATCHED_STATISTICS = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated "
    "in place, were not batched.\nIf you are using a module and do not need eval mode, please set "
    "`track_running_stats` to be False.\nIf you are using a prebuilt module and do not need eval mode, "
    "please see the functorch website for resources on how to patch your module to work with vmap"
)


def _affine(x: Any, weight: Any, bias: Any, dim: int) -> Any:
    """``x * weight + bias``, both starting at dimension `dim` of `x`."""
    for fn, t in ((named.mul, weight), (named.add, bias)):
        if t is not None:
            x = fn(x, named.view(t, [*t.shape, *[1] * (x.ndim - dim - t.ndim)]))
    return x


@rule("native_layer_norm")
def _layer_norm(call: MappedCall) -> Any:
    input, weight, bias = call.inputs
    if not any(t is not None and t.mapped for t in (weight, bias)):
        return call.below([call.front(input), call.physical(weight), call.physical(bias)])

    def norm(input: Any, weight: Any, bias: Any, **how: Any) -> Any:
        x, mean, rstd = named.native_layer_norm(input, None, None, **how)
        return _affine(x, weight, bias, input.ndim - len(how["normalized_shape"])), mean, rstd

    return call.composed(norm)


@rule("native_rms_norm")
def _rms_norm(call: MappedCall) -> Any:
    input, weight = call.inputs
    if weight is None or not weight.mapped:
        return call.below([call.front(input), call.physical(weight)])

    def norm(input: Any, weight: Any, **how: Any) -> Any:
        x, rrms = named.native_rms_norm(input, None, **how)
        return _affine(x, weight, None, input.ndim - len(how["normalized_shape"])), rrms

    return call.composed(norm)


@rule("native_group_norm")
def _group_norm(call: MappedCall) -> Any:
    input, weight, bias = call.inputs
    if not any(t is not None and t.mapped for t in (weight, bias)):
        return call.below([_merged(call.front(input), 0), call.physical(weight), call.physical(bias)])

    def norm(input: Any, weight: Any, bias: Any, **how: Any) -> Any:
        x, mean, rstd = named.native_group_norm(input, None, None, **how)
        return _affine(x, weight, bias, 1), mean, rstd

    return call.composed(norm)


@rule("native_batch_norm")
def _batch_norm(call: MappedCall) -> Any:
    input, weight, bias, *running = call.inputs
    moved = [t for t in running if t is not None]
    if any(t.mapped for t in (input, *moved)) and not all(t.mapped for t in moved):
        raise RuntimeError(_UNBATCHED_STATISTICS)
    if any(t.mapped for t in moved):
        return one_by_one(call)
    if weight is not None or bias is not None:

        def norm(input: Any, weight: Any, bias: Any, *running: Any, **how: Any) -> Any:
            x, mean, rstd = named.native_batch_norm(input, None, None, *running, **how)
            return _affine(x, weight, bias, 1), mean, rstd

        return call.composed(norm)
    found, mean, rstd = call.below([_merged(call.front(input), 1), None, None, None, None])
    stats = [named.reshape(t, [call.size, numel(t.shape) // max(call.size, 1)]) for t in (mean, rstd)]
    return _parted(found, 1, call.size), *stats


@by_sample("batch_norm_eval")
def _batch_norm_eval(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, eps: float
) -> Any:
    scale = named.rsqrt(named.add(running_var, eps))
    ones = [1] * (input.ndim - 2)
    x = named.sub(input, named.view(running_mean, [*running_mean.shape, *ones]))
    x = named.mul(x, named.view(scale, [*scale.shape, *ones]))
    return _affine(x, weight, bias, 1)
