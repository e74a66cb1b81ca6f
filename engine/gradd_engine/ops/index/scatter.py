"""Per-element indices along one dimension: gather, scatter, scatter_add, take_along_dim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, broadcast_shapes, dtypes, within, wrap_dim
from ...declare import LINEAR, REGISTRY, attach, composite, kernel, public
from ...kernels import apply_at
from ...schema import named
from ...tensor import Tensor
from ..elementwise import where
from ..shape import expand, view
from ..shared import element, fits, zeros
from .slicing import slice_backward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op

#: dtypes that an index may have
INDEX = (dtypes.int64, dtypes.int32)


def _grid(xp: Any, index: Any, dim: int) -> tuple[Any, ...]:
    """NumPy indices of the elements that `index` names along `dim`."""
    n = index.ndim
    if not n:
        return ()
    return tuple(
        index if d == dim else xp.arange(s).reshape([-1 if i == d else 1 for i in range(n)])
        for d, s in enumerate(index.shape)
    )


def bounded(index: Any, size: int, dim: int) -> None:
    """Raise RuntimeError if an index is outside [0, size); negative indices are not allowed here."""
    text = f"index {{}} is out of bounds for dimension {dim} with size {size}"
    within(index, 0, size, RuntimeError, text, "gather or scatter")


def gathered_back(g: Any, index: Any, shape: Sequence[int], dim: int) -> Any:
    """The gradient of elements that were taken at `index` along `dim` from a tensor of this shape.

    The zeros are one number, expanded: kernels know that they need not copy them.
    """
    return scatter_add(expand(zeros([], dtype=g.dtype), list(shape)), dim, index, g)


# -- gather and scatter ----------------------------------------------------------------------------


def _gather_infer(input: Tensor, dim: int, index: Tensor) -> Meta:
    d = wrap_dim(dim, input.ndim)
    if index.numel() and index.dtype not in INDEX:
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    if index.numel():
        if max(index.ndim, 1) != max(input.ndim, 1):
            raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
        for i, (a, b) in enumerate(zip(index.shape, input.shape, strict=False)):
            if i != d and a > b:
                raise RuntimeError(
                    f"Size does not match at dimension {i} expected index {list(index.shape)} to be no "
                    f"larger than self {list(input.shape)} apart from dimension {d}"
                )
    return Meta(tuple(index.shape), input.dtype)


def _gather_impl(xp: Any, a: Any, index: Any, dim: int) -> Any:
    if not index.size:
        return xp.empty(index.shape, a.dtype)
    if not a.ndim:
        return xp.broadcast_to(a, index.shape)
    if not index.ndim:
        index = index.reshape(1)
        return _gather_impl(xp, a, index, dim).reshape(())
    d = dim % a.ndim
    bounded(index, a.shape[d], d)
    return a[_grid(xp, index, d)]


gather_op: Op = kernel(
    "gather(Tensor input, int dim, Tensor index) -> Tensor",
    infer=lambda input, index, dim: _gather_infer(input, dim, index),
    impl=_gather_impl,
    vjp={"input": lambda g, input, index, dim: gathered_back(g, index, input.shape, dim)},
    jvp=LINEAR,
    doc="out[i][j] = input[index[i][j]][j] for dim 0 (torch.gather).",
)


@public(method=True, out=True)
def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """See torch.gather; the gradient is always dense, `sparse_grad` is ignored."""
    return gather_op(input, dim, index)


def scatter_check(input: Tensor, dim: int, index: Tensor, src: Any, name: str) -> int:
    """Return the dimension, counted from the front; PyTorch's RuntimeError if shapes or dtypes do not fit."""
    d = wrap_dim(dim, input.ndim)
    if index.numel() and index.dtype not in INDEX:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if isinstance(src, Tensor) and src.dtype is not input.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    if not index.numel():
        return d
    if max(index.ndim, 1) != max(input.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    fits = all(i == d or a <= b for i, (a, b) in enumerate(zip(index.shape, input.shape, strict=False)))
    if not isinstance(src, Tensor) or not src.ndim:
        if not fits:
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than self {list(input.shape)} apart "
                f"from dimension {d}"
            )
        return d
    if max(src.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    if not fits or any(a > b for a, b in zip(index.shape, src.shape, strict=False)):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(input.shape)} apart from "
            f"dimension {d} and to be no larger size than src {list(src.shape)}"
        )
    return d


def _scatter_infer(input: Tensor, index: Tensor, src: Any, dim: int, name: str = "scatter") -> Meta:
    scatter_check(input, dim, index, src, name)
    return Meta(tuple(input.shape), input.dtype)


def places(xp: Any, out: Any, index: Any, src: Any, dim: int) -> tuple[Any, Any, Any]:
    """The array to write to, the indices to write at, and the values."""
    if not out.ndim:
        out = out.reshape(1)
    if not index.ndim:
        index = index.reshape(1)
    d = dim % out.ndim
    bounded(index, out.shape[d], d)
    if getattr(src, "ndim", 0):
        src = src[tuple(slice(0, n) for n in index.shape)]
    return out, _grid(xp, index, d), src


def _scatter_impl(xp: Any, a: Any, index: Any, src: Any, dim: int) -> Any:
    if not index.size:
        return a.copy()
    out, at, src = places(xp, a.copy(), index, element(src, a.dtype), dim)
    out[at] = src
    return out.reshape(a.shape)


scatter_op: Op = kernel(
    "scatter(Tensor input, int dim, Tensor index, Tensor|Number src) -> Tensor",
    infer=_scatter_infer,
    check_values=lambda input, index, src, dim: fits(src, input.dtype),
    impl=_scatter_impl,
    vjp={
        "input": lambda g, index, dim: scatter_op(g, dim, index, 0.0),
        "src": lambda g, index, dim, src_meta: _source_gradient(g, index, dim, src_meta),
    },
    jvp=LINEAR,
    node="ScatterBackward0",
    number_nodes={"src": "ScatterBackward1"},
    method=True,
    inplace=True,
    doc="A copy with elements of `src`, or one number, written at `index` along `dim` (torch.scatter).",
)


def _source_gradient(g: Any, index: Any, dim: int, meta: Any) -> Any:
    """Gathered where the source was read; zeros where it was not."""
    return padded(gather_op(g, dim, index), index.shape, meta.shape)


def padded(found: Any, part: Any, size: Any) -> Any:
    """`found`, of shape `part`, padded with zeros at the end of each dimension to `size`."""
    shape = list(part)
    for d, n in enumerate(size):
        if shape[d] != n:
            old = shape[d]
            shape[d] = n
            found = slice_backward(found, list(shape), d, 0, old, 1)
    return found


def _reducing(input: Tensor, index: Tensor, source: Any, reduce: str) -> tuple[Op, tuple[Any, ...]]:
    """The op that reduces `source`, a tensor or a number, into `input`, and what it is called with."""
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if not isinstance(source, Tensor):
        fits(source, input.dtype)
        source = named.full_like(index, source, dtype=input.dtype)
    return (scatter_add, (source,)) if reduce == "add" else (REGISTRY["scatter_reduce"], (source, "prod"))


def _scatter_by_name(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Any:
    """See torch.scatter: writes ``src`` or ``value``; adds or multiplies with it by ``reduce``."""
    source = value if src is None else src
    if reduce is None:
        return scatter_op(input, dim, index, source)
    op, given = _reducing(input, index, source, reduce)
    return op(input, dim, index, *given)


def _scatter_into(
    self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Any:
    """See torch.Tensor.scatter_: writes ``src`` or ``value``; adds or multiplies with it by ``reduce``."""
    op, given = scatter_op, (value if src is None else src,)
    if reduce is not None:
        op, given = _reducing(self, index, given[0], reduce)
    assert op.inplace is not None
    return op.inplace(self, dim, index, *given)


_FORMS = (
    "dim: int, index: Tensor, src: Tensor | Number, *, reduce: str | None = None",
    "dim: int, index: Tensor, *, value: Number, reduce: str | None = None",
)
public(name="scatter", method="scatter", out=True, forms=tuple(f"(input, {form})" for form in _FORMS))(
    _scatter_by_name
)
attach("scatter_", _scatter_into, *(f"({form})" for form in _FORMS))


def _scatter_add_impl(xp: Any, a: Any, index: Any, src: Any, dim: int) -> Any:
    if not index.size:
        return a.copy()
    out, at, src = places(xp, a.copy(), index, src, dim)
    apply_at(xp, "logical_or" if out.dtype.kind == "b" else "add", out, at, src)
    return out.reshape(a.shape)


scatter_add: Op = kernel(
    "scatter_add(Tensor input, int dim, Tensor index, Tensor src) -> Tensor",
    infer=_scatter_infer,
    impl=_scatter_add_impl,
    vjp={
        "input": lambda g: g,
        "src": lambda g, index, dim, src_meta: _source_gradient(g, index, dim, src_meta),
    },
    jvp=LINEAR,
    method=True,
    inplace=True,
    doc="A copy with elements of `src` added at `index` along `dim` (torch.scatter_add).",
    autocast={"cuda": "widest"},
)


def _from_the_front(indices: Any, size: int) -> Any:
    """Indices with negative ones counted from the end."""
    return where(indices < 0, indices + size, indices)


def _take_along_dim(input: Tensor, indices: Tensor, dim: int | None) -> Any:
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.title}"
        )
    if dim is None:
        return gather_op(view(input, [-1]), 0, _from_the_front(view(indices, [-1]), input.numel()))
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    d = wrap_dim(dim, input.ndim)

    def without(t: Tensor) -> tuple[int, ...]:
        return tuple(1 if i == d else n for i, n in enumerate(t.shape))

    shape = list(broadcast_shapes(without(input), without(indices)))
    wide, far = list(shape), list(shape)
    wide[d], far[d] = input.shape[d], indices.shape[d]
    return gather_op(expand(input, wide), d, expand(_from_the_front(indices, input.shape[d]), far))


take_along_dim = composite(
    "take_along_dim(Tensor input, Tensor indices, int? dim=None) -> Tensor",
    body=_take_along_dim,
    out=True,
    method=True,
    doc="Elements at indices along a dimension, broadcast over the others (torch.take_along_dim).",
)
