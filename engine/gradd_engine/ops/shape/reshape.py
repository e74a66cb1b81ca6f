"""Shape views: squeeze, unsqueeze, flatten, unflatten, movedim, and aliases of view, expand and transpose."""

from __future__ import annotations

from typing import Any

from ...data import Meta, numel, wrap_dim, wrap_dims
from ...declare import all_tensors, attach, composite, public
from ...declare import view as view_op
from ...tensor import Tensor
from ..shared import as_list
from .copies import contiguous
from .view_ops import expand, permute, reshape, transpose, view


def _without(input: Tensor, dims: Any) -> Meta:
    """The geometry of `input` without those of `dims` that have size 1."""
    gone = {d for d in dims if input.shape[d] == 1}
    return Meta(
        tuple(s for d, s in enumerate(input.shape) if d not in gone),
        input.dtype,
        tuple(s for d, s in enumerate(input.strides) if d not in gone),
        input.offset,
    )


def _squeeze_dim_infer(input: Tensor, dim: int) -> Meta:
    d = wrap_dim(dim, input.ndim)
    return _without(input, [d] if input.ndim else [])


def _squeeze_dims_infer(input: Tensor, dim: Any) -> Meta:
    return _without(input, wrap_dims(dim, input.ndim) if len(dim) and input.ndim else [])


def _unsqueezed(g: Any, shape: Any, dims: Any) -> Any:
    for d in sorted(dims):
        if shape[d] == 1:
            g = unsqueeze(g, d)
    return g


squeeze_all = view_op(
    "squeeze_all(Tensor(a) input) -> Tensor(a)",
    infer=lambda input: _without(input, range(input.ndim)),
    vjp=lambda g, input_meta: _unsqueezed(g, input_meta.shape, range(input_meta.ndim)),
    node="SqueezeBackward0",
    namespace="-",
    outside=True,
    doc="All dimensions of size 1 removed.",
    relative=True,
)
squeeze_dim = view_op(
    "squeeze_dim(Tensor(a) input, int dim) -> Tensor(a)",
    infer=_squeeze_dim_infer,
    vjp=lambda g, input_meta, dim: _unsqueezed(
        g, input_meta.shape, [wrap_dim(dim, input_meta.ndim)] if input_meta.ndim else []
    ),
    node="SqueezeBackward1",
    namespace="-",
    outside=True,
    doc="A dimension removed if it has size 1.",
    relative=True,
)
squeeze_dims = view_op(
    "squeeze_dims(Tensor(a) input, int[] dim) -> Tensor(a)",
    infer=_squeeze_dims_infer,
    vjp=lambda g, input_meta, dim: _unsqueezed(
        g, input_meta.shape, wrap_dims(dim, input_meta.ndim) if len(dim) and input_meta.ndim else []
    ),
    node="SqueezeBackward2",
    namespace="-",
    outside=True,
    doc="The given dimensions removed if they have size 1.",
    relative=True,
)


def _squeeze(input: Tensor, dim: Any) -> Any:
    if dim is None:
        return squeeze_all(input)
    return squeeze_dim(input, dim) if isinstance(dim, int) else squeeze_dims(input, dim)


squeeze = composite(
    "squeeze(Tensor input, int[]? dim=None) -> Tensor",
    body=_squeeze,
    method=True,
    doc="Dimensions of size 1 removed: all, one, or the given ones (torch.squeeze).",
)


def _unsqueeze_infer(input: Tensor, dim: int) -> Meta:
    d = wrap_dim(dim, input.ndim + 1)
    stride = input.shape[d] * input.strides[d] if d < input.ndim else 1
    return Meta(
        (*input.shape[:d], 1, *input.shape[d:]),
        input.dtype,
        (*input.strides[:d], stride, *input.strides[d:]),
        input.offset,
    )


unsqueeze = view_op(
    "unsqueeze(Tensor(a) input, int dim) -> Tensor(a)",
    infer=_unsqueeze_infer,
    vjp=lambda g, dim: squeeze_dim(g, dim),
    method=True,
    doc="A dimension of size 1 inserted (torch.unsqueeze).",
    relative=True,
)


def _flatten(input: Tensor, start_dim: int, end_dim: int) -> Any:
    a, b = wrap_dim(start_dim, input.ndim), wrap_dim(end_dim, input.ndim)
    if a > b:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not input.ndim:
        return reshape(input, [1])
    if a == b:
        return input
    shape = list(input.shape)
    return reshape(input, [*shape[:a], numel(shape[a : b + 1]), *shape[b + 1 :]])


flatten = composite(
    "flatten(Tensor input, int start_dim=0, int end_dim=-1) -> Tensor",
    body=_flatten,
    method=True,
    doc=(
        "Dimensions `start_dim` to `end_dim` merged; the tensor itself if there is nothing to merge "
        "(torch.flatten)."
    ),
)


def _unflatten(input: Tensor, dim: int, sizes: Any) -> Any:
    d = wrap_dim(dim, input.ndim)
    sizes = list(sizes) if isinstance(sizes, (list, tuple)) else [sizes]
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    have = input.shape[d]
    known = numel([s for s in sizes if s != -1])
    if sizes.count(-1) == 1 and known and have % known == 0:
        sizes[sizes.index(-1)] = have // known
    elif known != have or -1 in sizes:
        raise RuntimeError(
            f"unflatten: Provided sizes {sizes} don't multiply up to the size of dim {d} ({have}) in the "
            "input tensor"
        )
    return view(input, [*input.shape[:d], *sizes, *input.shape[d + 1 :]])


unflatten = composite(
    "unflatten(Tensor input, int dim, int[] sizes) -> Tensor",
    body=_unflatten,
    method=True,
    doc="One dimension split into several (torch.unflatten).",
)


@public(method=True)
def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Dimensions moved to other positions; a view (torch.movedim)."""
    return movedim_op(input, source, destination)


def _movedim(input: Tensor, source: Any, destination: Any) -> Any:
    source = [source] if isinstance(source, int) else list(source)
    destination = [destination] if isinstance(destination, int) else list(destination)
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({source} dims) should contain the same "
            f"number of dims as destination ({destination} dims)"
        )
    n = input.ndim
    froms, tos = [wrap_dim(d, n) for d in source], [wrap_dim(d, n) for d in destination]
    for dims, given, what in ((froms, source, "source"), (tos, destination, "destination")):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{what}` ({given})")
    if not n:
        return permute(input, [])
    order: list[int] = [-1] * n
    for a, b in zip(froms, tos, strict=True):
        order[b] = a
    rest = iter(d for d in range(n) if d not in froms)
    return permute(input, [next(rest) if d < 0 else d for d in order])


movedim_op = composite(
    "movedim(Tensor input, int[] source, int[] destination) -> Tensor",
    body=_movedim,
    doc="Dimensions moved to other positions, the others kept in order (torch.movedim).",
)
public(name="moveaxis", method="moveaxis")(movedim)


@public(method=True)
def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """Two dimensions swapped; a view (torch.swapaxes)."""
    return transpose(input, axis0, axis1)


@public(method=True)
def swapdims(input: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions swapped; a view (torch.swapdims)."""
    return transpose(input, dim0, dim1)


@public(method=True)
def ravel(input: Tensor) -> Any:
    """The elements as a vector; a view if strides allow (torch.ravel)."""
    return reshape(contiguous(input), [-1])


@public(method=True)
def broadcast_to(input: Any, *sizes: Any, size: Any = None) -> Any:
    """A view of the input, broadcast to `size` (torch.broadcast_to)."""
    return expand(input, as_list(sizes if size is None else size, "expand", "size"))


def _expand_as(self: Any, other: Tensor) -> Any:
    """A view expanded to the shape of `other` (torch.Tensor.expand_as)."""
    return expand(self, list(other.shape))


def _view_as(self: Any, other: Tensor) -> Any:
    """A view in the shape of `other` (torch.Tensor.view_as)."""
    return view(self, list(other.shape))


def _reshape_as(self: Any, other: Tensor) -> Any:
    """The same elements in the shape of `other` (torch.Tensor.reshape_as)."""
    return reshape(self, list(other.shape))


def _unflatten_method(self: Any, dim: int, sizes: Any) -> Any:
    """See torch.Tensor.unflatten."""
    return unflatten(self, dim, list(sizes) if isinstance(sizes, (list, tuple)) else [sizes])


def _squeeze_method(self: Any, dim: Any = None) -> Any:
    """See torch.Tensor.squeeze."""
    return squeeze(self, dim)


def _flatten_method(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
    """See torch.flatten; a 1-D tensor is returned itself."""
    if len(input.shape) == 1 and start_dim in (0, -1) and end_dim in (0, -1):
        return input
    return flatten(input, start_dim, end_dim)


public(name="flatten", method="flatten")(_flatten_method)


def _atleast(input: Any, n: int) -> Any:
    if input.ndim >= n:
        return input
    if input.ndim == 0:
        return reshape(input, [1] * n)
    if n == 2:
        return unsqueeze(input, 0)
    return unsqueeze(unsqueeze(input, 0), -1) if input.ndim == 1 else unsqueeze(input, -1)


def _each_atleast(tensors: tuple[Any, ...], n: int) -> Any:
    """The result for one tensor, or a tuple for several or a sequence."""
    given = tensors[0] if len(tensors) == 1 else tensors
    if isinstance(given, (list, tuple)):
        return tuple(_atleast(t, n) for t in all_tensors(given))
    return _atleast(all_tensors(tensors)[0], n)


@public(forms=("(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]", "(*tensors: Tensor) -> Any"))
def atleast_1d(*tensors: Any) -> Any:
    """Each tensor with at least one dimension (torch.atleast_1d)."""
    return _each_atleast(tensors, 1)


@public(forms=("(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]", "(*tensors: Tensor) -> Any"))
def atleast_2d(*tensors: Any) -> Any:
    """Each tensor with at least two dimensions, new ones in front (torch.atleast_2d)."""
    return _each_atleast(tensors, 2)


@public(forms=("(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]", "(*tensors: Tensor) -> Any"))
def atleast_3d(*tensors: Any) -> Any:
    """Each tensor with at least three dimensions; a matrix gets a last one (torch.atleast_3d)."""
    return _each_atleast(tensors, 3)


@public(
    forms=("(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]", "(*tensors: Tensor) -> tuple[Tensor, ...]")
)
def broadcast_tensors(*tensors: Any) -> Any:
    """Views of tensors, broadcast to one shape (torch.broadcast_tensors)."""
    from ...data import broadcast_shapes

    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    shape: tuple[int, ...] = ()
    for t in all_tensors(given):
        shape = broadcast_shapes(shape, tuple(t.shape))
    return tuple(t if tuple(t.shape) == shape else expand(t, list(shape)) for t in given)


@public(forms="(*shapes: int | Sequence[int]) -> Size")
def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that shapes broadcast to; RuntimeError if they do not (torch.broadcast_shapes)."""
    from ...data import Size
    from ...data import broadcast_shapes as two

    out: tuple[int, ...] = ()
    for s in shapes:
        out = two(out, (s,) if isinstance(s, int) else tuple(s))
    return Size(out)


for _name, _fn in {
    "expand_as": _expand_as, "view_as": _view_as, "reshape_as": _reshape_as, "unflatten": _unflatten_method,
    "squeeze": _squeeze_method,
}.items():  # fmt: skip
    attach(_name, _fn)
