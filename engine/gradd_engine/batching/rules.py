"""Batching rules: an op on samples, in terms of tensors that hold the batch in dimension 0.

A rule gets the `MappedCall` and returns physical tensors, one per output. Without a rule, the declaration
decides: element-wise ops broadcast, fused ops run their composite, and all others run sample by sample.
Source: https://pytorch.org/docs/stable/func.batch_norm.html and related pages; observed results of torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data import numel, wrap_dim
from ..schema import named
from ..tensor import Tensor, detached
from .mapped_call import RULES, MappedCall, by_sample, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def apply_rule(call: MappedCall) -> list[Any]:
    """The physical outputs of a call whose samples differ."""
    op = call.op
    found = RULES.get(op.name)
    if found is None:
        found = elementwise if op.elementwise else _composed if op.composite else one_by_one
    return call.outputs(found(call))


def _composed(call: MappedCall) -> Any:
    assert call.op.composite is not None
    return call.composed(call.op.composite)


def one_by_one(call: MappedCall) -> Any:
    """Run any op sample by sample and stack the results. Correct, but as slow as a loop."""
    if not call.size:
        with call.ambient():
            rows = [named.zeros([0, *m.shape], dtype=m.dtype) for m in call.metas]
        return rows if call.op.many else rows[0]
    found = [call.outputs(call.below([call.sample(x, i) for x in call.inputs])) for i in range(call.size)]
    stacked = [named.stack(list(each)) for each in zip(*found, strict=True)]
    return stacked if call.op.many else stacked[0]


# -- element by element ----------------------------------------------------------------------------


def elementwise(call: MappedCall) -> Any:
    """Broadcast operands, with each sample's dimensions at the end."""
    ndim = max(t.ndim for t in call.tensors)
    return call.below([call.padded(x, ndim) for x in call.inputs])


@rule("masked_fill")
def _masked_fill(call: MappedCall) -> Any:
    input, _, value = call.inputs
    if not isinstance(value, Tensor):
        return elementwise(call)
    cast = value if value.dtype is input.dtype else named.to_copy(value, input.dtype)
    return call.composed(lambda input, mask, _: named.where(mask, detached(cast), input))


@by_sample("copy")
def _copy(input: Any, src: Any) -> Any:
    found = named.expand(src, list(input.shape))
    return found if found.dtype is input.dtype else named.to_copy(found, input.dtype)


@rule("fill", "assign")
def _fill(call: MappedCall) -> Any:
    return call.composed(_copy) if isinstance(call.inputs[1], Tensor) else elementwise(call)


@rule("to_layout")
def _to_layout(call: MappedCall) -> Any:
    (t,) = call.inputs
    return call.below([call.front(t)], strides=[numel(t.shape), *call.attrs["strides"]])


@rule(
    "mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"
)  # fmt: skip
def _loss(call: MappedCall) -> Any:
    if call.attrs["reduction"] == "none":
        input, target, *weights = call.inputs
        if not weights:
            return elementwise(call)
        return call.below(
            [call.front(input), call.front(target), *(call.padded(w, input.ndim) for w in weights)]
        )
    reduce = named.mean if call.attrs["reduction"] == "mean" else named.sum
    how = {**call.attrs, "reduction": "none"}
    return call.composed(lambda *inputs, **_: reduce(call.op.run(inputs, how)))


# -- over dimensions -------------------------------------------------------------------------------


def _over(call: MappedCall, dims: str = "dim") -> tuple[Any, int]:
    """The first input with the batch in front and one more dimension at least, and a sample's dimensions."""
    t = call.inputs[0]
    p = call.front(t)
    return (p, t.ndim) if t.ndim else (named.view(p, [call.size, 1]), 1)


@rule(
    "sum", "nansum", "mean", "all", "any", "count_nonzero", "vector_norm", "var", "std", "var_mean",
    "std_mean", "amax", "amin", "logsumexp",
)  # fmt: skip
def _over_many(call: MappedCall) -> Any:
    p, ndim = _over(call)
    dims = call.attrs["dim"]
    if not dims and dims != 0:
        dims = range(ndim)
    elif isinstance(dims, int):
        dims = (dims,)
    return call.below([p], dim=[wrap_dim(d, ndim) + 1 for d in dims])


@rule("flip")
def _flip(call: MappedCall) -> Any:
    p, ndim = _over(call)
    return call.below([p], dims=[wrap_dim(d, ndim) + 1 for d in call.attrs["dims"]])


@rule(
    "prod", "argmax", "argmin", "aminmax", "max_dim", "min_dim", "median_dim", "nanmedian_dim", "cumsum",
    "cumprod", "cumsum_back", "softmax_kernel", "log_softmax_kernel", "glu", "sort", "topk", "kthvalue",
    "shift",
)  # fmt: skip
def _over_one(call: MappedCall) -> Any:
    p, ndim = _over(call)
    dim = call.attrs["dim"]
    if dim is None:
        return call.below([named.reshape(p, [call.size, numel(call.inputs[0].shape)])], dim=1)
    return call.below([p], dim=wrap_dim(dim, ndim) + 1)


@rule("itself")
def _itself(call: MappedCall) -> Any:
    """A mask that depends on geometry only."""
    one = call.below([call.sample(x, 0) for x in call.inputs] if call.size else call.nothing())
    return named.expand(one, [call.size, *one.shape])


def _over_all(name: str, along: Callable[[Any], Any]) -> None:
    @rule(name)
    def _all(call: MappedCall) -> Any:
        if call.inputs[0].array.requires_grad:
            # Their gradients treat ties and nan differently from the forms along a dimension.
            return one_by_one(call)
        return along(named.reshape(call.front(call.inputs[0]), [call.size, numel(call.inputs[0].shape)]))


_over_all("max_all", lambda flat: named.amax(flat, [1]))
_over_all("min_all", lambda flat: named.amin(flat, [1]))
_over_all("median_all", lambda flat: named.median_dim(flat, 1)[0])
_over_all("nanmedian_all", lambda flat: named.nanmedian_dim(flat, 1)[0])


@rule("pick")
def _pick(call: MappedCall) -> Any:
    input, index = call.inputs
    if not input.ndim:
        return call.front(input)
    return call.below([call.front(input), call.front(index)], dim=wrap_dim(call.attrs["dim"], input.ndim) + 1)


@rule("softmax_backward", "log_softmax_backward", "glu_backward", "recurrence", "prod_others")
def _together(call: MappedCall) -> Any:
    """All operands, batched, along one dimension."""
    ndim = max(t.ndim for t in call.tensors) or 1
    given = [call.front(t) for t in call.inputs]
    given = [named.view(p, [call.size, 1]) if p.ndim == 1 else p for p in given]
    return call.below(given, dim=wrap_dim(call.attrs["dim"], ndim) + 1)


@rule("sum_to_size")
def _sum_to_size(call: MappedCall) -> Any:
    (t,), size = call.inputs, call.attrs["size"]
    lead = t.ndim - len(size)
    dims = [d for d in range(t.ndim) if d < lead or (size[d - lead] == 1 and t.shape[d] != 1)]
    p = call.front(t)
    return named.sum(p, [d + 1 for d in dims]) if dims else named.clone(p)


@rule("roll")
def _roll(call: MappedCall) -> Any:
    (t,), dims = call.inputs, call.attrs["dims"]
    if not dims:
        return call.below([named.reshape(call.front(t), [call.size, numel(t.shape)])], dims=[1])
    return call.below([call.front(t)], dims=[wrap_dim(d, t.ndim) + 1 for d in dims])


# -- shapes ----------------------------------------------------------------------------------------


@rule("tril", "triu", "safe_softmax", "constant_pad_nd", "one_hot_rows")
def _trailing(call: MappedCall) -> Any:
    """Ops that count dimensions from the last: a leading batch dimension changes nothing."""
    return call.below([call.front(x) for x in call.inputs])


@rule("fft_c2c", "fft_r2c", "fft_c2r")
def _over_dims(call: MappedCall) -> Any:
    (t,) = call.inputs
    return call.below([call.front(t)], dim=[wrap_dim(d, t.ndim) + 1 for d in call.attrs["dim"]])


@rule("trace")
def _trace(call: MappedCall) -> Any:
    return named.sum(named.diagonal(call.front(call.inputs[0]), 0, 1, 2), [1])


@rule("diagonal_copy")
def _diagonal_copy(call: MappedCall) -> Any:
    (t,) = call.inputs
    return call.below([call.front(t)], **_shifted(call.attrs, t.ndim, "dim1", "dim2"))


@rule("diag_embed")
def _diag_embed(call: MappedCall) -> Any:
    (t,) = call.inputs
    return call.below([call.front(t)], **_shifted(call.attrs, t.ndim + 1, "dim1", "dim2"))


@rule("diagonal_backward")
def _diagonal_backward(call: MappedCall) -> Any:
    (g,), size = call.inputs, call.attrs["size"]
    dims = _shifted(call.attrs, len(size), "dim1", "dim2")
    return call.below([call.front(g)], size=[call.size, *size], **dims)


@rule("select_backward", "slice_backward")
def _into_zeros(call: MappedCall) -> Any:
    (g,), size = call.inputs, call.attrs["size"]
    dims = _shifted(call.attrs, len(size), "dim")
    return call.below([call.front(g)], size=[call.size, *size], **dims)


def _shifted(attrs: dict[str, Any], ndim: int, *names: str) -> dict[str, int]:
    """Dimensions of a sample as dimensions of the batch."""
    return {n: wrap_dim(attrs[n], ndim) + 1 for n in names}


@rule("as_strided_backward")
def _as_strided_backward(call: MappedCall) -> Any:
    (g,), a = call.inputs, call.attrs
    offset = a["offset"]
    if not call.size or not numel(a["shape"]) or not numel(a["size"]):
        return one_by_one(call)
    # Far enough apart that samples do not overlap.
    reach = max(_last(a["shape"], a["strides"]), offset + _last(a["size"], a["stride"])) + 1 - min(0, offset)
    return call.below(
        [call.front(g)],
        shape=[call.size, *a["shape"]],
        strides=[reach, *a["strides"]],
        size=[call.size, *a["size"]],
        stride=[reach, *a["stride"]],
        offset=offset,
    )


def _last(shape: Sequence[int], strides: Sequence[int]) -> int:
    """The offset of the last element from the first."""
    return sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


@rule("as_strided_scatter")
def _as_strided_scatter(call: MappedCall) -> Any:
    (t, src), attrs = call.inputs, call.attrs
    p = call.front(t)
    span = max(numel(t.shape), 1)
    if p.strides[0] != span:
        p = named.to_layout(p, [span, *t.strides])
    return call.below(
        [p, call.front(src)],
        size=[call.size, *attrs["size"]],
        stride=[span, *attrs["stride"]],
        storage_offset=attrs["storage_offset"],
    )


@rule("cat")
def _cat(call: MappedCall) -> Any:
    tensors = call.inputs[0]
    kept = [t for t in tensors if tuple(t.shape) != (0,)] or tensors
    return named.cat([call.front(t) for t in kept], wrap_dim(call.attrs["dim"], kept[0].ndim) + 1)


@rule("stack")
def _stack(call: MappedCall) -> Any:
    tensors = call.inputs[0]
    return named.stack([call.front(t) for t in tensors], wrap_dim(call.attrs["dim"], tensors[0].ndim + 1) + 1)


@rule("repeat")
def _repeat(call: MappedCall) -> Any:
    (t,), repeats = call.inputs, call.attrs["repeats"]
    lead = len(repeats) - t.ndim
    p = call.front(t)
    p = named.view(p, [call.size, *[1] * lead, *t.shape]) if lead else p
    return call.below([p], repeats=[1, *repeats])
