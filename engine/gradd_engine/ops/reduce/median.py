"""The median: the lower of the two middle elements, and its index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, reduced_shape, wrap_dim
from ...declare import Joint, composite, kernel, public
from ...schema import Op
from ...tensor import Tensor
from ..shared import refuse, return_type
from .extrema import among_ties, not_empty, pick, place, share_all
from .reductions import sum

if TYPE_CHECKING:
    from collections.abc import Callable


def _middle(xp: Any, a: Any, skip_nan: bool) -> Any:
    """The index of the median along the last dimension; any nan is the median, unless skipped."""
    order = xp.argsort(a, axis=-1, kind="stable")
    if a.dtype.kind != "f":
        return order[..., (a.shape[-1] - 1) // 2]
    missing = xp.isnan(a).sum(axis=-1)
    whole = a.shape[-1]
    at = xp.maximum((whole - missing - 1) // 2, 0)
    if not skip_nan:
        # nan sorts last: take the first one
        at = xp.where(missing > 0, whole - missing, at)
    return xp.take_along_axis(order, at[..., None], axis=-1)[..., 0]


def _whole(name: str, skip_nan: bool) -> Op:
    def infer(input: Tensor) -> Meta:
        refuse(input.dtype, f"{name}_cpu", dtypes.bool_, complex=True)
        return Meta((), input.dtype)

    def impl(xp: Any, a: Any) -> Any:
        row = a.reshape(-1)
        return row[_middle(xp, row, skip_nan)] if row.size else a.dtype.type(float("nan"))

    return kernel(
        f"{name}_all(Tensor input) -> Tensor",
        infer=infer,
        impl=impl,
        vjp=lambda g, input, out: among_ties(g, input, out),
        jvp=lambda input_t, input, out: sum(input_t * share_all(input, out)),
        namespace="-",
        outside=True,
        node=f"{name.capitalize()}Backward0",
        doc=f"The {name} over all elements (torch.{name}); ties share the gradient evenly.",
        raises=False,
    )


def _along(name: str, skip_nan: bool) -> Op:
    def infer(input: Tensor, dim: int, keepdim: bool) -> list[Meta]:
        over = wrap_dim(dim, input.ndim)
        not_empty(input, name, over)
        refuse(input.dtype, "median_out", dtypes.bool_, complex=True)
        shape = reduced_shape(input.shape, (over,), keepdim)
        return [Meta(shape, input.dtype), Meta(shape, dtypes.int64)]

    def impl(xp: Any, a: Any, dim: int, keepdim: bool) -> Any:
        if not a.ndim:
            return a.copy(), xp.zeros((), xp.int64)
        at = xp.expand_dims(_middle(xp, xp.moveaxis(a, dim, -1), skip_nan), dim)
        values = xp.take_along_axis(a, at, axis=dim)
        return (values, at) if keepdim else (values.squeeze(axis=dim), at.squeeze(axis=dim))

    def vjp(grads: Any, out1: Any, input_meta: Any, dim: int, keepdim: bool) -> Any:
        at = wrap_dim(dim, len(input_meta.shape))
        return (place(grads[0], out1, at, keepdim, list(input_meta.shape)),)

    return kernel(
        f"{name}_dim(Tensor input, int dim, bool keepdim=False) -> (Tensor values, const Tensor indices)",
        infer=infer,
        impl=impl,
        vjp=Joint("input", vjp),
        jvp=lambda input_t, outs, dim, keepdim: (
            pick(input_t, outs[1], wrap_dim(dim, input_t.ndim), keepdim),
            None,
        ),
        node=f"{name.capitalize()}Backward1",
        namespace="-",
        outside=True,
        doc=f"The {name} along a dimension and its index (torch.{name}).",
        raises=False,
    )


def _published(name: str, skip_nan: bool) -> Callable[..., Any]:
    whole, along = _whole(name, skip_nan), _along(name, skip_nan)
    pair = return_type(name, "values indices")

    def call(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        return whole(input) if dim is None else pair(*along(input, dim, keepdim))

    call.__name__ = name
    call.__doc__ = f"See torch.{name}: of all, or along `dim` with indices."
    composite(
        f"{name}(Tensor input, *, int? dim=None, bool keepdim=False)"
        " -> Tensor|(Tensor values, const Tensor indices)",
        body=call,
        namespace="-",
        outside=True,
        doc=f"The {name} over all elements, or along `dim` as values and indices (torch.{name}).",
    )
    forms = ("(input)", f"(input, dim: int, keepdim=False) -> return_types.{name}")
    return public(name=name, method=True, out=True, forms=forms)(call)


median = _published("median", False)
nanmedian = _published("nanmedian", True)
