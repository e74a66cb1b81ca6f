"""Batching rules: what an op on samples is on tensors that hold the whole batch in dimension 0.

A rule gets the `Call` and gives physical tensors, one an output. What has no rule of its own follows from the
declaration: element-wise ops broadcast, fused ops run their composite, and the rest runs sample by sample.
Source: https://pytorch.org/docs/stable/func.batch_norm.html and its neighbours; observed results of torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..layout import Meta, is_dense, numel, wrap_dim
from ..registry import named
from ..schema import ELEMENTWISE
from ..state import ambient
from ..tensor import Tensor, detached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..backends.batched import BatchedBackend
    from ..op import Op

    RuleFn = Callable[["Call"], Any]

#: rules by the op's name
RULES: dict[str, RuleFn] = {}


def rule(*names: str) -> Callable[[RuleFn], RuleFn]:
    """Register a function of a `Call` that gives the physical outputs: a tensor, or one an output."""

    def register(fn: RuleFn) -> RuleFn:
        RULES.update(dict.fromkeys(names, fn))
        return fn

    return register


def by_sample(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of a sample that says `names` in other ops: ``fn(*inputs, **attributes)``."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        RULES.update(dict.fromkeys(names, lambda call: call.composed(fn)))
        return fn

    return register


class Call:
    """One op on tensors of a level: ``inputs`` are that level's, ``metas`` the outputs of a sample."""

    __slots__ = ("attrs", "inputs", "level", "mapped", "metas", "op", "tensors")

    def __init__(
        self,
        level: BatchedBackend,
        op: Op,
        metas: tuple[Meta, ...],
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
    ) -> None:
        self.level, self.op, self.metas, self.inputs, self.attrs = level, op, metas, inputs, attrs
        self.tensors = list(_flat(inputs))
        #: whether samples differ
        self.mapped = any(t.mapped for t in self.tensors)

    @property
    def size(self) -> int:
        """How many samples there are."""
        return self.level.size

    def ambient(self) -> ambient:
        """Where ops run that make something from nothing: below the level."""
        return self.level.beneath()

    def below(self, inputs: Sequence[Any], **changes: Any) -> Any:
        """Run the op on physical tensors, with its attributes but for `changes`."""
        with self.ambient():
            return self.op.run(tuple(inputs), {**self.attrs, **changes} if changes else self.attrs)

    def outputs(self, found: Any) -> list[Any]:
        """The outputs of a call of the op as a list."""
        return list(found) if self.op.many else [found]

    def physical(self, x: Any) -> Any:
        """Physical tensors in the place of this level's, as they are."""
        if isinstance(x, Tensor):
            return x.array
        return [self.physical(e) for e in x] if type(x) is list or type(x) is tuple else x

    def front(self, x: Any) -> Any:
        """The physical tensor with the batch as dimension 0, also where samples do not differ."""
        if isinstance(x, Tensor):
            return self.level.front(x)
        return [self.front(e) for e in x] if type(x) is list or type(x) is tuple else x

    def padded(self, x: Any, ndim: int) -> Any:
        """The physical tensor of something that broadcasts with samples of `ndim` dimensions."""
        if not isinstance(x, Tensor):
            return x
        lead = ndim - x.ndim
        if not x.mapped or lead <= 0:  # type: ignore[attr-defined]
            return x.array
        return named.view(x.array, [self.size, *[1] * lead, *x.shape])

    def sample(self, x: Any, i: int) -> Any:
        """What sample `i` has in the place of `x`."""
        if isinstance(x, Tensor):
            return named.select(x.array, 0, i) if x.mapped else x.array  # type: ignore[attr-defined]
        return [self.sample(e, i) for e in x] if type(x) is list or type(x) is tuple else x

    def nothing(self) -> list[Any]:
        """Inputs of a sample where there is none: zeros."""

        def zero(x: Any) -> Any:
            if isinstance(x, Tensor):
                with self.ambient():
                    return named.zeros(list(x.shape), dtype=x.dtype)
            return [zero(e) for e in x] if type(x) is list or type(x) is tuple else x

        return [zero(x) for x in self.inputs]

    def composed(self, fn: Callable[..., Any]) -> Any:
        """The physical results of a function of samples, run on this level without its history."""
        with ambient(backend=self.level, vmaps=(*self.level.outer, self.level)):
            found = fn(*[_bare(x) for x in self.inputs], **self.attrs)
        return [self.front(o) for o in found] if self.op.many else self.front(found)

    def fitted(self, p: Any, meta: Meta) -> Any:
        """A physical result in the shape and dtype that a sample's must have; a sample's memory has no gaps
        and is its own, so that its views can be written to.
        """
        shape = (self.size, *meta.shape)
        if tuple(p.shape) != shape:
            p = named.reshape(p, list(shape))
        if p.dtype is not meta.dtype:
            p = named.to_copy(p, meta.dtype)
        if is_dense(meta.shape, p.strides[1:]) and (p.strides[0] or self.size < 2):
            return p
        return named.to_layout(p, [max(numel(meta.shape), 1), *meta.strides])


def _flat(inputs: Any) -> Iterator[Any]:
    for x in inputs:
        if isinstance(x, Tensor):
            yield x
        elif type(x) is list or type(x) is tuple:
            yield from _flat(x)


def _bare(x: Any) -> Any:
    if isinstance(x, Tensor):
        return detached(x)
    return [_bare(e) for e in x] if type(x) is list or type(x) is tuple else x


def apply_rule(call: Call) -> list[Any]:
    """The physical outputs of a call whose samples differ."""
    op = call.op
    found = RULES.get(op.name)
    if found is None:
        found = elementwise if op.jvp == ELEMENTWISE else _composed if op.composite else one_by_one
    return call.outputs(found(call))


def _composed(call: Call) -> Any:
    assert call.op.composite is not None
    return call.composed(call.op.composite)


def one_by_one(call: Call) -> Any:
    """Any op: sample by sample, the results stacked. Correct, and as slow as a loop."""
    if not call.size:
        with call.ambient():
            rows = [named.zeros([0, *m.shape], dtype=m.dtype) for m in call.metas]
        return rows if call.op.many else rows[0]
    found = [call.outputs(call.below([call.sample(x, i) for x in call.inputs])) for i in range(call.size)]
    stacked = [named.stack(list(each)) for each in zip(*found, strict=True)]
    return stacked if call.op.many else stacked[0]


# -- element by element ----------------------------------------------------------------------------


@rule(
    "neg", "deg2rad", "rad2deg", "sgn", "conj_physical", "real", "from_real", "clone", "contiguous_copy",
    "to_copy", "zeros_like", "ones_like", "empty_like", "full_like", "eq", "ne", "lt", "le", "gt", "ge",
    "isnan", "isinf", "isfinite", "isreal", "isposinf", "isneginf", "signbit", "logical_and", "logical_or",
    "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not",
    "bitwise_left_shift", "bitwise_right_shift", "floor_divide", "isclose", "zero", "tanh_backward",
    "sigmoid_backward", "silu_backward", "gelu_backward",
)  # fmt: skip
def elementwise(call: Call) -> Any:
    """Operands broadcast: each sample's dimensions stay at the end."""
    ndim = max(t.ndim for t in call.tensors)
    return call.below([call.padded(x, ndim) for x in call.inputs])


@rule("masked_fill")
def _masked_fill(call: Call) -> Any:
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
def _fill(call: Call) -> Any:
    return call.composed(_copy) if isinstance(call.inputs[1], Tensor) else elementwise(call)


@rule("to_layout")
def _to_layout(call: Call) -> Any:
    (t,) = call.inputs
    return call.below([call.front(t)], strides=[numel(t.shape), *call.attrs["strides"]])


@rule(
    "mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"
)  # fmt: skip
def _loss(call: Call) -> Any:
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


def _over(call: Call, dims: str = "dim") -> tuple[Any, int]:
    """The first input with the batch in front and at least one dimension more, and how many a sample has."""
    t = call.inputs[0]
    p = call.front(t)
    return (p, t.ndim) if t.ndim else (named.view(p, [call.size, 1]), 1)


@rule(
    "sum", "nansum", "mean", "all", "any", "count_nonzero", "vector_norm", "var", "std", "var_mean",
    "std_mean", "amax", "amin", "logsumexp", "flip",
)  # fmt: skip
def _over_many(call: Call) -> Any:
    p, ndim = _over(call)
    name = "dims" if call.op.name == "flip" else "dim"
    dims = call.attrs[name]
    if not dims and dims != 0:
        dims = range(ndim) if call.op.name != "flip" else ()
    elif isinstance(dims, int):
        dims = (dims,)
    return call.below([p], **{name: [wrap_dim(d, ndim) + 1 for d in dims]})


@rule(
    "prod", "argmax", "argmin", "aminmax", "max_dim", "min_dim", "median_dim", "nanmedian_dim", "cumsum",
    "cumprod", "cumsum_back", "softmax_kernel", "log_softmax_kernel", "glu", "sort", "topk", "kthvalue",
    "shift",
)  # fmt: skip
def _over_one(call: Call) -> Any:
    p, ndim = _over(call)
    dim = call.attrs["dim"]
    if dim is None:
        return call.below([named.reshape(p, [call.size, numel(call.inputs[0].shape)])], dim=1)
    return call.below([p], dim=wrap_dim(dim, ndim) + 1)


@rule("itself")
def _itself(call: Call) -> Any:
    """A mask that geometry alone decides."""
    one = call.below([call.sample(x, 0) for x in call.inputs] if call.size else call.nothing())
    return named.expand(one, [call.size, *one.shape])


@rule("max_all", "min_all", "median_all", "nanmedian_all")
def _over_all(call: Call) -> Any:
    if call.inputs[0].array.requires_grad:
        # Their gradients treat ties and NaN in another way than those along a dimension.
        return one_by_one(call)
    flat = named.reshape(call.front(call.inputs[0]), [call.size, numel(call.inputs[0].shape)])
    if call.op.name.endswith("median_all"):
        return getattr(named, call.op.name.replace("all", "dim"))(flat, 1)[0]
    return (named.amax if call.op.name == "max_all" else named.amin)(flat, [1])


@rule("pick")
def _pick(call: Call) -> Any:
    input, index = call.inputs
    if not input.ndim:
        return call.front(input)
    return call.below([call.front(input), call.front(index)], dim=wrap_dim(call.attrs["dim"], input.ndim) + 1)


@rule("softmax_backward", "log_softmax_backward", "glu_backward", "recurrence", "prod_others")
def _together(call: Call) -> Any:
    """All operands along one dimension."""
    ndim = max(t.ndim for t in call.tensors) or 1
    given = [call.front(t) for t in call.inputs]
    given = [named.view(p, [call.size, 1]) if p.ndim == 1 else p for p in given]
    return call.below(given, dim=wrap_dim(call.attrs["dim"], ndim) + 1)


@rule("sum_to_size")
def _sum_to_size(call: Call) -> Any:
    (t,), size = call.inputs, call.attrs["size"]
    lead = t.ndim - len(size)
    dims = [d for d in range(t.ndim) if d < lead or (size[d - lead] == 1 and t.shape[d] != 1)]
    p = call.front(t)
    return named.sum(p, [d + 1 for d in dims]) if dims else named.clone(p)


@rule("roll")
def _roll(call: Call) -> Any:
    (t,), dims = call.inputs, call.attrs["dims"]
    if not dims:
        return call.below([named.reshape(call.front(t), [call.size, numel(t.shape)])], dims=[1])
    return call.below([call.front(t)], dims=[wrap_dim(d, t.ndim) + 1 for d in dims])


# -- shapes ----------------------------------------------------------------------------------------


@rule("tril", "triu", "safe_softmax", "constant_pad_nd", "one_hot_rows")
def _trailing(call: Call) -> Any:
    """What counts dimensions from the last: one more in front changes nothing."""
    return call.below([call.front(x) for x in call.inputs])


@rule("trace")
def _trace(call: Call) -> Any:
    return named.sum(named.diagonal(call.front(call.inputs[0]), 0, 1, 2), [1])


@rule("diagonal_copy")
def _diagonal_copy(call: Call) -> Any:
    (t,) = call.inputs
    return call.below([call.front(t)], **_shifted(call.attrs, t.ndim, "dim1", "dim2"))


@rule("diag_embed")
def _diag_embed(call: Call) -> Any:
    (t,) = call.inputs
    return call.below([call.front(t)], **_shifted(call.attrs, t.ndim + 1, "dim1", "dim2"))


@rule("diagonal_backward")
def _diagonal_backward(call: Call) -> Any:
    (g,), size = call.inputs, call.attrs["size"]
    dims = _shifted(call.attrs, len(size), "dim1", "dim2")
    return call.below([call.front(g)], size=[call.size, *size], **dims)


@rule("select_backward", "slice_backward")
def _into_zeros(call: Call) -> Any:
    (g,), size = call.inputs, call.attrs["size"]
    dims = _shifted(call.attrs, len(size), "dim")
    return call.below([call.front(g)], size=[call.size, *size], **dims)


def _shifted(attrs: dict[str, Any], ndim: int, *names: str) -> dict[str, int]:
    """Dimensions of a sample as those of the batch."""
    return {n: wrap_dim(attrs[n], ndim) + 1 for n in names}


@rule("as_strided_backward")
def _as_strided_backward(call: Call) -> Any:
    (g,), a = call.inputs, call.attrs
    offset = a["offset"]
    if not call.size or not numel(a["shape"]) or not numel(a["size"]):
        return one_by_one(call)
    # So far apart that no sample reaches into the next.
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
    """Where the last element lies, counted from the first."""
    return sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


@rule("as_strided_scatter")
def _as_strided_scatter(call: Call) -> Any:
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
def _cat(call: Call) -> Any:
    tensors = call.inputs[0]
    kept = [t for t in tensors if tuple(t.shape) != (0,)] or tensors
    return named.cat([call.front(t) for t in kept], wrap_dim(call.attrs["dim"], kept[0].ndim) + 1)


@rule("stack")
def _stack(call: Call) -> Any:
    tensors = call.inputs[0]
    return named.stack([call.front(t) for t in tensors], wrap_dim(call.attrs["dim"], tensors[0].ndim + 1) + 1)


@rule("repeat")
def _repeat(call: Call) -> Any:
    (t,), repeats = call.inputs, call.attrs["repeats"]
    lead = len(repeats) - t.ndim
    p = call.front(t)
    p = named.view(p, [call.size, *[1] * lead, *t.shape]) if lead else p
    return call.below([p], repeats=[1, *repeats])
