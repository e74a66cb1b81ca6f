"""Largest and smallest elements, their indices, and any, all and count_nonzero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, reduced_shape, wrap_dim
from ...declare import Joint, composite, invalid_combination, kernel, public
from ...schema import Op
from ...tensor import Tensor
from ..elementwise import maximum, minimum, where
from ..shape import to_dtype
from ..shared import refuse, return_type
from .reductions import axes, collect, reduced, spread, sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    Dims = int | Sequence[int] | None


_MinMax = return_type("aminmax", "min max")
_RETURNS = {name: return_type(name, "values indices") for name in ("max", "min")}


def _not_complex(input: Tensor, name: str) -> None:
    if input.dtype.is_complex:
        raise RuntimeError(f"{name}(): does not support complex input")


def not_empty(input: Tensor, name: str, dim: Dims) -> None:
    """Raise PyTorch's RuntimeError or IndexError if a reduced dimension is empty."""
    if dim is None:
        if not input.numel():
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                "reduction dim with the 'dim' argument."
            )
        return
    for i in axes(input, dim):
        if input.ndim and input.shape[i] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {i} to have non-zero size.")


# -- one element of each slice, by index -----------------------------------------------------------


def _pick_meta(input: Tensor, index: Tensor, dim: int, keepdim: bool) -> Meta:
    return Meta(_picked_shape("pick", input.shape, index, dim, keepdim), input.dtype)


def _place_meta(input: Tensor, index: Tensor, dim: int, keepdim: bool, size: Sequence[int]) -> Meta:
    if tuple(input.shape) != _picked_shape("place", size, index, dim, keepdim):
        raise RuntimeError(
            f"place(): {list(input.shape)} elements of slices along {dim} do not fit {list(size)}"
        )
    return Meta(tuple(size), input.dtype)


def _picked_shape(name: str, size: Sequence[int], index: Tensor, dim: int, keepdim: bool) -> tuple[int, ...]:
    """The shape of one element per slice; RuntimeError if `index` has another."""
    shape = tuple(size)
    found = reduced_shape(shape, (wrap_dim(dim, len(shape)),) if shape else (), keepdim)
    if index.dtype is not dtypes.int64 or tuple(index.shape) != found:
        raise RuntimeError(
            f"{name}(): expected an index of int64 and shape {list(found)}, got {index.dtype} "
            f"{list(index.shape)}"
        )
    return found


def _pick(xp: Any, a: Any, index: Any, dim: int, keepdim: bool) -> Any:
    if not a.ndim:
        return a.copy()
    at = index if keepdim else xp.expand_dims(index, dim)
    found = xp.take_along_axis(a, at, axis=dim)
    return found if keepdim else found.squeeze(axis=dim)


def _place(xp: Any, g: Any, index: Any, dim: int, keepdim: bool, size: Any) -> Any:
    if not size:
        return g.copy()
    at, value = (index, g) if keepdim else (xp.expand_dims(index, dim), xp.expand_dims(g, dim))
    # a comparison instead of a scatter: every array library has it
    shape = [1] * len(size)
    shape[dim] = size[dim]
    return xp.where(xp.arange(size[dim]).reshape(shape) == at, value, value.dtype.type(0))


pick: Op = kernel(
    "pick(Tensor input, Tensor index, int dim, bool keepdim) -> Tensor",
    infer=_pick_meta,
    impl=_pick,
    vjp=(lambda g, input_meta, index, dim, keepdim: place(g, index, dim, keepdim, list(input_meta.shape)),),
    jvp=lambda input_t, index, dim, keepdim: pick(input_t, index, dim, keepdim),
    namespace="-",
    outside=True,
    doc="The element at `index` of each slice along `dim`.",
)
place: Op = kernel(
    "place(Tensor input, Tensor index, int dim, bool keepdim, int[] size) -> Tensor",
    infer=_place_meta,
    impl=_place,
    vjp=(lambda g, index, dim, keepdim: pick(g, index, dim, keepdim),),
    jvp=lambda input_t, index, dim, keepdim, size: place(input_t, index, dim, keepdim, size),
    namespace="-",
    outside=True,
    doc="Zeros of `size` with `input` at `index` of each slice along `dim`: the transpose of `pick`.",
)


# -- max, min --------------------------------------------------------------------------------------


def _share(input: Any, out: Any, dim: Dims, keepdim: bool) -> Any:
    """The derivative of an extreme value, shared evenly by ties."""
    n = spread(out, input, dim, keepdim)
    ties = input == n
    return to_dtype(ties, input.dtype) / sum(ties, dim, True)


def _ties(input: Any, out: Any) -> Any:
    """Which elements are the value of all; nan ties with nan."""
    return where(out != out, input != input, input == out)


def share_all(input: Any, out: Any) -> Any:
    """Like `_share` over everything, except that nan ties with nan."""
    ties = _ties(input, out)
    return to_dtype(ties, input.dtype) / sum(ties)


def among_ties(g: Any, input: Any, out: Any) -> Any:
    """The gradient, shared evenly by ties; what is none gets zero, also of a gradient that is not finite."""
    ties = _ties(input, out)
    return where(ties, g / sum(ties), 0.0)


def _whole(name: str) -> Op:
    def infer(input: Tensor) -> Meta:
        not_empty(input, name, None)
        refuse(input.dtype, f"{name}_all", complex=True)
        return Meta((), input.dtype)

    return kernel(
        f"{name}_all(Tensor input) -> Tensor",
        infer=infer,
        impl=lambda xp, a: getattr(a, name)(),
        vjp=lambda g, input, out: among_ties(g, input, out),
        jvp=lambda input_t, input, out: sum(input_t * share_all(input, out)),
        node=f"{name.capitalize()}Backward1",
        namespace="-",
        outside=True,
        doc=f"The {name}imum over all elements (torch.{name}); ties share the gradient evenly.",
        raises=False,
    )


def _along(name: str) -> Op:
    def infer(input: Tensor, dim: int, keepdim: bool) -> list[Meta]:
        over = wrap_dim(dim, input.ndim)
        not_empty(input, name, over)
        _not_complex(input, name)
        shape = reduced_shape(input.shape, (over,), keepdim)
        return [Meta(shape, input.dtype), Meta(shape, dtypes.int64)]

    def impl(xp: Any, a: Any, dim: int, keepdim: bool) -> Any:
        if not a.ndim:
            return a.copy(), xp.zeros((), xp.int64)
        at = getattr(xp, f"arg{name}")(a, axis=dim, keepdims=True)
        values = xp.take_along_axis(a, at, axis=dim)
        return (values, at) if keepdim else (values.squeeze(axis=dim), at.squeeze(axis=dim))

    def vjp(grads: Any, out1: Any, input_meta: Any, dim: int, keepdim: bool) -> Any:
        at = wrap_dim(dim, len(input_meta.shape))
        return (place(grads[0], out1, at, keepdim, list(input_meta.shape)),)

    def jvp(input_t: Any, outs: Any, dim: int, keepdim: bool) -> Any:
        return pick(input_t, outs[1], wrap_dim(dim, input_t.ndim), keepdim), None

    return kernel(
        f"{name}_dim(Tensor input, int dim, bool keepdim=False) -> (Tensor values, const Tensor indices)",
        infer=infer,
        impl=impl,
        vjp=Joint("input", vjp),
        jvp=jvp,
        node=f"{name.capitalize()}Backward0",
        namespace="-",
        outside=True,
        doc=f"The {name}imum along a dimension and its index, the first of ties (torch.{name}).",
        raises=False,
    )


_max, _min, _max_dim, _min_dim = _whole("max"), _whole("min"), _along("max"), _along("min")


def _choose(name: str, input: Any, dim: Any, keepdim: bool, whole: Op, along: Op, binary: Op) -> Any:
    if not isinstance(input, Tensor):
        given = [x for x in (input, dim) if x is not None]
        forms = ("Tensor input", "Tensor input, Tensor other", "Tensor input, int dim, bool keepdim = False")
        raise TypeError(invalid_combination(name, given, forms))
    if dim is None:
        return whole(input)
    return binary(input, dim) if isinstance(dim, Tensor) else _RETURNS[name](*along(input, dim, keepdim))


@public(
    out=True,
    method=True,
    forms=("(input)", "(input, dim: int, keepdim=False) -> return_types.max", "(input, other: Tensor)"),
)
def max(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """See torch.max: over all elements; along `dim`, with indices; or of two tensors."""
    return _choose("max", input, dim if other is None else other, keepdim, _max, _max_dim, maximum)


@public(
    out=True,
    method=True,
    forms=("(input)", "(input, dim: int, keepdim=False) -> return_types.min", "(input, other: Tensor)"),
)
def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """See torch.min: over all elements; along `dim`, with indices; or of two tensors."""
    return _choose("min", input, dim if other is None else other, keepdim, _min, _min_dim, minimum)


def _any_form(name: str, choose: Any) -> Op:
    """The op for other languages: over all, of two tensors, or along `dim` with two outputs."""
    return composite(
        f"{name}(Tensor input, Tensor? other=None, *, int? dim=None, bool keepdim=False)"
        " -> Tensor|(Tensor values, const Tensor indices)",
        body=lambda input, other, dim, keepdim: choose(input, dim, keepdim, other=other),
        namespace="-",
        outside=True,
        doc=f"The {name}imum over all, of two tensors, or along `dim` as values and indices (torch.{name}).",
    )


_any_form("max", max)
_any_form("min", min)


def _end(name: str) -> Op:
    def infer(input: Tensor, dim: Dims, keepdim: bool) -> Meta:
        if input.numel() == 0:
            not_empty(input, name, dim if dim not in ((), []) else None)
        refuse(input.dtype, f"{name[1:]}_values_cpu", complex=True)
        return reduced(input, dim, keepdim, input.dtype)

    return kernel(
        f"{name}(Tensor input, int[] dim=[], bool keepdim=False) -> Tensor",
        infer=infer,
        impl=lambda xp, a, dim, keepdim: getattr(a, name[1:])(axis=axes(a, dim), keepdims=keepdim),
        vjp=lambda g, input, dim, keepdim, out: (
            spread(g, input, dim, keepdim) * _share(input, out, dim, keepdim)
        ),
        jvp=lambda input_t, input, dim, keepdim, out: collect(
            input_t, _share(input, out, dim, keepdim), dim, keepdim, out
        ),
        method=True,
        doc=f"The {name[1:]}imum over dimensions (torch.{name}); ties share the gradient evenly.",
        raises=False,
    )


amax, amin = _end("amax"), _end("amin")


def _aminmax_infer(input: Tensor, dim: int | None, keepdim: bool) -> list[Meta]:
    refuse(input.dtype, "aminmax_cpu", complex=True)
    if dim is None and not input.numel():
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    not_empty(input, "aminmax", dim)
    meta = reduced(input, dim, keepdim, input.dtype)
    return [meta, Meta(meta.shape, meta.dtype)]


def _aminmax_vjp(grads: Any, input: Any, dim: int | None, keepdim: bool, outs: Any) -> Any:
    total = None
    for g, out in zip(grads, outs, strict=True):
        if g is not None:
            part = spread(g, input, dim, keepdim) * _share(input, out, dim, keepdim)
            total = part if total is None else total + part
    return (total,)


_aminmax: Op = kernel(
    "aminmax(Tensor input, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    infer=_aminmax_infer,
    impl=lambda xp, a, dim, keepdim: (
        a.min(axis=axes(a, dim), keepdims=keepdim),
        a.max(axis=axes(a, dim), keepdims=keepdim),
    ),
    vjp=Joint("input", _aminmax_vjp),
    jvp=lambda input_t, input, dim, keepdim, outs: [
        collect(input_t, _share(input, o, dim, keepdim), dim, keepdim, o) for o in outs
    ],
    doc="The smallest and the largest element (torch.aminmax).",
    raises=False,
)


@public(method=True, out=True)
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """See torch.aminmax."""
    return _MinMax(*_aminmax(input, dim=dim, keepdim=keepdim))


def _index(name: str) -> Op:
    def infer(input: Tensor, dim: int | None, keepdim: bool) -> Meta:
        for kind, refused in (("bool", input.dtype is dtypes.bool_), ("complex", input.dtype.is_complex)):
            if refused:
                raise RuntimeError(f"{name}(): does not support {kind} input")
        if dim is None and not input.numel():
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        not_empty(input, name, dim)
        return reduced(input, dim, keepdim, dtypes.int64, input.dtype)

    def impl(xp: Any, a: Any, dim: int | None, keepdim: bool) -> Any:
        if not a.ndim:
            return xp.zeros((), xp.int64)
        return getattr(xp, name)(a, axis=dim, keepdims=keepdim)

    return kernel(
        f"{name}(Tensor input, int? dim=None, bool keepdim=False) -> Tensor",
        infer=infer,
        impl=impl,
        method=True,
        doc=f"The index of the {name[3:]}imum, the first of ties (torch.{name}).",
        raises=False,
    )


argmax, argmin = _index("argmax"), _index("argmin")


def _truth(name: str, words: str) -> Op:
    def infer(input: Tensor, dim: Dims, keepdim: bool) -> Meta:
        dtype = dtypes.uint8 if input.dtype is dtypes.uint8 else dtypes.bool_
        return reduced(input, dim, keepdim, dtype, input.dtype)

    return kernel(
        f"{name}(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor",
        infer=infer,
        impl=lambda xp, a, dim, keepdim: getattr(xp, name)(a != 0, axis=axes(a, dim), keepdims=keepdim),
        method=True,
        doc=f"Whether {words}, over `dim` or over all (torch.{name}).",
        raises=False,
    )


all, any = _truth("all", "every element is true"), _truth("any", "any element is true")

count_nonzero: Op = kernel(
    "count_nonzero(Tensor input, int[]? dim=None) -> Tensor",
    infer=lambda input, dim: reduced(input, dim, False, dtypes.int64, input.dtype),
    impl=lambda xp, a, dim: (a != 0).sum(axis=axes(a, dim)),
    method=True,
    doc="The number of nonzero elements (torch.count_nonzero).",
    raises=False,
)
