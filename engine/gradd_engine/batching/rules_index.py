"""Batching rules for indexing, scatter and gather, embeddings, and class losses."""

from __future__ import annotations

from typing import Any

from ..data import broadcast_shapes, numel, wrap_dim
from ..schema import named
from .mapped_call import MappedCall, rule
from .rules import one_by_one

# -- square brackets -------------------------------------------------------------------------------


class _Indexed:
    """A per-sample index as an index of the batch, with the indexed dimensions first.

    ``indices``: an index of the samples, then one per indexed dimension. ``dims`` and ``rest``: the sample's
    indexed and remaining dimensions; ``at``: the position of the indices' shape in a sample's result.
    """

    def __init__(self, call: MappedCall, shape: Any, indices: Any) -> None:
        self.call, self.shape = call, tuple(shape)
        self.dims = [d for d, t in enumerate(indices) if t is not None]
        self.rest = [d for d in range(len(self.shape)) if d not in self.dims]
        given = [indices[d] for d in self.dims]
        found: tuple[int, ...] = ()
        for t in given:
            found = broadcast_shapes(found, tuple(t.shape))
        self.index_shape = found
        adjacent = self.dims == list(range(self.dims[0], self.dims[-1] + 1))
        self.at = self.dims[0] if adjacent else 0
        physical = [call.padded(t, len(found)) for t in given]
        if any(t.mapped for t in given):
            with call.ambient():
                rows = named.arange(0, call.size, 1)
            self.indices = [named.view(rows, [call.size, *[1] * len(found)]), *physical]
        else:
            self.indices = [None, *physical]

    def ahead(self, p: Any) -> Any:
        """A physical tensor of the indexed shape, with the indexed dimensions first."""
        return named.permute(p, [0, *(d + 1 for d in (*self.dims, *self.rest))])

    def back(self, p: Any) -> Any:
        """The inverse of `ahead`."""
        order = [0, *(d + 1 for d in (*self.dims, *self.rest))]
        return named.permute(p, sorted(range(len(order)), key=order.__getitem__))

    def size(self) -> list[int]:
        """The physical shape of the indexed tensor, in the order of `ahead`."""
        return [self.call.size, *(self.shape[d] for d in (*self.dims, *self.rest))]

    def placed(self, p: Any) -> Any:
        """A physical result with the indices' shape in its place."""
        n = len(self.index_shape)
        lead = range(n + 1, n + 1 + self.at)
        return named.permute(p, [0, *lead, *range(1, n + 1), *range(n + 1 + self.at, p.ndim)])

    def values(self, t: Any) -> Any:
        """Physical values to write, with the indices' shape first."""
        n, rest = len(self.index_shape), [self.shape[d] for d in self.rest]
        full = [*rest[: self.at], *self.index_shape, *rest[self.at :]]
        p = named.expand(self.call.padded(t, len(full)), [self.call.size, *full])
        order = [
            *range(self.at + 1, self.at + 1 + n),
            *range(1, self.at + 1),
            *range(self.at + 1 + n, len(full) + 1),
        ]
        return named.permute(p, [0, *order])


@rule("nonzero_count")
def _nonzero_count(call: MappedCall) -> Any:
    raise RuntimeError(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        "aten::nonzero. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this "
        "feature."
    )


@rule("index")
def _index(call: MappedCall) -> Any:
    input, indices = call.inputs
    how = _Indexed(call, input.shape, indices)
    return how.placed(named.index(how.ahead(call.front(input)), how.indices))


@rule("index_put_add")
def _index_put_add(call: MappedCall) -> Any:
    grad, indices = call.inputs
    how = _Indexed(call, call.attrs["size"], indices)
    return how.back(named.index_put_add(how.values(grad), how.indices, how.size()))


@rule("index_write")
def _index_write(call: MappedCall) -> Any:
    input, indices, values = call.inputs
    if any(t is not None and t.dtype.category == 0 for t in indices):
        return one_by_one(call)
    how = _Indexed(call, input.shape, indices)
    return how.back(
        named.index_write(
            how.ahead(call.front(input)), how.indices, how.values(values), call.attrs["accumulate"]
        )
    )


# -- along one dimension ---------------------------------------------------------------------------


@rule("gather", "scatter", "scatter_add")
def _along(call: MappedCall) -> Any:
    input, index, *src = call.inputs
    if not input.ndim:
        return one_by_one(call)
    given = [call.front(input), call.front(index), *(call.front(x) for x in src)]
    dim = wrap_dim(call.attrs["dim"], input.ndim) + 1
    if not index.ndim or any(getattr(x, "ndim", 1) == 0 for x in src):
        return one_by_one(call)
    return call.below(given, dim=dim)


@rule("index_select")
def _index_select(call: MappedCall) -> Any:
    input, index = call.inputs
    if not input.ndim or not index.ndim:
        return one_by_one(call)
    dim = wrap_dim(call.attrs["dim"], input.ndim)
    if not index.mapped:
        return call.below([input.array, index.array], dim=dim + 1)
    shape = [call.size, *input.shape]
    shape[dim + 1] = index.shape[0]
    ones = [1] * input.ndim
    ones[dim] = index.shape[0]
    where = named.expand(named.view(index.array, [call.size, *ones]), shape)
    return named.gather(call.front(input), dim + 1, where)


@rule("index_add", "index_copy", "index_fill")
def _index_into(call: MappedCall) -> Any:
    input, index, source = call.inputs
    number = not hasattr(source, "shape")
    if not input.ndim or index.mapped or not (number or source.ndim):
        return one_by_one(call)
    dim = wrap_dim(call.attrs["dim"], input.ndim) + 1
    return call.below([call.front(input), index.array, call.front(source)], dim=dim)


@rule("place")
def _place(call: MappedCall) -> Any:
    input, index = call.inputs
    size = call.attrs["size"]
    if not size:
        return call.front(input)
    dim = wrap_dim(call.attrs["dim"], len(size)) + 1
    return call.below([call.front(input), call.front(index)], dim=dim, size=[call.size, *size])


# -- embeddings ------------------------------------------------------------------------------------


def _own_rows(call: MappedCall, index: Any, rows: int) -> Any:
    """Indices into the concatenated tables of all samples."""
    with call.ambient():
        first = named.mul(named.arange(0, call.size, 1), rows)
    p = call.front(index)
    return named.add(p, named.view(first, [call.size, *[1] * (p.ndim - 1)]))


@rule("embedding")
def _embedding(call: MappedCall) -> Any:
    index, weight = call.inputs
    padding = call.attrs["padding_idx"]
    if call.attrs["scale_grad_by_freq"]:
        return one_by_one(call)
    if not weight.mapped:
        return call.below([index.array, weight.array])
    rows, width = weight.shape
    table = named.reshape(weight.array, [call.size * rows, width])
    found = named.embedding(_own_rows(call, index, rows), table)
    if padding is None:
        return found
    return named.where(_hidden(call, index, padding), named.detach(found), found)


def _hidden(call: MappedCall, index: Any, padding: int) -> Any:
    """Whether an index is the padding index, which gets no gradient."""
    return named.unsqueeze(named.eq(call.front(index), padding), -1)


@rule("embedding_backward")
def _embedding_backward(call: MappedCall) -> Any:
    grad, index = call.inputs
    rows, padding, scaled = (call.attrs[n] for n in ("rows", "padding_idx", "scale_grad_by_freq"))
    if scaled:
        return one_by_one(call)
    g, where = call.front(grad), _own_rows(call, index, rows)
    if padding is not None:
        g = named.masked_fill(g, _hidden(call, index, padding), 0.0)
    found = named.embedding_backward(g, where, call.size * rows, None, False)
    return named.view(found, [call.size, rows, grad.shape[-1]])


# -- losses of classes -----------------------------------------------------------------------------


@rule("nll_loss_flat", "nll_loss2d")
def _nll(call: MappedCall) -> Any:
    input, target, weight = call.inputs
    if (weight is not None and weight.mapped) or not call.size:
        return one_by_one(call)
    axis = 0 if input.ndim == 1 else 1
    x = call.front(input)
    order = [0, *(d + 1 for d in range(input.ndim) if d != axis), axis + 1]
    count = numel(input.shape) // max(input.shape[axis], 1)
    rows = named.reshape(named.permute(x, order), [call.size * count, input.shape[axis]])
    where = named.reshape(call.front(target), [call.size * count])
    table = call.physical(weight)
    ignored = call.attrs["ignore_index"]
    each, _ = named.nll_loss_flat(rows, where, table, reduction="none", ignore_index=ignored)
    losses = named.reshape(each, [call.size, count])
    total = named.sum(_weights(named.reshape(where, [call.size, count]), table, ignored, losses.dtype), [1])
    if call.attrs["reduction"] == "none":
        return losses, total
    summed = named.sum(losses, [1])
    return (named.div(summed, total) if call.attrs["reduction"] == "mean" else summed), total


def _weights(target: Any, table: Any, ignored: int, dtype: Any) -> Any:
    """The weight of each target's class; 0 for ignored targets."""
    hidden = named.eq(target, ignored)
    if table is None:
        return named.to_copy(named.logical_not(hidden), dtype)
    return named.masked_fill(named.index(table, [named.masked_fill(target, hidden, 0)]), hidden, 0.0)


@rule("nll_loss_backward")
def _nll_backward(call: MappedCall) -> Any:
    grad, target, weight, total = call.inputs
    shape, reduction = call.attrs["shape"], call.attrs["reduction"]
    if (weight is not None and weight.mapped) or not call.size:
        return one_by_one(call)
    axis = 0 if len(shape) == 1 else 1
    classes = shape[axis]
    count = numel(shape) // max(classes, 1)
    g = call.front(grad)
    if reduction == "mean":
        g = named.div(g, call.front(total))
    if reduction != "none":
        g = named.unsqueeze(g, 1)
    g = named.reshape(named.expand(named.reshape(g, [call.size, -1]), [call.size, count]), [-1])
    where = named.reshape(call.front(target), [call.size * count])
    with call.ambient():
        one = named.ones([], dtype=g.dtype)
    found = named.nll_loss_backward(
        g, where, call.physical(weight), one,
        shape=[call.size * count, classes], reduction="none", ignore_index=call.attrs["ignore_index"],
    )  # fmt: skip
    outer = [n for d, n in enumerate(shape) if d != axis]
    back = list(range(1, len(outer) + 1))
    back.insert(axis, len(outer) + 1)
    return named.permute(named.view(found, [call.size, *outer, classes]), [0, *back])
