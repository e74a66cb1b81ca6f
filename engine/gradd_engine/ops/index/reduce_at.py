"""Reductions at indices: scatter_reduce and index_reduce.

A rule has two factors: the derivative of a result by the input's element, and by the source's. The gradient
gathers and multiplies by them; forward mode multiplies by them and adds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, preserved_strides, state, wrap_dim
from ...declare import Joint, kernel
from ...kernels import apply_at
from ...schema import Op
from ..elementwise import where
from ..shape import expand, reshape, type_as
from ..shared import conj, ones_like, refuse, zeros_like
from .scatter import INDEX, gather_op, padded, places, scatter_add, scatter_check, scatter_op
from .slicing import narrow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...tensor import Tensor

_SCATTERED = ("sum", "prod", "mean", "amax", "amin")


def _start(xp: Any, dtype: Any, reduce: str) -> Any:
    """The identity element of a reduction."""
    if reduce in ("sum", "mean"):
        return dtype.type(0)
    if reduce == "prod" or dtype.kind == "b":
        return dtype.type(reduce in ("prod", "amin"))
    least = reduce == "amax"
    if dtype.kind == "f":
        return dtype.type(-xp.inf if least else xp.inf)
    bounds = xp.iinfo(dtype)
    return dtype.type(bounds.min if least else bounds.max)


_AT = {"sum": "add", "mean": "add", "prod": "multiply", "amax": "maximum", "amin": "minimum"}


def _reduce(xp: Any, a: Any, index: Any, src: Any, dim: int, reduce: str, include_self: bool) -> Any:
    if not index.size:
        return a.copy()
    out, at, src = places(xp, a.copy(), index, src, dim)
    if not include_self:
        out[at] = _start(xp, out.dtype, reduce)
    if not src.ndim:
        src = src.reshape(1)
    apply_at(xp, _AT[reduce], out, at, src)
    if reduce == "mean":
        count = xp.full(out.shape, int(include_self), xp.int64)
        apply_at(xp, "add", count, at, 1)
        count = xp.maximum(count, 1)
        out = out // count if out.dtype.kind in "iu" else (out / count).astype(out.dtype)
    return out.reshape(a.shape)


def _counts(input: Any, dim: int, index: Any, include_self: bool) -> Any:
    start = ones_like(input) if include_self else zeros_like(input)
    count = scatter_add(start, dim, index, type_as(ones_like(index), input))
    return where(count == 0, 1.0, count)


def _factors(
    input: Any, src: Any, out: Any, dim: int, index: Any, reduce: str, include_self: bool
) -> tuple[Any, Any]:
    """The factors of the input and of the part of the source that is read; None means 1."""
    mine: Any
    other: Any
    if reduce == "sum":
        mine, other = None, None
    elif reduce == "mean":
        mine = 1.0 / _counts(input, dim, index, include_self)
        other = gather_op(mine, dim, index)
    elif reduce == "prod":
        mine, other = _products(input, src, out, dim, index, include_self)
    else:
        first = type_as(input == out, out)
        second = type_as(src == gather_op(out, dim, index), out)
        share = 1.0 / scatter_add(first, dim, index, second)
        mine, other = first * share, second * gather_op(share, dim, index)
    if not include_self:
        mine = scatter_op(ones_like(input) if mine is None else mine, dim, index, 0.0)
    return mine, other


def _products(input: Any, src: Any, out: Any, dim: int, index: Any, include_self: bool) -> tuple[Any, Any]:
    """The products of all other factors, exact even if one of them is 0."""
    filled = where(input == 0, 1.0, input)
    mine = scatter_reduce_op(filled, dim, index, src, "prod", include_self=include_self) / filled
    zero = src == 0
    zeros = scatter_add(zeros_like(input), dim, index, type_as(zero, input))
    single = zero & (gather_op(zeros, dim, index) == 1)
    others = scatter_reduce_op(input, dim, index, where(single, 1.0, src), "prod", include_self=include_self)
    alone = gather_op(others, dim, index)
    return mine, where(single, alone, gather_op(out, dim, index) / where(zero, 1.0, src))


def _read(src: Any, shape: Sequence[int]) -> Any:
    """The part of the source that an index of `shape` reads."""
    for d, n in enumerate(shape):
        if src.shape[d] != n:
            src = narrow(src, d, 0, n)
    return src


def _times(x: Any, factor: Any) -> Any:
    return x if factor is None else x * factor


def _vjp(
    grads: Any, needs: Any, input: Any, src: Any, out: Any, dim: int, index: Any, reduce: str,
    include_self: bool,
) -> Any:  # fmt: skip
    given = (input, src, out, dim, index, reduce, include_self)
    return _gradients(
        grads[0],
        needs,
        *given,
        "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src",
    )


def _gradients(
    g: Any, needs: Any, input: Any, src: Any, out: Any, dim: int, index: Any, reduce: str,
    include_self: bool, refusal: str,
) -> Any:  # fmt: skip
    """The gradients of the input and the source; PyTorch's error if a second derivative would need products
    that leave out two factors.
    """
    read = _read(src, index.shape)
    mine, other = _factors(input, read, out, dim, index, reduce, include_self)
    back = _times(gather_op(g, dim, index), conj(other))
    if reduce == "prod" and needs[1] and state.grad:
        zeros = scatter_add(zeros_like(out), dim, index, type_as(read == 0, out))
        back = _once(back, zeros, f"{refusal} are scattered to the same position in self")
    return _times(g, conj(mine)), padded(back, index.shape, src.shape)


def _refuse(xp: Any, g: Any, zeros: Any, message: str) -> Any:
    if xp.any(zeros > 1):
        raise RuntimeError(message)
    return g.copy()


_refused_of_zeros: Op = kernel(
    "refused_of_zeros(Tensor input, Tensor zeros, str message) -> Tensor",
    infer=lambda input, zeros, message: Meta(tuple(input.shape), input.dtype, preserved_strides(input)),
    impl=_refuse,
    vjp={"input": lambda g, zeros, message: _refused_of_zeros(g, zeros, message)},
    jvp=lambda input_t, zeros, message: _refused_of_zeros(input_t, zeros, message),
    namespace="-",
    outside=True,
    doc="`input`; RuntimeError with `message` if a count in `zeros` is above 1.",
)
_once: Op = kernel(
    "once_of_zeros(Tensor input, Tensor zeros, str message) -> Tensor",
    infer=lambda input, zeros, message: Meta(tuple(input.shape), input.dtype, preserved_strides(input)),
    impl=lambda xp, a, zeros, message: a.copy(),
    vjp={"input": lambda g, zeros, message: _refused_of_zeros(g, zeros, message)},
    jvp=lambda input_t: input_t,
    namespace="-",
    outside=True,
    doc="`input`; its gradient raises RuntimeError with `message` if a count in `zeros` is above 1.",
)


def _jvp(
    input_t: Any, src_t: Any, input: Any, src: Any, out: Any, dim: int, index: Any, reduce: str,
    include_self: bool,
) -> Any:  # fmt: skip
    mine, other = _factors(input, _read(src, index.shape), out, dim, index, reduce, include_self)
    total = zeros_like(out) if input_t is None else _times(input_t, mine)
    if src_t is None:
        return total
    return scatter_add(total, dim, index, _times(_read(src_t, index.shape), other))


def _infer(input: Tensor, index: Tensor, src: Tensor, dim: int, reduce: str, include_self: bool) -> Meta:
    if reduce not in _SCATTERED:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    scatter_check(input, dim, index, src, "scatter")
    if reduce in ("amax", "amin"):
        refuse(input.dtype, f"scatter_gather_tensor_cpu_reduce_{reduce}", complex=True)
    elif reduce == "mean":
        refuse(input.dtype, "scatter_gather_tensor_cpu_reduce_mean", dtypes.bool_)
    return Meta(tuple(input.shape), input.dtype)


scatter_reduce_op: Op = kernel(
    "scatter_reduce(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True)"
    " -> Tensor",
    infer=_infer,
    impl=_reduce,
    vjp=Joint("input src", _vjp),
    jvp=_jvp,
    method=True,
    inplace=True,
    doc="A copy with elements of `src` reduced into it at `index` along `dim` (torch.scatter_reduce).",
)


# -- whole slices ----------------------------------------------------------------------------------


def _slices_infer(
    input: Tensor, index: Tensor, source: Tensor, dim: int, reduce: str, include_self: bool
) -> Meta:
    if reduce not in _SCATTERED[1:]:
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    d = wrap_dim(dim, input.ndim)
    if index.dtype not in INDEX:
        raise RuntimeError(
            f"index_reduce_(): Expected dtype int32/int64 for index but got: {index.dtype.title}"
        )
    if input.dtype is not source.dtype:
        raise RuntimeError(
            f"index_reduce_(): self ({input.dtype.title}) and source ({source.dtype.title}) must have the "
            "same scalar type"
        )
    have = source.shape[d] if source.ndim > d else 1
    if index.numel() != have:
        raise RuntimeError(
            f"index_reduce_(): Number of indices ({index.numel()}) should be equal to source.size(dim): "
            f"({have}), for dim: {d}"
        )
    refuse(input.dtype, "index_func_", dtypes.bool_, complex=True)
    return Meta(tuple(input.shape), input.dtype)


def _spread_index(index: Any, dim: int, source: Any) -> Any:
    """`index`, expanded to the shape of the source."""
    if not source.ndim:
        return reshape(index, [])
    shape = [-1 if i == dim % source.ndim else 1 for i in range(source.ndim)]
    return expand(reshape(index, shape), list(source.shape))


def _slices(xp: Any, a: Any, index: Any, source: Any, dim: int, reduce: str, include_self: bool) -> Any:
    if source.ndim:
        shape = [-1 if i == dim % source.ndim else 1 for i in range(source.ndim)]
        index = xp.broadcast_to(index.reshape(shape), source.shape)
    else:
        index = index.reshape(())
    return _reduce(xp, a, index, source, dim, reduce, include_self)


def _slices_vjp(
    grads: Any, needs: Any, input: Any, source: Any, out: Any, dim: int, index: Any, reduce: str,
    include_self: bool,
) -> Any:  # fmt: skip
    each = _spread_index(index, dim, source)
    refusal = "index_reduce(): Double backward is unsupported for source when >1 zeros in source"
    return _gradients(grads[0], needs, input, source, out, dim, each, reduce, include_self, refusal)


def _slices_jvp(
    input_t: Any, source_t: Any, input: Any, source: Any, out: Any, dim: int, index: Any, reduce: str,
    include_self: bool,
) -> Any:  # fmt: skip
    each = _spread_index(index, dim, source)
    return _jvp(input_t, source_t, input, source, out, dim, each, reduce, include_self)


index_reduce: Op = kernel(
    "index_reduce(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True)"
    " -> Tensor",
    infer=_slices_infer,
    impl=_slices,
    vjp=Joint("input source", _slices_vjp),
    jvp=_slices_jvp,
    method=True,
    inplace=True,
    doc="A copy with slices of `source` reduced into those at the given indices (torch.index_reduce).",
)
