"""Matrix and vector products: mm, bmm, mv, dot and matmul, which chooses among them.

Each product saves only the operands that the needed gradients use; matmul folds as PyTorch does, so graphs
and layouts are the same (https://pytorch.org/docs/stable/generated/torch.matmul.html).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, broadcast_shapes, dtypes, numel, wrap_dim
from ...declare import BILINEAR, composite, kernel, public, view
from ..elementwise import mul
from ..shape import contiguous, expand, reshape, squeeze_dim, t, transpose, unsafe_view, unsqueeze
from ..shared import CPP, conj

if TYPE_CHECKING:
    from ...schema import Op
    from ...tensor import Tensor


def no_bool(x: Tensor, kernel: str) -> None:
    """Raise NotImplementedError for bool, naming PyTorch's `kernel`."""
    if x.dtype is dtypes.bool_:
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def product_shape(a: Tensor, b: Tensor) -> tuple[int, int]:
    """The shape of a matrix product; RuntimeError if sizes or dtypes do not fit."""
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and "
            f"{b.shape[0]}x{b.shape[1]})"
        )
    if a.dtype is not b.dtype:
        names = f"{CPP[a.dtype.name]} != {CPP[b.dtype.name]}"
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {names}")
    if a.numel() and b.numel():
        no_bool(a, "addmm_impl_cpu_")
    return a.shape[0], b.shape[1]


def _mm_infer(input: Tensor, mat2: Tensor) -> Meta:
    if input.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    return Meta(product_shape(input, mat2), input.dtype)


def _column_major(m: Any) -> bool:
    return bool(m.strides[0] == 1 and m.strides[1] == m.shape[0])


def left_gradient(g: Any, mat2: Any, input_meta: Any) -> Any:
    """The gradient of a matrix product's left operand, in that operand's memory order."""
    if _column_major(input_meta):
        return t(mm(conj(mat2), t(g)))
    return mm(g, conj(t(mat2)))


def right_gradient(g: Any, input: Any, mat2_meta: Any) -> Any:
    """The gradient of a matrix product's right operand, in that operand's memory order."""
    if _column_major(mat2_meta):
        return t(mm(t(g), conj(input)))
    return mm(conj(t(input)), g)


mm: Op = kernel(
    "mm(Tensor input, Tensor mat2) -> Tensor",
    infer=_mm_infer,
    impl=lambda xp, a, b: xp.matmul(a, b),
    vjp=(left_gradient, right_gradient),
    jvp=BILINEAR,
    method=True,
    doc="The product of two matrices (torch.mm).",
    raises=False,
    autocast="lower",
)


def _bmm_infer(input: Tensor, mat2: Tensor) -> Meta:
    return Meta(batch_shape(input, mat2, "bmm"), input.dtype)


def batch_shape(a: Tensor, b: Tensor, kernel: str) -> tuple[int, int, int]:
    """The shape of a batched product; RuntimeError if sizes or dtypes do not fit."""
    if a.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor")
    if b.ndim != 3:
        raise RuntimeError("batch2 must be a 3D tensor")
    want = [a.shape[0], a.shape[2]]
    if list(b.shape[:2]) != want:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {want} but got: "
            f"{list(b.shape[:2])}."
        )
    if a.dtype is not b.dtype:
        raise RuntimeError(f"expected scalar type {a.dtype.title} but found {b.dtype.title}")
    no_bool(a, kernel)
    return a.shape[0], a.shape[1], b.shape[2]


def swapped(x: Any) -> Any:
    """The conjugate transpose of each matrix of a batch."""
    return conj(transpose(x, 1, 2))


bmm: Op = kernel(
    "bmm(Tensor input, Tensor mat2) -> Tensor",
    infer=_bmm_infer,
    impl=lambda xp, a, b: xp.matmul(a, b),
    vjp=(lambda g, mat2: bmm(g, swapped(mat2)), lambda g, input: bmm(swapped(input), g)),
    jvp=BILINEAR,
    method=True,
    doc="Batched matrix products (torch.bmm).",
    raises=False,
    autocast="lower",
)


def mv_check(mat: Tensor, vec: Tensor, out_ndim: int = 1) -> None:
    """Raise RuntimeError if a matrix and a vector do not fit."""
    if mat.ndim != 2 or vec.ndim != 1 or out_ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {out_ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({mat.shape[0]}), mat ({mat.shape[0]}x{mat.shape[1]}), vec "
            f"({vec.shape[0]})"
        )


def _mv_infer(input: Tensor, vec: Tensor) -> Meta:
    mv_check(input, vec)
    if input.dtype is not vec.dtype:
        titles = (vec.dtype.title, input.dtype.title, vec.dtype.title)
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {titles[0]}, {titles[1]}, and {titles[2]}"
        )
    no_bool(input, "addmv_impl_cpu")
    return Meta((input.shape[0],), input.dtype)


mv: Op = kernel(
    "mv(Tensor input, Tensor vec) -> Tensor",
    infer=_mv_infer,
    impl=lambda xp, a, b: xp.matmul(a, b),
    vjp=(
        lambda g, vec: mul(unsqueeze(g, 1), unsqueeze(conj(vec), 0)),
        lambda g, input: mv(conj(t(input)), g),
    ),
    jvp=BILINEAR,
    method=True,
    doc="The product of a matrix and a vector (torch.mv).",
    raises=False,
    autocast={"cuda": "lower"},
)


def _dot_check(a: Tensor, b: Tensor) -> Meta:
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {a.dtype.title} and {b.dtype.title}"
        )
    n, m = a.shape[0], b.shape[0]
    if n != m:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number of "
            f"elements, but got {n} and {m} elements respectively"
        )
    no_bool(a, "dot")
    return Meta((), a.dtype)


dot: Op = kernel(
    "dot(Tensor input, Tensor tensor) -> Tensor",
    infer=_dot_check,
    impl=lambda xp, a, b: xp.dot(a, b),
    vjp=(lambda g, tensor: mul(g, conj(tensor)), lambda g, input: mul(g, conj(input))),
    jvp=BILINEAR,
    method=True,
    doc="The dot product of two vectors, without conjugation (torch.dot).",
    raises=False,
    autocast={"cuda": "widest"},
)
vdot: Op = kernel(
    "vdot(Tensor input, Tensor other) -> Tensor",
    infer=_dot_check,
    impl=lambda xp, a, b: xp.dot(xp.conjugate(a), b),
    vjp=(lambda g, other: mul(conj(g), other), lambda g, input: mul(g, input)),
    jvp=BILINEAR,
    method=True,
    doc="The dot product of two vectors, the first conjugated (torch.vdot).",
    raises=False,
    autocast={"cuda": "widest"},
)


def _squeezed(input: Tensor, dim: int) -> Meta:
    dim = wrap_dim(dim, input.ndim)
    if input.shape[dim : dim + 1] != (1,):
        raise RuntimeError(f"squeezed_product(): dimension {dim} of {list(input.shape)} is not of size 1")
    shape, strides = ([*x[:dim], *x[dim + 1 :]] for x in (input.shape, input.strides))
    return Meta(tuple(shape), input.dtype, tuple(strides), input.offset)


squeezed_product = view(
    "squeezed_product(Tensor input, int dim) -> Tensor",
    infer=_squeezed,
    vjp=lambda g, dim: unsqueeze(g, dim),
    jvp=lambda input_t, dim: squeeze_dim(input_t, dim),
    node="SqueezeBackward4",
    namespace="-",
    outside=True,
    doc="A fresh product without the dimension that was added for a vector.",
    relative=True,
)


def _should_fold(a: Tensor, b: Tensor) -> bool:
    """Whether to view the larger operand as one matrix, to avoid a batched product and gradient."""
    larger, smaller = (a, b) if a.ndim >= b.ndim else (b, a)
    if larger.ndim < 3 or smaller.ndim > 2:
        return False
    if smaller.requires_grad:
        return True
    if a.ndim == 2:
        return False
    if not larger.numel():
        return True
    shape, strides = list(larger.shape), list(larger.strides)
    if larger is b:
        shape[-1], shape[-2], strides[-1], strides[-2] = shape[-2], shape[-1], strides[-2], strides[-1]
    return all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(shape) - 2))


def _folded(a: Tensor, b: Tensor) -> Any:
    turned = b.ndim > a.ndim
    many: Any = transpose(b, -2, -1) if turned else a
    one: Any = (t(a) if a.ndim == 2 else a) if turned else b
    flat = reshape(many, [numel(many.shape[:-1]), many.shape[-1]])
    if one.ndim == 1:
        return unsafe_view(mv(flat, one), list(many.shape[:-1]))
    out = unsafe_view(mm(flat, one), [*many.shape[:-1], one.shape[1]])
    return contiguous(transpose(out, -2, -1)) if turned else out


def _batched(a: Tensor, b: Tensor) -> Any:
    *lead_a, n, m = a.shape if a.ndim > 1 else (1, *a.shape)
    *lead_b, k, p = b.shape if b.ndim > 1 else (*b.shape, 1)
    batch = broadcast_shapes(tuple(lead_a), tuple(lead_b))
    count = numel(batch)
    left = reshape(expand(a, [*batch, n, m]), [count, n, m])
    if b.ndim == 1:
        right = unsqueeze(reshape(expand(b, [*batch, k]), [count, k]), 2)
        return unsafe_view(squeeze_dim(bmm(left, right), -1), [*batch, n])
    right = reshape(expand(b, [*batch, k, p]), [count, k, p])
    return unsafe_view(bmm(left, right), [*batch, *([n] if a.ndim > 1 else []), p])


def _matmul(input: Tensor, other: Tensor) -> Any:
    a, b = input, other
    if not a.ndim or not b.ndim:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D"
        )
    if a.ndim <= 2 and b.ndim <= 2:
        if a.ndim == 2:
            return mm(a, b) if b.ndim == 2 else mv(a, b)
        return dot(a, b) if b.ndim == 1 else squeezed_product(mm(unsqueeze(a, 0), b), 0)
    if _should_fold(a, b):
        return _folded(a, b)
    if a.ndim == 3 and b.ndim == 3 and a.shape[0] != b.shape[0]:
        if a.shape[0] == 1 and a.requires_grad:
            return _matmul(squeeze_dim(a, 0), b)
        if b.shape[0] == 1 and b.requires_grad:
            return _matmul(a, squeeze_dim(b, 0))
    return _batched(a, b)


matmul = composite(
    "matmul(Tensor input, Tensor other) -> Tensor",
    body=_matmul,
    out=True,
    method=True,
    doc="The product of vectors, matrices or batches of them (torch.matmul).",
    autocast="lower",
)
public("linalg", name="matmul")(matmul.call)
