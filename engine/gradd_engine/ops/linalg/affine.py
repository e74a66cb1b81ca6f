"""Products added to a tensor: addmm, baddbmm, addmv, addr, linear. beta and alpha are static."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, elementwise_strides, is_contiguous, numel
from ...declare import composite, kernel
from ...schema import named
from ..elementwise import add, mul
from ..shape import expand, expand_meta, t, unsqueeze
from ..shared import computed_in, conj, fits, stored
from .matmul import (
    batch_shape,
    bmm,
    left_gradient,
    matmul,
    mm,
    mv,
    mv_check,
    no_bool,
    product_shape,
    right_gradient,
    swapped,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...tensor import Tensor


def scaled(x: Any, factor: Any) -> Any:
    """`x` times a static number; `x` itself for 1."""
    return x if factor == 1 else mul(x, conj(factor))


def total(parts: Sequence[Any]) -> Any:
    """The sum of the parts that are not None; None if there are none."""
    out = None
    for p in parts:
        if p is not None:
            out = p if out is None else add(out, p)
    return out


def scales_fit(input: Tensor, beta: Any, alpha: Any) -> None:
    """Raise RuntimeError if one of the numbers does not fit the dtype that the kernel computes in."""
    fits(beta, computed_in(input.dtype))
    fits(alpha, computed_in(input.dtype))


def _addmm_infer(input: Tensor, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any) -> Meta:
    if input.dtype is not mat2.dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {input.dtype.title} and {mat2.dtype.title}"
        )
    if mat1.dtype is not mat2.dtype:
        raise RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {mat1.dtype.title} and {mat2.dtype.title}"
        )
    if mat1.ndim != 2:
        raise RuntimeError(f"mat1 must be a matrix, got {mat1.ndim}-D tensor")
    if mat2.ndim != 2:
        raise RuntimeError(f"mat2 must be a matrix, got {mat2.ndim}-D tensor")
    shape = product_shape(mat1, mat2)
    expand_meta(input, shape)
    scales_fit(input, beta, alpha)
    return Meta(shape, mat1.dtype)


def _sum_product(xp: Any, bias: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta * bias + alpha * product, in the memory of the product."""
    kind = product.dtype.type
    if alpha != 1:
        product *= stored(alpha, kind)
    if beta != 0:
        product += bias if beta == 1 else bias * stored(beta, kind)
    return product


addmm = kernel(
    "addmm(Tensor input, Tensor mat1, Tensor mat2, *, Number beta=1, Number alpha=1) -> Tensor",
    infer=_addmm_infer,
    impl=lambda xp, c, a, b, beta, alpha: _sum_product(xp, c, xp.matmul(a, b), beta, alpha),
    vjp=(
        lambda g, beta: scaled(g, beta),
        lambda g, mat2, mat1_meta, alpha: scaled(left_gradient(g, mat2, mat1_meta), alpha),
        lambda g, mat1, mat2_meta, alpha: scaled(right_gradient(g, mat1, mat2_meta), alpha),
    ),
    jvp=lambda input_t, mat1_t, mat2_t, mat1, mat2, out, beta, alpha: _affine_tangent(
        mm, input_t, mat1_t, mat2_t, mat1, mat2, out, beta, alpha
    ),
    numbers_first="beta alpha",
    method=True,
    inplace=True,
    doc="beta * input + alpha * mat1 @ mat2 (torch.addmm).",
    raises=False,
    autocast="lower",
)


def _affine_tangent(
    product: Any, input_t: Any, a_t: Any, b_t: Any, a: Any, b: Any, out: Any, beta: Any, alpha: Any
) -> Any:
    shift = None if input_t is None else mul(expand(input_t, list(out.shape)), beta)
    moved = total([None if a_t is None else product(a_t, b), None if b_t is None else product(a, b_t)])
    return total([shift, None if moved is None else mul(moved, alpha)])


def _baddbmm_infer(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any, alpha: Any) -> Meta:
    if batch1.ndim == 3 and batch2.ndim == 3:
        expand_meta(input, (batch1.shape[0], batch1.shape[1], batch2.shape[2]))
    shape = batch_shape(batch1, batch2, "baddbmm")
    if input.dtype is not batch1.dtype:
        raise RuntimeError(
            "Input dtypes must be the same, got: input "
            f"{input.dtype.title}, batch1: {batch1.dtype.title}, batch2: {batch2.dtype.title}"
        )
    scales_fit(input, beta, alpha)
    return Meta(shape, batch1.dtype)


baddbmm = kernel(
    "baddbmm(Tensor input, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1) -> Tensor",
    infer=_baddbmm_infer,
    impl=lambda xp, c, a, b, beta, alpha: _sum_product(xp, c, xp.matmul(a, b), beta, alpha),
    vjp=(
        lambda g, beta: scaled(g, beta),
        lambda g, batch2, alpha: scaled(bmm(g, swapped(batch2)), alpha),
        lambda g, batch1, alpha: scaled(bmm(swapped(batch1), g), alpha),
    ),
    jvp=lambda input_t, batch1_t, batch2_t, batch1, batch2, out, beta, alpha: _affine_tangent(
        bmm, input_t, batch1_t, batch2_t, batch1, batch2, out, beta, alpha
    ),
    numbers_first="beta alpha",
    method=True,
    inplace=True,
    doc="beta * input + alpha * batch1 @ batch2 (torch.baddbmm).",
    raises=False,
    autocast="lower",
)


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    if not input.ndim or not weight.ndim:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {input.ndim}D and {weight.ndim}D"
        )
    if bias is None:
        return matmul(input, t(weight))
    if input.ndim == 2:
        return addmm(bias, input, t(weight))
    if input.ndim and is_contiguous(input.shape, input.strides):
        *lead, features = input.shape
        product = addmm(bias, named.view(input, [numel(lead), features]), t(weight))
        return named.view(product, [*lead, weight.shape[0]])
    return add(matmul(input, t(weight)), bias)


linear = composite(
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    body=_linear,
    namespace="nn.functional",
    doc="input @ weight.T + bias (torch.nn.functional.linear).",
    autocast="lower",
)


def _addmv_infer(input: Tensor, mat: Tensor, vec: Tensor, beta: Any, alpha: Any) -> Meta:
    mv_check(mat, vec, input.ndim)
    if input.ndim and input.shape[0] not in (1, mat.shape[0]):
        n, m = mat.shape
        raise RuntimeError(
            f"size mismatch, got input ({input.shape[0]}), mat ({n}x{m}), vec ({vec.shape[0]})"
        )
    if not input.dtype is mat.dtype is vec.dtype:
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {vec.dtype.title}, {mat.dtype.title}, "
            f"and {input.dtype.title}"
        )
    no_bool(mat, "addmv_impl_cpu")
    fits(beta, mat.dtype)
    fits(alpha, mat.dtype)
    return Meta((mat.shape[0],), mat.dtype)


def _outer(a: Any, b: Any) -> Any:
    return mul(unsqueeze(a, 1), unsqueeze(b, 0))


addmv = kernel(
    "addmv(Tensor input, Tensor mat, Tensor vec, *, Number beta=1, Number alpha=1) -> Tensor",
    infer=_addmv_infer,
    impl=lambda xp, c, a, b, beta, alpha: _sum_product(xp, c, xp.matmul(a, b), beta, alpha),
    vjp=(
        lambda g, beta: scaled(g, beta),
        lambda g, vec, alpha: scaled(_outer(g, conj(vec)), alpha),
        lambda g, mat, alpha: scaled(mv(conj(t(mat)), g), alpha),
    ),
    jvp=lambda input_t, mat_t, vec_t, mat, vec, out, beta, alpha: _affine_tangent(
        mv, input_t, mat_t, vec_t, mat, vec, out, beta, alpha
    ),
    numbers_first="beta alpha",
    method=True,
    inplace=True,
    doc="beta * input + alpha * mat @ vec (torch.addmv).",
    raises=False,
    autocast={"cuda": "lower"},
)


def _addr_infer(input: Tensor, vec1: Tensor, vec2: Tensor, beta: Any, alpha: Any) -> Meta:
    for i, v in ((1, vec1), (2, vec2)):
        if v.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument vec{i}, but got {v.ndim}-D")
    shape = (vec1.shape[0], vec2.shape[0])
    whole = expand_meta(input, shape)
    dtype = dtypes.result_type([input, vec1, vec2])
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if isinstance(factor, bool) and dtype is not dtypes.bool_:
            raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
        if isinstance(factor, float) and dtype.category < dtypes.FLOAT:
            raise RuntimeError(
                f"For integral input tensors, argument {name} must not be a floating point number."
            )
        fits(factor, dtype)
    column = Meta((shape[0], 1), dtype, (vec1.strides[0], 0))
    return Meta(shape, dtype, elementwise_strides(shape, [whole, column, vec2]), compute=dtype)


addr = kernel(
    "addr(Tensor input, Tensor vec1, Tensor vec2, *, Number beta=1, Number alpha=1) -> Tensor",
    infer=_addr_infer,
    impl=lambda xp, c, a, b, beta, alpha: _sum_product(xp, c, xp.outer(a, b), beta, alpha),
    vjp=(
        lambda g, beta: scaled(g, beta),
        lambda g, vec2, alpha: scaled(mv(g, conj(vec2)), alpha),
        lambda g, vec1, alpha: scaled(mv(t(g), conj(vec1)), alpha),
    ),
    jvp=lambda input_t, vec1_t, vec2_t, vec1, vec2, out, beta, alpha: _affine_tangent(
        _outer, input_t, vec1_t, vec2_t, vec1, vec2, out, beta, alpha
    ),
    numbers_first="beta alpha",
    method=True,
    inplace=True,
    doc="beta * input + alpha * vec1 outer vec2 (torch.addr).",
    raises=False,
    autocast={"cuda": "lower"},
)
