"""Linear algebra (torch.linalg), typed.

Written by `make face` from the declarations of ops.
"""

from collections.abc import Sequence
from typing import TypeAlias

from gradd_engine.data.dtypes import DType as dtype
from gradd_engine.kernels.factorisations import LinAlgError as LinAlgError

from gradd import return_types
from gradd._tensor.tensor import Tensor

_Number: TypeAlias = int | float | complex

def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """L of A = L L^H; LinAlgError unless A is positive-definite.

    Shapes: (3, 3) -> (3, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.cholesky.html
    """

def cholesky_ex(
    A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_cholesky_ex:
    """A triangular factor, and the leading minor that failed, if any. L, info.

    Shapes: (3, 3) -> (3, 3), (). dtype: the input's, int32.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.cholesky_ex.html
    """

def cond(A: Tensor, p: _Number | str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Condition numbers of matrices in a norm.

    Shapes: (2, 3) -> (). dtype: float32.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: linalg.cond: The input tensor must have at least 2 dimensions.
    Raises RuntimeError: ...A must be batches of square matrices, but they are ... by ... matrices
    Raises RuntimeError: linalg.cond got an invalid norm type: ...

    https://pytorch.org/docs/stable/generated/torch.linalg.cond.html
    """

def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The cross product of vectors along `dim`.

    Shape: that of the inputs, which is one. dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: linalg.cross: inputs must have the same number of dimensions.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: linalg.cross: inputs dimension ... must have length 3. Got ... and ...

    https://pytorch.org/docs/stable/generated/torch.linalg.cross.html
    """

def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinants of square matrices.

    Shapes: (3, 3) -> (). dtype: the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.det.html
    """

def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonal of two dimensions, as a last dimension.

    Shapes: (2, 3) -> (2,). dtype: the input's.
    Raises RuntimeError: diagonal dimensions cannot be identical ..., ...
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.linalg.diagonal.html
    """

def eig(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eig:
    """Eigenvalues and eigenvectors, complex. Eigenvalues, eigenvectors.

    Shapes: (3, 3) -> (3,), (3, 3). dtype: complex64, complex64.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: ...A must be batches of square matrices, but they are ... by ... matrices
    Raises RuntimeError: Unknown Complex ScalarType for ...

    https://pytorch.org/docs/stable/generated/torch.linalg.eig.html
    """

def eigh(A: Tensor, UPLO: str = "L", *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eigh:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices. Eigenvalues, eigenvectors.

    Shapes: (3, 3) -> (3,), (3, 3). dtype: float32, the input's.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: Expected UPLO argument to be 'L' or 'U', but got ...

    https://pytorch.org/docs/stable/generated/torch.linalg.eigh.html
    """

def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues, complex.

    Shapes: (3, 3) -> (3,). dtype: complex64.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.eigvals.html
    """

def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of Hermitian matrices, ascending.

    Shapes: (3, 3) -> (3,). dtype: float32.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.eigvalsh.html
    """

def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of a product of Householder reflections.

    Raises RuntimeError: ...: input must have at least 2 dimensions.
    Raises RuntimeError: ...: input.shape[-2] must be greater than or equal to input.shape[-1]
    Raises RuntimeError: ...: input.shape[-1] must be greater than or equal to tau.shape[-1]

    https://pytorch.org/docs/stable/generated/torch.linalg.householder_product.html
    """

def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverses of square matrices; LinAlgError if one is singular.

    Shapes: (3, 3) -> (3, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.inv.html
    """

def inv_ex(
    A: Tensor, *, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_inv_ex:
    """Inverses, and for each matrix 0 or its zero pivot. Inverse, info.

    Shapes: (3, 3) -> (3, 3), (). dtype: the input's, int32.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.inv_ex.html
    """

def ldl_factor(
    A: Tensor, *, hermitian: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_ldl_factor:
    """L and D in one matrix, and the swaps. RuntimeError for a zero pivot. LD, pivots.

    Shapes: (3, 3) -> (3, 3), (3,). dtype: the input's, int32.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.ldl_factor.html
    """

def ldl_factor_ex(
    A: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_ldl_factor_ex:
    """L and D in one matrix, the swaps, and any zero pivots. LD, pivots, info.

    Shapes: (3, 3) -> (3, 3), (3,), (). dtype: the input's, int32, int32.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.ldl_factor_ex.html
    """

def ldl_solve(
    LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Tensor | None = None
) -> Tensor:
    """X with A X = B, from what `ldl_factor` gives for A.

    Raises RuntimeError: ...A must be batches of square matrices, but they are ... by ... matrices
    Raises RuntimeError: ...: Expected B to have at least 2 dimensions, but it has ... dimensions
    Raises RuntimeError: Incompatible matrix sizes for ...: each A matrix is ... by ... but each b
      matrix is ... by ...

    https://pytorch.org/docs/stable/generated/torch.linalg.ldl_solve.html
    """

def lstsq(
    A: Tensor,
    B: Tensor,
    rcond: float | None = None,
    *,
    driver: str | None = None,
    out: Sequence[Tensor] | None = None,
) -> return_types.linalg_lstsq:
    """The X of least norm among those that minimise |A X - B|. Solution, residuals, rank,
    singular_values.

    Shapes: (2, 3), (2, 3) -> (3, 3), (0,), (), (0,). dtype: the input's, float32, int64, float32.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.lstsq.html
    """

def lu(A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None) -> return_types.linalg_lu:
    """P, L and U with A = P L U. P, L, U.

    Shapes: (2, 3) -> (2, 2), (2, 2), (2, 3). dtype: the input's, the input's, the input's.
    Raises NotImplementedError for integers and bools.
    Raises RuntimeError: ...: Expected tensor with 2 or more dimensions. Got size: ... instead
    Raises RuntimeError: linalg.lu_factor: LU without pivoting is not implemented on the CPU

    https://pytorch.org/docs/stable/generated/torch.linalg.lu.html
    """

def lu_factor(
    A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None
) -> return_types.linalg_lu_factor:
    """L and U in one matrix, and the row swaps. LU, pivots.

    Shapes: (2, 3) -> (2, 3), (2,). dtype: the input's, int32.
    Raises NotImplementedError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.lu_factor.html
    """

def lu_factor_ex(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_lu_factor_ex:
    """L and U in one matrix, the row swaps, and any zero pivots. LU, pivots, info.

    Shapes: (2, 3) -> (2, 3), (2,), (). dtype: the input's, int32, int32.
    Raises NotImplementedError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.lu_factor_ex.html
    """

def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The solution of a linear system from its LU factors.

    https://pytorch.org/docs/stable/generated/torch.linalg.lu_solve.html
    """

def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of vectors, matrices or batches of them.

    Shapes: (3, 3), (3, 3) -> (3, 3). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: both arguments to matmul need to be at least 1D, but they are ...D and ...D

    https://pytorch.org/docs/stable/generated/torch.linalg.matmul.html
    """

def matrix_exp(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The exponential of square matrices.

    Shapes: (3, 3) -> (3, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: ...A must be batches of square matrices, but they are ... by ... matrices
    Raises RuntimeError: ...: Expected a floating point or complex tensor as input. Got ...
    Raises RuntimeError: ...: Low precision dtypes not supported. Got ...

    https://pytorch.org/docs/stable/generated/torch.linalg.matrix_exp.html
    """

def matrix_norm(
    A: Tensor,
    ord: _Number | str | None = "fro",
    dim: int | Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Matrix norms: fro, nuc, inf, -inf, 1, -1, 2, -2.

    Shapes: (2, 3) -> (). dtype: float32.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: ...: Expected a floating point or complex tensor as input. Got ...
    Raises RuntimeError: ...: Low precision dtypes not supported. Got ...
    Raises RuntimeError: ...: dim must be a 2-tuple. Got ...

    https://pytorch.org/docs/stable/generated/torch.linalg.matrix_norm.html
    """

def matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """The `n`-th power of square matrices, of the inverse if `n` < 0.

    Shapes: (3, 3) -> (3, 3). dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.linalg.matrix_power.html
    """

def matrix_rank(
    A: Tensor,
    tol: Tensor | _Number | None = None,
    hermitian: bool = False,
    *,
    atol: Tensor | _Number | None = None,
    rtol: Tensor | _Number | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The number of singular values above the tolerance. `tol` is an older name for `atol`, without a
    relative tolerance.

    Shapes: (2, 3) -> (). dtype: int64.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: ...: The input tensor ... must have at least 2 dimensions.

    https://pytorch.org/docs/stable/generated/torch.linalg.matrix_rank.html
    """

def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of several matrices in the cheapest order.

    Shapes: [(3, 3), (3, 3)] -> (3, 3). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: multi_dot(): expected at least 2 tensors but got ...
    Raises RuntimeError: multi_dot(): the ... tensor must be 1D or 2D but got ...D
    Raises RuntimeError: multi_dot(): tensor ... must be 2D but got ...D

    https://pytorch.org/docs/stable/generated/torch.linalg.multi_dot.html
    """

def norm(
    A: Tensor,
    ord: _Number | str | None = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Vector or matrix norms, by `ord` and `dim`.

    Shapes: (2, 3) -> (). dtype: float32.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: linalg.norm: If dim is specified, it must be of length 1 or 2. Got ...
    Raises RuntimeError: linalg.norm: If dim is not specified but ord is, the input must be 1D or
      2D. Got ...D.

    https://pytorch.org/docs/stable/generated/torch.linalg.norm.html
    """

def pinv(
    A: Tensor,
    rcond: Tensor | _Number | None = None,
    hermitian: bool = False,
    *,
    atol: Tensor | _Number | None = None,
    rtol: Tensor | _Number | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The pseudo-inverse of matrices. `rcond` is an older name for `rtol`.

    Shapes: (2, 3) -> (3, 2). dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: linalg.pinv(...{...}): expected a tensor with 2 or more dimensions of
      float, double, cfloat or ...

    https://pytorch.org/docs/stable/generated/torch.linalg.pinv.html
    """

def qr(A: Tensor, mode: str = "reduced", *, out: Sequence[Tensor] | None = None) -> return_types.linalg_qr:
    """Q and R of A = Q R. Q, R.

    Shapes: (2, 3) -> (2, 2), (2, 3). dtype: the input's, the input's.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: ...: The input tensor ... must have at least 2 dimensions.
    Raises RuntimeError: ...: Expected a floating point or complex tensor as input. Got ...
    Raises RuntimeError: ...: Low precision dtypes not supported. Got ...

    https://pytorch.org/docs/stable/generated/torch.linalg.qr.html
    """

def slogdet(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_slogdet:
    """The signs of determinants and the logarithms of their absolute values. Sign, logabsdet.

    Shapes: (3, 3) -> (), (). dtype: the input's, float32.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.slogdet.html
    """

def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """The solution of a linear system; LinAlgError if a matrix is singular.

    Shapes: (3, 3), (3, 3) -> (3, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.solve.html
    """

def solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    check_errors: bool = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.linalg_solve_ex:
    """The solution of a linear system, and for each matrix 0 or its zero pivot. Result, info.

    Shapes: (3, 3), (3, 3) -> (3, 3), (). dtype: the input's, int32.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.solve_ex.html
    """

def solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The solution of a triangular system.

    Shapes: (3, 3), (3, 3) -> (3, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.solve_triangular.html
    """

def svd(
    A: Tensor, full_matrices: bool = True, *, out: Sequence[Tensor] | None = None
) -> return_types.linalg_svd:
    """U, S and Vh of A = U diag(S) Vh. U, S, Vh.

    Shapes: (2, 3) -> (2, 2), (2,), (3, 3). dtype: the input's, float32, the input's.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: ...: The input tensor ... must have at least 2 dimensions.
    Raises RuntimeError: ...: Expected a floating point or complex tensor as input. Got ...
    Raises RuntimeError: ...: Low precision dtypes not supported. Got ...

    https://pytorch.org/docs/stable/generated/torch.linalg.svd.html
    """

def svdvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Singular values, descending.

    Shapes: (2, 3) -> (2,). dtype: float32.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.linalg.svdvals.html
    """

def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of a tensor seen as a matrix with `ind` row dimensions.

    Raises RuntimeError: Expected a strictly positive integer for 'ind', but got ...
    Raises RuntimeError: Expected self to satisfy the requirement prod(self.shape[ind:]) ==
      prod(self.shape[:ind]), but ...

    https://pytorch.org/docs/stable/generated/torch.linalg.tensorinv.html
    """

def tensorsolve(
    A: Tensor, B: Tensor, dims: int | Sequence[int] | None = None, *, out: Tensor | None = None
) -> Tensor:
    """X of tensordot(A, X, X.ndim) = B.

    Raises RuntimeError: Expected self to satisfy the requirement prod(self.shape[other.ndim:]) ==
      ...

    https://pytorch.org/docs/stable/generated/torch.linalg.tensorsolve.html
    """

def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers 0 to N - 1 of each number, in a new last dimension.

    Shapes: (2, 3) -> (2, 3, 3). dtype: the input's.
    Raises RuntimeError for bools.
    Raises RuntimeError: linalg.vander supports floating point, complex, and integer tensors, but
      got Bool
    Raises RuntimeError: N must be greater than 1.

    https://pytorch.org/docs/stable/generated/torch.linalg.vander.html
    """

def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Dot products of vectors along `dim`, the first conjugated.

    Shapes: (2, 3), (2, 3) -> (2,). dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: ...: Expected a floating point or complex tensor as input. Got ...
    Raises RuntimeError: ...: Low precision dtypes not supported. Got ...
    Raises RuntimeError: ...: Expected ... and ... to have the same dtype, but found ... of type ...
      and ... of type ... ...

    https://pytorch.org/docs/stable/generated/torch.linalg.vecdot.html
    """

def vector_norm(
    x: Tensor,
    ord: _Number = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The norm of order `ord` over `dim` or over all.

    Shapes: (2, 3) -> (). dtype: float32.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: linalg.vector_norm: Expected a floating point or complex tensor as input.
      Got ...
    Raises RuntimeError: linalg.vector_norm cannot compute the ... norm on an empty tensor because
      the operation does not ...

    https://pytorch.org/docs/stable/generated/torch.linalg.vector_norm.html
    """
