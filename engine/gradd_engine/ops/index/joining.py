"""Joined and repeated tensors: cat, stack and their variants; repeat, tile, flip, roll, meshgrid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, preserved_strides, wrap_dim, wrap_dims
from ...declare import LINEAR, attach, composite, kernel, public
from ...tensor import Tensor
from ..shape import atleast_1d, atleast_2d, atleast_3d, contiguous_copy, expand, reshape, unsqueeze, view
from ..shared import as_list, zeros
from .slicing import slice_, unbind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...data import DType
    from ...schema import Op


def common_dtype(tensors: Sequence[Tensor]) -> DType:
    """The promoted dtype of tensors under PyTorch's rules."""
    return dtypes.result_type(tensors)


def _skipped(t: Any) -> bool:
    """Whether a tensor has shape [0], which cat ignores."""
    return len(t.shape) == 1 and t.shape[0] == 0


def _cat_infer(tensors: Sequence[Tensor], dim: int) -> Meta:
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, t in enumerate(tensors):
        if not t.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    dtype = common_dtype(tensors)
    counted = [(i, t) for i, t in enumerate(tensors) if not _skipped(t)]
    if not counted:
        wrap_dim(dim, 1)
        return Meta((0,), dtype, compute=dtype)
    first = counted[0][1]
    d = wrap_dim(dim, first.ndim)
    total = 0
    for i, t in counted:
        if t.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {t.ndim}")
        for k, (a, b) in enumerate(zip(first.shape, t.shape, strict=True)):
            if k != d and a != b:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {d}. Expected size {a} but got size "
                    f"{b} for tensor number {i} in the list."
                )
        total += t.shape[d]
    shape = (*first.shape[:d], total, *first.shape[d + 1 :])
    return Meta(shape, dtype, compute=dtype)


def _cat_impl(xp: Any, tensors: Any, dim: int) -> Any:
    parts = [a for a in tensors if not _skipped(a)]
    return xp.concatenate(parts, axis=dim) if parts else tensors[0]


def _cat_backward(g: Any, tensors_meta: Any, dim: int) -> list[Any]:
    out, start = [], 0
    d = wrap_dim(dim, g.ndim)
    for m in tensors_meta:
        if _skipped(m):
            out.append(zeros([0], dtype=m.dtype))
            continue
        n = m.shape[d]
        out.append(slice_(g, d, start, n))
        start += n
    return out


cat_op = kernel(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    infer=_cat_infer,
    impl=_cat_impl,
    vjp=_cat_backward,
    jvp=LINEAR,
    doc="Tensors concatenated along `dim` (torch.cat).",
    raises=False,
    autocast={"cpu": "widest"},
)


@public(out=True)
def cat(tensors: Any, dim: int = 0) -> Any:
    """See torch.cat."""
    return cat_op(tensors, dim)


@public(name="concat", out=True)
def concat(tensors: Any, dim: int = 0) -> Any:
    """An alias of cat (torch.concat)."""
    return cat_op(tensors, dim)


@public(name="concatenate", out=True)
def concatenate(tensors: Any, dim: int = 0) -> Any:
    """An alias of cat (torch.concatenate)."""
    return cat_op(tensors, dim)


def _stack_infer(tensors: Sequence[Tensor], dim: int) -> Meta:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]
    d = wrap_dim(dim, first.ndim + 1)
    for i, t in enumerate(tensors):
        if t.shape != first.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first.shape)} at entry 0 and "
                f"{list(t.shape)} at entry {i}"
            )
    dtype = common_dtype(tensors)
    return Meta((*first.shape[:d], len(tensors), *first.shape[d:]), dtype, compute=dtype)


stack = kernel(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    infer=_stack_infer,
    impl=lambda xp, tensors, dim: xp.stack(tensors, axis=dim),
    vjp=lambda g, dim: list(unbind(g, dim)),
    jvp=LINEAR,
    doc="Tensors of one shape, stacked along a new dimension (torch.stack).",
    raises=False,
    autocast={"cpu": "widest"},
)


def _some(tensors: Sequence[Any], name: str) -> None:
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")


@public(out=True)
def hstack(tensors: Any) -> Any:
    """Tensors concatenated along the second dimension, vectors along the first (torch.hstack)."""
    _some(tensors, "hstack")
    parts = [atleast_1d(t) for t in tensors]
    return cat_op(parts, 0 if parts[0].ndim == 1 else 1)


@public(out=True)
def vstack(tensors: Any) -> Any:
    """Tensors concatenated along the first dimension, vectors as rows (torch.vstack)."""
    _some(tensors, "vstack")
    return cat_op([atleast_2d(t) for t in tensors], 0)


@public(out=True)
def dstack(tensors: Any) -> Any:
    """Tensors concatenated along the third dimension (torch.dstack)."""
    _some(tensors, "dstack")
    return cat_op([atleast_3d(t) for t in tensors], 2)


@public(out=True)
def column_stack(tensors: Any) -> Any:
    """Tensors side by side as columns, each vector as one column (torch.column_stack)."""
    _some(tensors, "column_stack")
    return cat_op([t if t.ndim > 1 else reshape(t, [t.numel(), 1]) for t in tensors], 1)


def _repeat_infer(input: Tensor, repeats: Any) -> Meta:
    if len(repeats) < input.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    lead = len(repeats) - input.ndim
    shape = [r * (1 if i < lead else input.shape[i - lead]) for i, r in enumerate(repeats)]
    if any(r < 0 for r in repeats):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {shape}")
    return Meta(tuple(shape), input.dtype)


def _repeat_impl(xp: Any, a: Any, repeats: Any) -> Any:
    return xp.tile(a, tuple(repeats)) if repeats else a


def _repeat_backward(g: Any, input_meta: Any, repeats: Any) -> Any:
    lead = len(repeats) - input_meta.ndim
    shape: list[int] = []
    summed: list[int] = []
    for i, r in enumerate(repeats):
        summed.append(len(shape))
        shape.append(r)
        if i >= lead:
            shape.append(input_meta.shape[i - lead])
    if not shape:
        return g
    if any(r == 0 for r in repeats):
        return zeros(list(input_meta.shape), dtype=g.dtype)
    return reshape(g, shape).sum(summed)


repeat = kernel(
    "repeat(Tensor input, int[] repeats) -> Tensor",
    infer=_repeat_infer,
    impl=_repeat_impl,
    vjp=_repeat_backward,
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="The tensor repeated along each dimension (torch.Tensor.repeat).",
    raises=False,
)


def _repeat_method(self: Any, *times: Any, repeats: Any = None) -> Any:
    """See torch.Tensor.repeat."""
    return repeat(self, as_list(times if repeats is None else repeats, "repeat", "repeats"))


attach("repeat", _repeat_method)


@public()
def tile(input: Tensor, dims: Any) -> Any:
    """The tensor repeated along each dimension (torch.tile)."""
    dims = as_list(dims, "tile", "dims")
    return repeat(input, [1] * (input.ndim - len(dims)) + dims)


def _tile_method(self: Any, *times: Any, dims: Any = None) -> Any:
    """See torch.Tensor.tile."""
    return tile(self, as_list(times if dims is None else dims, "tile", "dims"))


attach("tile", _tile_method)


def _repeat_interleave(input: Tensor, repeats: int, dim: int | None) -> Any:
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if dim is None:
        input = reshape(input, [-1])
    d = wrap_dim(0 if dim is None else dim, input.ndim)
    if not input.ndim:
        input = reshape(input, [1])
    shape = list(input.shape)
    spread = expand(unsqueeze(input, d + 1), [*shape[: d + 1], repeats, *shape[d + 1 :]])
    return view(contiguous_copy(spread), [*shape[:d], shape[d] * repeats, *shape[d + 1 :]])


repeat_interleave = composite(
    "repeat_interleave(Tensor input, int repeats, int? dim=None) -> Tensor",
    body=_repeat_interleave,
    method=True,
    doc="Each element repeated `repeats` times (torch.repeat_interleave with one number).",
)


def _flip_infer(input: Tensor, dims: Any) -> Meta:
    if len(dims):
        wrap_dims(dims, input.ndim)
    return Meta(tuple(input.shape), input.dtype, preserved_strides(input))


flip_op: Op = kernel(
    "flip(Tensor input, int[] dims) -> Tensor",
    infer=_flip_infer,
    impl=lambda xp, a, dims: xp.flip(a, axis=tuple(dims)) if a.ndim and len(dims) else a,
    vjp=lambda g, dims: flip_op(g, dims),
    jvp=LINEAR,
    doc="The tensor with `dims` reversed (torch.flip).",
    raises=False,
)


@public()
def flip(input: Any, dims: Any) -> Any:
    """See torch.flip."""
    return flip_op(input, as_list(dims, "flip", "dims"))


def _flip_method(self: Any, *axes: Any, dims: Any = None) -> Any:
    """See torch.Tensor.flip."""
    return flip_op(self, as_list(axes if dims is None else dims, "flip", "dims"))


attach("flip", _flip_method, "(dims: Sequence[int])", "(*axes: int)")


@public(method=True)
def fliplr(input: Tensor) -> Any:
    """The tensor with its second dimension reversed (torch.fliplr)."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip_op(input, [1])


@public(method=True)
def flipud(input: Tensor) -> Any:
    """The tensor with its first dimension reversed (torch.flipud)."""
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip_op(input, [0])


def _roll_infer(input: Tensor, shifts: Any, dims: Any) -> Meta:
    if not len(shifts):
        raise RuntimeError("`shifts` required")
    if len(dims):
        if len(shifts) != len(dims):
            raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
        for d in dims:
            wrap_dim(d, input.ndim)
            if not input.ndim:
                raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    elif len(shifts) != 1:
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:0")
    return Meta(tuple(input.shape), input.dtype)


def _roll_impl(xp: Any, a: Any, shifts: Any, dims: Any) -> Any:
    if not len(dims):
        return xp.roll(a, shifts[0])
    return xp.roll(a, tuple(shifts), axis=tuple(dims))


roll_op: Op = kernel(
    "roll(Tensor input, int[] shifts, int[] dims=[]) -> Tensor",
    infer=_roll_infer,
    impl=_roll_impl,
    vjp=lambda g, shifts, dims: roll_op(g, [-s for s in shifts], dims),
    jvp=LINEAR,
    doc="Elements shifted along dimensions, wrapping around (torch.roll).",
    raises=False,
)


@public(method=True)
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """See torch.roll."""
    return roll_op(
        input, as_list(shifts, "roll", "shifts"), [] if dims is None else as_list(dims, "roll", "dims")
    )


def _meshgrid(tensors: Sequence[Tensor], indexing: str) -> Any:
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in tensors:
        if t.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t.ndim}D"
            )
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(tensors) >= 2
    given = [tensors[1], tensors[0], *tensors[2:]] if swap else list(tensors)
    shape = [t.numel() for t in given]
    n = len(given)
    grids = [expand(view(t, [-1 if i == k else 1 for i in range(n)]), shape) for k, t in enumerate(given)]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


meshgrid_op = composite(
    "meshgrid(Tensor[] tensors, *, str indexing='ij') -> Tensor[]",
    body=_meshgrid,
    doc="Coordinate grids from 1-D tensors (torch.meshgrid).",
)


@public()
def meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    """See torch.meshgrid."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    return meshgrid_op(list(given), indexing=indexing)
