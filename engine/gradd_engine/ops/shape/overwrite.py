"""copy_, fill_ and zero_, declared as functions; the in-place forms are derived from them."""

from __future__ import annotations

from typing import Any

from ...data import Meta, ambient, broadcast_shapes, complex128, float64, preserved_strides
from ...declare import InPlace, attach, elementwise, kernel, public
from ...schema import type_name
from ...tensor import Tensor
from ..shared import NUMBERS, element, fits, full, number_first, zeros_like
from .cast import to_dtype
from .copies import clone
from .view_ops import expand


def _overwritten(input: Tensor, other: Any, **_: Any) -> Meta:
    shape = tuple(input.shape)
    if isinstance(other, Tensor):
        shape = broadcast_shapes(shape, tuple(other.shape))
        if shape != tuple(input.shape):
            raise RuntimeError(
                f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(shape)}"
            )
    return Meta(shape, input.dtype, preserved_strides(input))


def _copy(xp: Any, a: Any, b: Any) -> Any:
    return xp.broadcast_to(b, a.shape)


def _zeros(g: Any) -> Any:
    return zeros_like(g)


copy = kernel(
    "copy(Tensor input, Tensor src) -> Tensor",
    infer=lambda input, src: _overwritten(input, src),
    impl=_copy,
    vjp=(_zeros, lambda g: g),
    jvp=lambda src_t, input_meta, src_meta: _spread(src_t, input_meta),
    node="torch::autograd::CopyBackwards",
    inplace=True,
    namespace="-",
    outside=True,
    doc="The values of `src` in the shape and dtype of `input`, as `input.copy_(src)` stores them.",
    raises=False,
    copies=True,
)


def _spread(t: Any, meta: Any) -> Any:
    return None if t is None else to_dtype(clone(expand(t, list(meta.shape))), meta.dtype)


_FILL: dict[str, Any] = {
    "infer": lambda input, value: _fill_infer(input, value),
    "impl": lambda xp, a, value: xp.full(a.shape, element(value, a.dtype), a.dtype),
    "vjp": (_zeros, lambda g: g.sum()),
    "jvp": lambda value_t, input_meta: _spread(value_t, input_meta),
}

fill = kernel(
    "fill(Tensor input, Tensor|Number value) -> Tensor",
    **_FILL,
    check_values=lambda input, value: fits(value, input.dtype),
    node="FillBackward1",
    number_nodes={"value": "FillBackward0"},
    inplace=InPlace(node="FillBackward3", number_nodes={"value": "FillBackward2"}),
    doc="One value everywhere, as `fill_` stores it (torch.fill).",
    raises=False,
    shared_write="fill_",
    uniform=True,
)
assign = kernel(
    "assign(Tensor input, Tensor|Number value) -> Tensor",
    **_FILL,
    # a number passes through float64 if the target is half-precision
    check_values=lambda input, value: fits(value, float64 if input.dtype.is_half else input.dtype),
    node="FillBackward3",
    inplace=True,
    namespace="-",
    outside=True,
    doc="`fill` for square brackets, where a number counts as a tensor, as `assign_` stores it.",
    raises=False,
    reads_first=lambda t, x, others: x.numel() != t.numel() or number_first(t, x, others),
)


def _fill_infer(input: Tensor, value: Any) -> Meta:
    if isinstance(value, Tensor) and value.shape:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions."
        )
    return Meta(tuple(input.shape), input.dtype, preserved_strides(input))


zero = elementwise(
    "zero(Tensor input) -> Tensor",
    infer=lambda input: Meta(tuple(input.shape), input.dtype, preserved_strides(input)),
    impl=lambda xp, a: xp.zeros(a.shape, a.dtype),
    vjp=_zeros,
    jvp=lambda input_t: _zeros(input_t),
    inplace=True,
    namespace="-",
    outside=True,
    doc="Zeros in the input's shape, as `zero_` stores them.",
    raises=False,
    uniform=True,
)

copy_ = copy.inplace
assert copy_ is not None


def _copy_from(self: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Copy `other`, a number or a tensor that expands to this shape, into this tensor, in its dtype
    (torch.Tensor.copy_).

    `non_blocking` has no effect: a session runs everything in order. TypeError for anything else.
    """
    if isinstance(other, NUMBERS):
        wide = {float: float64, complex: complex128}.get(type(other))
        with ambient(backend=self.backend):
            other = full([], other, dtype=wide)
    if not isinstance(other, Tensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type_name(other)}")
    return copy_(self, other)  # type: ignore[no-any-return, misc]


_copy_from.__name__ = _copy_from.__qualname__ = "copy_"
attach("copy_", _copy_from)
fill_ = fill.inplace
assign_ = assign.inplace
zero_ = zero.inplace
assert fill_ is not None
assert zero_ is not None
public(name="fill_")(fill_.call)
public(name="zero_")(zero_.call)
