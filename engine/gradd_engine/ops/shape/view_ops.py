"""Views: new shape and strides over the same memory. `infer` defines them entirely; there is no kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import (
    DType,
    Meta,
    broadcast_strides,
    is_contiguous,
    is_dense,
    may_overlap,
    numel,
    read_only,
    resolve_size,
    view_strides,
    wrap_dim,
    wrap_dims,
)
from ...declare import LINEAR, attach, attach_as_is, composite, kernel, public, stateful
from ...declare import view as view_op
from ...kernels import apply_at
from ...schema import Histories, named
from ...tensor import Tensor, detached
from ..shared import as_list, storable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op
    from ...tensor import TensorMeta

    #: the sizes, strides and offset of a view, in elements
    _Places = tuple[Sequence[int], Sequence[int], int]


def _view_infer(input: Tensor, size: Any) -> Meta:
    shape = resolve_size(size, input.numel())
    strides = view_strides(input.shape, input.strides, shape)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans "
            "across two contiguous subspaces). Use .reshape(...) instead."
        )
    return Meta(shape, input.dtype, strides, input.offset)


_view = view_op(
    "view(Tensor(a) input, int[] size) -> Tensor(a)",
    infer=_view_infer,
    vjp=lambda g, input_meta: reshape(g, list(input_meta.shape)),
    namespace="-",
    outside=True,
    doc="The same elements in another shape, without a copy (torch.Tensor.view).",
    relative=True,
)


def view(self: Tensor, *sizes: Any, size: Any = None, dtype: Any = None) -> Any:
    """See torch.Tensor.view."""
    if isinstance(kind := sizes[0] if len(sizes) == 1 else dtype, DType):
        return named.view_dtype(named.detach(self) if self.requires_grad else self, kind)
    return _view(self, as_list(sizes if size is None else size, "view", "size"))


unsafe_view = view_op(
    "unsafe_view(Tensor input, int[] size) -> Tensor",
    infer=_view_infer,
    vjp=lambda g, input_meta: reshape(g, list(input_meta.shape)),
    jvp=lambda input_t, size: reshape(input_t, list(size)),
    node="UnsafeViewBackward0",
    namespace="-",
    outside=True,
    doc="A temporary in another shape, without a copy; autograd does not treat it as a view.",
    relative=True,
)

_reshape_alias = view_op(
    "reshape_alias(Tensor(a) input, int[] size) -> Tensor(a)",
    infer=_view_infer,
    vjp=lambda g, input_meta: reshape(g, list(input_meta.shape)),
    node="ReshapeAliasBackward0",
    namespace="-",
    outside=True,
    doc="The view that reshape returns for a non-contiguous tensor.",
    relative=True,
)


def _reshape(input: Tensor, shape: Any) -> Any:
    size = list(resolve_size(shape, input.numel()))
    if is_contiguous(input.shape, input.strides):
        return _view(input, size)
    if view_strides(input.shape, input.strides, size) is None:
        return unsafe_view(named.contiguous_copy(input), size)
    return _reshape_alias(input, size)


_reshape_op = composite(
    "reshape(Tensor input, int[] shape) -> Tensor",
    body=_reshape,
    doc="The same elements in another shape; a view if strides allow (torch.reshape).",
)


@public(method=True)
def reshape(input: Any, *sizes: Any, shape: Any = None) -> Any:
    """See torch.reshape."""
    return _reshape_op(input, as_list(sizes if shape is None else shape, "reshape", "shape"))


def expand_meta(input: Tensor, size: Any) -> Meta:
    """The geometry of `input` expanded to `size`; PyTorch's RuntimeError if that is impossible."""
    lead = len(size) - input.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand({input.dtype.tensor_type}{{{list(input.shape)}}}, size={list(size)}): the number of "
            f"sizes provided ({len(size)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({input.ndim})"
        )
    shape = list(size)
    for i, s in reversed(list(enumerate(size))):
        have = 1 if i < lead else input.shape[i - lead]
        if s == -1:
            if i < lead:
                raise RuntimeError(
                    f"The expanded size of the tensor ({s}) isn't allowed in a leading, non-existing "
                    f"dimension {i}"
                )
            shape[i] = have
        elif have not in (1, s):
            raise RuntimeError(
                f"The expanded size of the tensor ({s}) must match the existing size ({have}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: "
                f"{list(input.shape)}"
            )
    strides = list(broadcast_strides(tuple(input.shape), input.strides, tuple(shape)))
    for i in reversed(range(lead)):
        if (
            input.ndim and shape[i] == 1
        ):  # a new dimension of one element has the stride that rows of the rest would have
            strides[i] = shape[i + 1] * strides[i + 1] if i + 1 < len(shape) else 1
    return Meta(tuple(shape), input.dtype, tuple(strides), input.offset)


_expand = view_op(
    "expand(Tensor(a) input, int[] size) -> Tensor(a)",
    infer=expand_meta,
    vjp=lambda g: g,
    namespace="-",
    outside=True,
    doc="Dimensions of size 1 repeated without memory (torch.Tensor.expand).",
    relative=True,
)


def expand(self: Any, *sizes: Any, size: Any = None, implicit: bool = False) -> Any:
    """See torch.Tensor.expand."""
    return _expand(self, as_list(sizes if size is None else size, "expand", "size"))


def _permute_meta(input: Any, dims: Any) -> Meta:
    if len(dims) != input.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
            "the desired ordering of dimensions i.e. "
            f"input.dim() = {input.ndim} is not equal to len(dims) = {len(dims)}"
        )
    order = [wrap_dim(d, input.ndim) for d in dims]
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    shape, strides = tuple(input.shape[d] for d in order), tuple(input.strides[d] for d in order)
    return Meta(shape, input.dtype, strides, input.offset)


def _inverse(dims: Any, ndim: int) -> list[int]:
    order = wrap_dims(dims, ndim)
    return sorted(range(ndim), key=lambda i: order[i])


permute: Op = view_op(
    "permute(Tensor(a) input, int[] dims) -> Tensor(a)",
    infer=_permute_meta,
    vjp=lambda g, dims: permute(g, _inverse(dims, g.ndim)),
    doc="Dimensions in another order (torch.permute).",
    relative=True,
)


def _transpose_meta(input: Tensor, dim0: int, dim1: int) -> Meta:
    a, b = wrap_dim(dim0, input.ndim), wrap_dim(dim1, input.ndim)
    order = list(range(input.ndim))
    if order:
        order[a], order[b] = order[b], order[a]
    return _permute_meta(input, order) if order else Meta((), input.dtype, (), input.offset)


transpose: Op = view_op(
    "transpose(Tensor(a) input, int dim0, int dim1) -> Tensor(a)",
    infer=_transpose_meta,
    vjp=lambda g, dim0, dim1: transpose(g, dim0, dim1),
    method=True,
    doc="Two dimensions swapped (torch.transpose).",
    relative=True,
)


def _t_meta(input: Tensor) -> Meta:
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return _permute_meta(input, range(input.ndim - 1, -1, -1))


t: Op = view_op(
    "t(Tensor(a) input) -> Tensor(a)",
    infer=_t_meta,
    vjp=lambda g: t(g),
    node="TBackward0",
    method=True,
    doc="The transpose of a matrix (torch.t).",
    relative=True,
)


def _as_strided_infer(input: Tensor, size: Any, stride: Any, storage_offset: Any) -> Meta:
    offset = input.offset if storage_offset is None else storage_offset
    have = input._storage.nbytes // input.dtype.itemsize if input._storage is not None else 0
    _check_bounds(size, stride, offset, have, input.dtype.itemsize)
    return Meta(tuple(size), input.dtype, tuple(stride), offset)


def _check_bounds(size: Any, stride: Any, offset: int, have: int, itemsize: int) -> None:
    """Raise PyTorch's RuntimeError unless these strides stay within `have` elements."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}"
        )
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if numel(size) else -1
    if offset < 0 or last >= have:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{itemsize} requiring a storage size of {(last + 1) * itemsize} are out of bounds for storage "
            f"of size {have * itemsize}"
        )


def _positions(xp: Any, size: Any, stride: Any, offset: int) -> Any:
    at = xp.full(tuple(size), offset, dtype=xp.int64)
    for d, (n, s) in enumerate(zip(size, stride, strict=True)):
        at = at + (xp.arange(n, dtype=xp.int64) * s).reshape([-1 if i == d else 1 for i in range(len(size))])
    return at


def _as_strided_grad(g: Any, input_meta: TensorMeta, size: Any, stride: Any, storage_offset: Any) -> Any:
    offset = (input_meta.offset if storage_offset is None else storage_offset) - input_meta.offset
    shape, strides = list(input_meta.shape), list(input_meta.strides)
    if is_dense(shape, strides):
        return as_strided_backward(g, shape, strides, size, stride, offset)
    return _through_memory(g, (size, stride, offset), (shape, strides, 0), (shape, strides, 0))


def _as_strided_tangent(
    input_t: Any, input_meta: TensorMeta, size: Any, stride: Any, storage_offset: Any
) -> Any:
    offset = (input_meta.offset if storage_offset is None else storage_offset) - input_meta.offset
    shape, strides = list(input_meta.shape), list(input_meta.strides)
    if is_dense(shape, strides):
        return as_strided(named.to_layout(input_t, strides), size, stride, offset)
    return _through_memory(input_t, (shape, strides, 0), (size, stride, offset), (shape, strides, 0))


def _through_memory(x: Any, source: _Places, target: _Places, shared: _Places) -> Any:
    """What `target` reads from memory to which `x` was added at `source`. As in PyTorch, memory that several
    elements of `shared` refer to is divided evenly among them.
    """
    start = max(0, -source[2], -target[2])
    memory = [start + max(at + _last(size, stride) for size, stride, at in (source, target)) + 1]

    def added(x: Any, places: _Places) -> Any:
        size, stride, at = places
        return as_strided_backward(x, memory, [1], size, stride, start + at)

    found = added(x, source)
    if may_overlap(*shared[:2]):
        ones = x.new_ones(tuple(shared[0]), dtype=x.dtype.to_real())
        found = named.div(found, named.clamp_min(added(ones, shared), 1))
    size, stride, at = target
    return as_strided(found, size, stride, start + at)


as_strided: Op = view_op(
    "as_strided(Tensor(a) input, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)",
    infer=_as_strided_infer,
    # the size of the memory does not follow from the geometry
    infers_anew=True,
    vjp=_as_strided_grad,
    jvp=_as_strided_tangent,
    method=True,
    doc="Any strides over the input's memory (torch.as_strided).",
)  # fmt: skip

unsafe_strided: Op = view_op(
    "unsafe_strided(Tensor input, int[] size, int[] stride) -> Tensor",
    infer=lambda input, size, stride: _as_strided_infer(input, size, stride, 0),
    infers_anew=True,
    namespace="-",
    outside=True,
    doc="A temporary with other strides over its memory; autograd does not treat it as a view.",
)


def _scatter_add(xp: Any, g: Any, shape: Any, strides: Any, size: Any, stride: Any, offset: int) -> Any:
    """Strided views may reach beyond the input's own elements; what is added there is dropped."""
    if not numel(shape) or not numel(size):
        return xp.zeros(shape, g.dtype)
    low = min(0, offset)
    ends = (_last(shape, strides), offset + _last(size, stride))
    flat = xp.zeros(max(ends) - low + 1, g.dtype)
    apply_at(xp, "add", flat, _positions(xp, size, stride, offset - low).reshape(-1), g.reshape(-1))
    return flat[_positions(xp, shape, strides, -low)]


def _last(size: Any, stride: Any) -> int:
    return int(sum((n - 1) * s for n, s in zip(size, stride, strict=True)))


def _strided_cost(span: int, *sizes: Sequence[int]) -> tuple[int, int]:
    """A position for each element, and the memory they span."""
    places = sum(map(numel, sizes))
    return places + span, 24 * places + 16 * span


as_strided_backward: Op = kernel(
    "as_strided_backward(Tensor grad, int[] shape, int[] strides, int[] size, int[] stride, int offset)"
    " -> Tensor",
    infer=lambda g, shape, strides, size, stride, offset: Meta(tuple(shape), g.dtype),
    impl=_scatter_add,
    cost=lambda grad, shape, strides, size, stride, offset: _strided_cost(
        max(_last(shape, strides), offset + _last(size, stride), 0) + abs(offset), shape, size
    ),
    vjp=lambda g, shape, strides, size, stride, offset: _gather(g, strides, size, stride, offset),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="The gradient of as_strided, added into the input's geometry.",
    raises=False,
)


def _gather(g: Any, strides: Any, size: Any, stride: Any, offset: int) -> Any:
    return as_strided(named.to_layout(g, list(strides)), size, stride, offset)


def _scatter_impl(xp: Any, a: Any, src: Any, size: Any, stride: Any, storage_offset: int) -> Any:
    """`a` (dense, in any order) with the elements at the given strides replaced by `src`."""
    out = a.copy(order="K")
    order = sorted(range(out.ndim), key=lambda i: (-out.strides[i], -out.shape[i]))
    flat = out.transpose(order).reshape(-1)
    flat[_positions(xp, size, stride, storage_offset)] = storable(src, out)
    return out


def _scatter_infer(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int) -> Meta:
    _check_bounds(size, stride, storage_offset, numel(input.shape), input.dtype.itemsize)
    return Meta(tuple(input.shape), input.dtype, tuple(input.strides))


def _scatter_rest(g: Any, input_meta: TensorMeta, size: Any, stride: Any, storage_offset: int) -> Any:
    hole = named.zeros(list(size), dtype=g.dtype)
    return as_strided_scatter(
        named.to_layout(g, list(input_meta.strides)), hole, size, stride, storage_offset
    )


as_strided_scatter = kernel(
    "as_strided_scatter(Tensor input, Tensor src, int[] size, int[] stride, int storage_offset) -> Tensor",
    infer=_scatter_infer,
    impl=_scatter_impl,
    cost=lambda input, src, size, stride, storage_offset: _strided_cost(0, input.shape, size),
    vjp={
        "input": _scatter_rest,
        "src": lambda g, input_meta, size, stride, storage_offset: _gather(
            g, input_meta.strides, size, stride, storage_offset
        ),
    },
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="A dense tensor (offset 0) with part of its memory replaced; strides and offset in elements.",
)


@public(name="as_strided_scatter", method=True)
def _as_strided_scatter(
    input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Any:
    """See torch.as_strided_scatter."""
    offset = input.offset if storage_offset is None else storage_offset
    return as_strided_scatter(named.clone(input), src, size, stride, offset)


def _permute_method(self: Tensor, *axes: Any, dims: Any = None) -> Any:
    """See torch.Tensor.permute."""
    return permute(self, as_list(axes if dims is None else dims, "permute", "dims"))


def _matrix_transpose(self: Tensor) -> Any:
    """The last two dimensions swapped (torch.Tensor.mT); RuntimeError for a vector."""
    if self.ndim == 1:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return transpose(self, -2, -1) if self.ndim else self


def _reversed(self: Tensor) -> Any:
    """All dimensions reversed (torch.Tensor.T)."""
    return permute(self, list(range(self.ndim - 1, -1, -1)))


@public()
def detach(input: Tensor) -> Tensor:
    """An alias without history that shares memory and version counter (torch.detach)."""
    return _detach(input)  # type: ignore[no-any-return]


def _detach_composite(input: Tensor) -> Tensor:
    out = detached(input)
    if out.backend.level:
        # Within vmap, detach at every level, as in PyTorch.
        out.array = detach(out.array)
    return out


_detach = stateful(
    "detach(Tensor(a) input) -> Tensor(a)",
    body=_detach_composite,
    doc="An alias without history (torch.Tensor.detach).",
    dry_run=True,
    wide=False,
    histories=Histories.NONE,
    spares_nodes=True,
)

for _name, _fn in {"view": view, "expand": expand, "permute": _permute_method, "detach": detach}.items():
    attach(_name, _fn)
attach_as_is("T", property(_reversed))
attach_as_is("mT", property(_matrix_transpose))
read_only(Tensor, "T", "mT")
