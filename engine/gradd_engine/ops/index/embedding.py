"""masked_fill, embedding and one_hot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, broadcast_shapes, dtypes, within
from ...declare import LINEAR, InPlace, composite, kernel, public
from ...graph import no_grad
from ...kernels import apply_at
from ...schema import named, type_name
from ...tensor import Node, Tensor
from ..elementwise import eq, where
from ..shape import reshape
from ..shared import CPP, element, fill_shared, fits, number_first
from . import dynamic
from .indexing import MASKED, add_at

if TYPE_CHECKING:
    from ...schema import Op


def _masked_fill_infer(input: Tensor, mask: Tensor, value: Any) -> Meta:
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {CPP[mask.dtype.name]}"
        )
    if isinstance(value, Tensor) and value.dtype.is_complex and not input.dtype.is_complex:
        fits(1j, input.dtype)
    return Meta(broadcast_shapes(tuple(mask.shape), tuple(input.shape)), input.dtype)


def _masked_fill_impl(xp: Any, a: Any, mask: Any, value: Any) -> Any:
    return xp.where(mask, element(value, a.dtype), a)


def _masked_fill_expanded(xp: Any, out: Any, mask: Any, value: Any) -> None:
    fill_shared(xp, out, mask, element(value, out.dtype))


masked_fill: Op = kernel(
    "masked_fill(Tensor input, Tensor mask, Tensor|Number value) -> Tensor",
    infer=_masked_fill_infer,
    check_values=lambda input, mask, value: fits(value, input.dtype),
    impl=_masked_fill_impl,
    vjp={
        "input": lambda g, mask: masked_fill(g, mask, 0.0),
        "value": lambda g, mask: where(mask, g, 0.0).sum(),
    },
    jvp=LINEAR,
    node="MaskedFillBackward1",
    number_nodes={"value": "MaskedFillBackward0"},
    method=True,
    inplace=InPlace(expanded=_masked_fill_expanded, warnings=lambda *_: [MASKED]),
    namespace="-",
    doc="A copy with `value` where the mask is true (torch.Tensor.masked_fill).",
    raises=False,
    reads_first=number_first,
)
public(name="masked_fill")(masked_fill.call)


def _embedding_infer(
    input: Tensor, weight: Tensor, padding_idx: int | None, scale_grad_by_freq: bool, sparse: bool
) -> Meta:
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if input.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
            f"Int; but got {input.dtype.tensor_type} instead (while checking arguments for embedding)"
        )
    return Meta((*input.shape, weight.shape[1]), weight.dtype)


def _embedding_impl(
    xp: Any, index: Any, weight: Any, padding_idx: Any, scale_grad_by_freq: bool, sparse: bool
) -> Any:
    within(index, 0, weight.shape[0], IndexError, "index out of range in self", "embedding")
    return weight[index]


def _row_gradient(
    g: Any, input: Any, weight_meta: Any, padding_idx: int | None, scale_grad_by_freq: bool, sparse: bool
) -> Any:
    rows = weight_meta.shape[0]
    if not sparse:
        return embedding_backward(g, input, rows, padding_idx, scale_grad_by_freq)
    if scale_grad_by_freq:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
    found = embedding_backward(g, input, rows, padding_idx, False)
    found._by_lookups(((input, padding_idx),))
    return found


embedding_op: Op = kernel(
    "embedding(Tensor input, Tensor weight, int? padding_idx=None, bool scale_grad_by_freq=False, "
    "bool sparse=False) -> Tensor",
    infer=_embedding_infer,
    impl=_embedding_impl,
    vjp={"weight": _row_gradient},
    jvp=LINEAR,
    node="EmbeddingBackward0",
    namespace="nn.functional",
    doc="Rows of a table by index; row `padding_idx` gets no gradient (torch.nn.functional.embedding).",
)


def _embedding_backward_infer(
    grad: Tensor, index: Tensor, rows: int, padding_idx: int | None, scale_grad_by_freq: bool
) -> Meta:
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"embedding_backward(): indices are Long or Int, not {index.dtype.title}")
    if grad.ndim < 1 or tuple(grad.shape[:-1]) != tuple(index.shape):
        raise RuntimeError(
            f"embedding_backward(): a gradient of shape {list(grad.shape)} does not fit indices of shape "
            f"{list(index.shape)}"
        )
    return Meta((rows, grad.shape[-1]), grad.dtype)


def _embedding_backward_impl(
    xp: Any, g: Any, index: Any, rows: int, padding_idx: int | None, scale_grad_by_freq: bool
) -> Any:
    out = xp.zeros((rows, g.shape[-1]), g.dtype)
    flat, g = index.reshape(-1), g.reshape(index.size, g.shape[-1])
    within(flat, 0, rows, IndexError, "index out of range in self", "embedding_backward")
    if padding_idx is not None:
        kept = flat != padding_idx
        if xp is np:
            flat, g = flat[kept], g[kept]
        else:  # how many are kept is a value
            g = xp.where(kept[:, None], g, 0)
    if scale_grad_by_freq and flat.size:
        counts = xp.zeros(rows, np.int64)
        apply_at(xp, "add", counts, (flat,), 1)
        g = g / counts[flat][:, None].astype(g.dtype)
    add_at(xp, out, (flat,), g)
    return out


embedding_backward: Op = kernel(
    "embedding_backward(Tensor grad, Tensor index, int rows, int? padding_idx, bool scale_grad_by_freq)"
    " -> Tensor",
    infer=_embedding_backward_infer,
    impl=_embedding_backward_impl,
    vjp={
        "grad": lambda g, index, padding_idx, scale_grad_by_freq: _embedding_again(
            g, index, padding_idx, scale_grad_by_freq
        )
    },
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="Row gradients added into a table of zeros.",
)


def _embedding_again(g: Any, index: Any, padding_idx: int | None, scale_grad_by_freq: bool) -> Any:
    """The transpose of `embedding_backward`: rows by index, zeros for the padding row."""
    if scale_grad_by_freq:
        raise RuntimeError("double backward for embedding with scale_grad_by_freq is not supported")
    found = embedding_op(index, g)
    if padding_idx is None:
        return found
    return masked_fill(found, reshape(eq(index, padding_idx), [*index.shape, 1]), 0.0)


def looked_up(
    input: Any, weight: Any, padding_idx: int | None, scale_grad_by_freq: bool, sparse: bool
) -> Any:
    """Rows of `weight`, whose node says so where its gradient is `sparse`."""
    found = embedding_op(input, weight, padding_idx, scale_grad_by_freq, sparse)
    node = found._node() if sparse else None
    if node is not None:
        node.sparse = Node.any_sparse = True
    return found


def renormed(weight: Any, index: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows of `weight` that are looked up to `max_norm` where they are longer, in place."""
    with no_grad():
        places = index.detach().reshape([index.numel()])
        rows = named.index_select(weight, 0, places)
        size = rows.abs()
        if norm_type == float("inf"):
            length = size.amax(1, True)
        else:
            length = size.pow(norm_type).sum(1, True).pow(1 / norm_type)
        scale = where(length.gt(max_norm), max_norm / (length + 1e-7), 1.0)
        # a row that is there twice is written twice the same
        named.index_copy_(weight, 0, places, rows * scale)


@public("nn.functional")
def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """See torch.nn.functional.embedding. With `sparse` a client's gradient says which rows were looked up."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"embedding(): argument 'indices' (position 2) must be Tensor, not {type_name(input)}"
        )
    if padding_idx is not None:
        rows = weight.shape[0]
        assert -rows <= padding_idx < rows, "Padding_idx must be within num_embeddings"
        padding_idx %= rows
    if max_norm is not None:
        renormed(weight, input, max_norm, norm_type)
    return looked_up(input, weight, padding_idx, scale_grad_by_freq, sparse)


def _one_hot_infer(input: Tensor, num_classes: int) -> Meta:
    if input.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    return Meta((*input.shape, num_classes), dtypes.int64)


def _one_hot_impl(xp: Any, a: Any, num_classes: int) -> Any:
    if a.size:
        most = np.iinfo(np.int64).max
        within(a, 0, most, RuntimeError, "Class values must be non-negative.", "one_hot")
        text = "Class values must be smaller than num_classes."
        within(a, 0, num_classes, RuntimeError, text, "one_hot")
    return (a[..., None] == xp.arange(num_classes)).astype(xp.int64)


one_hot_rows = kernel(
    "one_hot_rows(Tensor input, int num_classes) -> Tensor",
    infer=_one_hot_infer,
    impl=_one_hot_impl,
    namespace="-",
    outside=True,
    doc="Each class as a one-hot vector of `num_classes`.",
)

_largest = kernel(
    "largest_class(Tensor input) -> Tensor",
    infer=lambda input: Meta((), dtypes.int64),
    impl=lambda xp, a: a.max() if a.size else xp.int64(-1),
    namespace="-",
    outside=True,
    doc="The largest class, or -1 if there are none.",
    raises=False,
)


def _one_hot(tensor: Tensor, num_classes: int) -> Any:
    if tensor.dtype is dtypes.int64 and num_classes == -1:
        if not tensor.numel():
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = int(dynamic.read(_largest(tensor))) + 1
    if not tensor.numel() and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    return one_hot_rows(tensor, max(num_classes, 0))


one_hot = composite(
    "one_hot(Tensor tensor, int num_classes=-1) -> Tensor",
    body=_one_hot,
    dynamic=True,
    namespace="nn.functional",
    doc="Classes as one-hot vectors (torch.nn.functional.one_hot); without `num_classes` the largest class "
    "is read.",
)
