"""Powers, exponentials, chains and sums of matrix products; products of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, broadcast_shapes, dtypes, wrap_dim
from ...declare import BILINEAR, composite, kernel, public
from ...kernels import factorisations as kernels
from ...schema import Op
from ...tensor import Tensor
from ..create import eye
from ..elementwise import add, mul
from ..index import cat, narrow
from ..reduce import cumprod, sum
from ..shape import contiguous_copy, expand_meta, unsqueeze
from ..shared import CPP, conj, pointwise_meta, refuse
from .affine import scales_fit
from .linalg_common import adjoint, floating, same_dtype, square
from .matmul import bmm as _bmm
from .matmul import matmul
from .solve import inv

if TYPE_CHECKING:
    from collections.abc import Sequence

# -- powers ------------------------------------------------------------------------------------------


def _matrix_power(input: Tensor, n: int, name: str = "linalg.matrix_power") -> Any:
    square(input, name)
    if n == 0:
        diagonal = eye(input.shape[-1], dtype=input.dtype)
        return contiguous_copy(input).copy_(diagonal.expand(list(input.shape)))
    base: Any = input
    if n < 0:
        base, n = inv(input), -n
        if n == 1:
            return base
    if n == 1:
        return contiguous_copy(base)
    if n == 2:
        return matmul(base, base)
    if n == 3:
        return matmul(matmul(base, base), base)
    found, power = None, None
    while n:
        power = base if power is None else matmul(power, power)
        n, odd = divmod(n, 2)
        if odd:
            found = power if found is None else matmul(found, power)
    return found


linalg_matrix_power = composite(
    "linalg_matrix_power(Tensor A, int n) -> Tensor",
    body=lambda A, n: _matrix_power(A, n),
    dynamic=True,
    out=True,
    namespace="linalg",
    doc="The `n`-th power of square matrices, of the inverse if `n` < 0 (torch.linalg.matrix_power).",
)
matrix_power = composite(
    "matrix_power(Tensor input, int n) -> Tensor",
    body=lambda input, n: _matrix_power(input, n),
    dynamic=True,
    out=True,
    method=True,
    doc="The `n`-th power of square matrices, of the inverse if `n` < 0 (torch.matrix_power).",
)

# -- exponentials ------------------------------------------------------------------------------------


def _exp_infer(A: Tensor) -> Meta:
    name = "linalg.matrix_exp"
    square(A, name)
    floating(A, name, low=True)
    return Meta(tuple(A.shape), A.dtype)


def _direction(A: Any, E: Any) -> Any:
    """The derivative of the exponential at `A` along `E`: a block of exp([[A, E], [0, A]])."""
    n = A.shape[-1]
    zeros = A.new_zeros(tuple(A.shape))
    block = cat([cat([A, E], -1), cat([zeros, A], -1)], -2)
    return narrow(narrow(linalg_matrix_exp(block), -2, 0, n), -1, n, n)


linalg_matrix_exp: Op = kernel(
    "linalg_matrix_exp(Tensor A) -> Tensor",
    infer=_exp_infer,
    impl=lambda xp, a: kernels.matrix_exp(xp, a),
    vjp=lambda g, A: _direction(adjoint(A), g),
    jvp=lambda A_t, A: _direction(A, A_t),
    namespace="linalg",
    doc="The exponential of square matrices (torch.linalg.matrix_exp).",
    waits=True,
)
matrix_exp = composite(
    "matrix_exp(Tensor input) -> Tensor",
    body=lambda input: linalg_matrix_exp(input),
    inline=True,
    method=True,
    doc="The exponential of square matrices (torch.matrix_exp).",
)

# -- chains ------------------------------------------------------------------------------------------


def _chain(sizes: Sequence[int]) -> list[list[int]]:
    """Where to cut each run of matrices for the fewest multiplications."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    cut = [[0] * n for _ in range(n)]
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            found = [
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            ]
            cost[i][j], cut[i][j] = min(found)
    return cut


def _multi_dot(tensors: Sequence[Tensor]) -> Any:
    n = len(tensors)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    for at, word in ((0, "first"), (n - 1, "last")):
        if not 1 <= tensors[at].ndim <= 2:
            raise RuntimeError(f"multi_dot(): the {word} tensor must be 1D or 2D but got {tensors[at].ndim}D")
    parts: list[Any] = list(tensors)
    shape: list[int] = []
    if parts[0].ndim == 1:
        parts[0] = unsqueeze(parts[0], 0)
    else:
        shape.append(parts[0].shape[0])
    if parts[-1].ndim == 1:
        parts[-1] = unsqueeze(parts[-1], -1)
    else:
        shape.append(parts[-1].shape[1])
    for i, t in enumerate(parts):
        if t.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {t.ndim}D")
        if t.dtype is not parts[0].dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{CPP[parts[0].dtype.name]} and tensor {i} {CPP[t.dtype.name]}"
            )
        if i and parts[i - 1].shape[1] != t.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i - 1} and {i} with shapes {list(parts[i - 1].shape)} and "
                f"{list(t.shape)} cannot be multiplied"
            )
    cut = _chain([parts[0].shape[0], *(t.shape[1] for t in parts)])

    def product(i: int, j: int) -> Any:
        return parts[i] if i == j else matmul(product(i, cut[i][j]), product(cut[i][j] + 1, j))

    found = product(0, n - 1)
    return found if len(shape) == 2 else found.view(shape)


multi_dot = composite(
    "linalg_multi_dot(Tensor[] tensors) -> Tensor",
    body=_multi_dot,
    out=True,
    namespace="linalg",
    doc="The product of several matrices in the cheapest order (torch.linalg.multi_dot).",
    autocast={"cuda": "lower"},
)


@public(out=True)
def chain_matmul(*matrices: Any) -> Any:
    """The product of several matrices in the cheapest order (torch.chain_matmul)."""
    return matrices[0] if len(matrices) == 1 else multi_dot(list(matrices))


# -- vectors -----------------------------------------------------------------------------------------


def _cross_infer(input: Tensor, other: Tensor, dim: int) -> Meta:
    if input.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    d = wrap_dim(dim, input.ndim)
    if not input.ndim or input.shape[d] != 3 or other.shape[d] != 3:
        got = (input.shape[d], other.shape[d]) if input.ndim else (1, 1)
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {got[0]} and {got[1]}"
        )
    broadcast_shapes(tuple(input.shape), tuple(other.shape))
    dtype = dtypes.result_type([input, other])
    refuse(dtype, "cross", dtypes.bool_)
    return Meta(pointwise_meta([input, other], dtype, dtype).shape, dtype, compute=dtype)


def _cross_impl(xp: Any, a: Any, b: Any, dim: int) -> Any:
    shape = np.broadcast_shapes(a.shape, b.shape)
    a, b = xp.moveaxis(xp.broadcast_to(a, shape), dim, 0), xp.moveaxis(xp.broadcast_to(b, shape), dim, 0)
    parts = [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
    return xp.stack(parts, axis=dim if dim >= 0 else dim + len(shape))


linalg_cross: Op = kernel(
    "linalg_cross(Tensor input, Tensor other, *, int dim=-1) -> Tensor",
    infer=_cross_infer,
    impl=_cross_impl,
    vjp=(
        lambda g, other, dim: linalg_cross(conj(other), g, dim=dim),
        lambda g, input, dim: linalg_cross(g, conj(input), dim=dim),
    ),
    jvp=BILINEAR,
    namespace="linalg",
    doc="The cross product of vectors along `dim` (torch.linalg.cross).",
    raises=False,
    autocast={"cuda": "widest"},
)


@public(method=True, out=True)
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Any:
    """See torch.cross: without `dim`, along the first dimension of size 3."""
    if dim is None:
        if input.ndim == other.ndim and 3 not in input.shape:
            raise RuntimeError("no dimension of size 3 in input")
        dim = tuple(input.shape).index(3) if 3 in input.shape else -1
    return linalg_cross(input, other, dim=dim)


def _vecdot(x: Tensor, y: Tensor, dim: int) -> Any:
    name = "linalg.vecdot"
    floating(x, name, low=True)
    same_dtype(x, y, name, "x", "y")
    return sum(mul(conj(x), y), dim)


vecdot = composite(
    "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    body=_vecdot,
    out=True,
    namespace="linalg",
    doc="Dot products of vectors along `dim`, the first conjugated (torch.linalg.vecdot).",
    autocast="lower",
)


def _powers(x: Any, count: int) -> Any:
    ones = x.new_ones((*x.shape, 1))
    if count <= 1:
        return ones if count else x.new_zeros((*x.shape, 0))
    rest = cumprod(unsqueeze(x, -1).expand([*x.shape, count - 1]), -1)
    return cat([ones, rest], -1)


def _vander(x: Tensor, N: int | None) -> Any:
    if x.dtype is dtypes.bool_:
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got Bool"
        )
    x = x if x.ndim else unsqueeze(x, -1)
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    return _powers(x, count)


linalg_vander = composite(
    "linalg_vander(Tensor x, *, int? N=None) -> Tensor",
    body=_vander,
    namespace="linalg",
    doc="The powers 0 to N - 1 of each number, in a new last dimension (torch.linalg.vander).",
)


def _old_vander(x: Any, N: int | None, increasing: bool) -> Any:
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    # Integers widen to int64, as in PyTorch.
    whole = x.long() if x.dtype.category < dtypes.FLOAT else x
    found = _powers(whole, count)
    return found if increasing else found.flip(1)


vander = composite(
    "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
    body=_old_vander,
    doc="The powers of a vector's elements as the columns of a matrix (torch.vander).",
)

# -- sums of products --------------------------------------------------------------------------------


def _addbmm_infer(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any, alpha: Any) -> Meta:
    shape = (batch1.shape[wrap_dim(1, batch1.ndim)], batch2.shape[wrap_dim(2, batch2.ndim)])
    expand_meta(input, shape)
    for i, t in ((1, batch1), (2, batch2)):
        if t.ndim != 3:
            raise RuntimeError(f"batch{i} must be a 3D tensor")
    if batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {batch1.shape[0]} and {batch2.shape[0]}"
        )
    if batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({batch1.shape[1]}x{batch1.shape[2]} and "
            f"{batch2.shape[1]}x{batch2.shape[2]})"
        )
    if not input.dtype is batch1.dtype is batch2.dtype:
        raise RuntimeError("expected m1 and m2 to have the same dtype")
    scales_fit(input, beta, alpha)
    return Meta(shape, batch1.dtype)


def _addbmm_impl(xp: Any, c: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
    out = xp.matmul(a, b).sum(axis=0, dtype=a.dtype)
    out = out * out.dtype.type(alpha) if alpha != 1 else out
    return out if beta == 0 else out + (c if beta == 1 else c * out.dtype.type(beta))


def _spread(g: Any, batch: Any) -> Any:
    return unsqueeze(g, 0).expand([batch.shape[0], *g.shape])


def _scaled(x: Any, factor: Any) -> Any:
    return x if factor == 1 else mul(x, conj(factor))


def _addbmm_jvp(
    input_t: Any, batch1_t: Any, batch2_t: Any, batch1: Any, batch2: Any, out: Any, beta: Any, alpha: Any
) -> Any:
    total = None if input_t is None else mul(input_t.expand(list(out.shape)), beta)
    for a, b in ((batch1_t, batch2), (batch1, batch2_t)):
        if a is not None and b is not None:
            part = mul(sum(_bmm(a, b), 0), alpha)
            total = part if total is None else add(total, part)
    return total


addbmm = kernel(
    "addbmm(Tensor input, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1) -> Tensor",
    infer=_addbmm_infer,
    impl=_addbmm_impl,
    vjp=(
        lambda g, beta: _scaled(g, beta),
        lambda g, batch1_meta, batch2, alpha: _scaled(_bmm(_spread(g, batch1_meta), adjoint(batch2)), alpha),
        lambda g, batch1, batch2_meta, alpha: _scaled(_bmm(adjoint(batch1), _spread(g, batch2_meta)), alpha),
    ),
    jvp=_addbmm_jvp,
    numbers_first="beta alpha",
    method=True,
    inplace=True,
    doc="beta * input + alpha * the sum of matrix products (torch.addbmm).",
    raises=False,
    autocast="lower",
)
