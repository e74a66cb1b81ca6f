"""The named tuples that functions return (torch.return_types), typed.

Written by `make face` from the declarations of ops.
"""

from typing import NamedTuple

from gradd._tensor.tensor import Tensor

class aminmax(NamedTuple):
    """What `aminmax` returns: min, max."""

    min: Tensor
    max: Tensor

class cummax(NamedTuple):
    """What `cummax` returns: values, indices."""

    values: Tensor
    indices: Tensor

class cummin(NamedTuple):
    """What `cummin` returns: values, indices."""

    values: Tensor
    indices: Tensor

class frexp(NamedTuple):
    """What `frexp` returns: mantissa, exponent."""

    mantissa: Tensor
    exponent: Tensor

class geqrf(NamedTuple):
    """What `geqrf` returns: a, tau."""

    a: Tensor
    tau: Tensor

class histogram(NamedTuple):
    """What `histogram` returns: hist, bin_edges."""

    hist: Tensor
    bin_edges: Tensor

class histogramdd(NamedTuple):
    """What `histogramdd` returns: hist, bin_edges."""

    hist: Tensor
    bin_edges: Tensor

class kthvalue(NamedTuple):
    """What `kthvalue` returns: values, indices."""

    values: Tensor
    indices: Tensor

class linalg_cholesky_ex(NamedTuple):
    """What `linalg_cholesky_ex` returns: L, info."""

    L: Tensor
    info: Tensor

class linalg_eig(NamedTuple):
    """What `linalg_eig` returns: eigenvalues, eigenvectors."""

    eigenvalues: Tensor
    eigenvectors: Tensor

class linalg_eigh(NamedTuple):
    """What `linalg_eigh` returns: eigenvalues, eigenvectors."""

    eigenvalues: Tensor
    eigenvectors: Tensor

class linalg_inv_ex(NamedTuple):
    """What `linalg_inv_ex` returns: inverse, info."""

    inverse: Tensor
    info: Tensor

class linalg_ldl_factor(NamedTuple):
    """What `linalg_ldl_factor` returns: LD, pivots."""

    LD: Tensor
    pivots: Tensor

class linalg_ldl_factor_ex(NamedTuple):
    """What `linalg_ldl_factor_ex` returns: LD, pivots, info."""

    LD: Tensor
    pivots: Tensor
    info: Tensor

class linalg_lstsq(NamedTuple):
    """What `linalg_lstsq` returns: solution, residuals, rank, singular_values."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor

class linalg_lu(NamedTuple):
    """What `linalg_lu` returns: P, L, U."""

    P: Tensor
    L: Tensor
    U: Tensor

class linalg_lu_factor(NamedTuple):
    """What `linalg_lu_factor` returns: LU, pivots."""

    LU: Tensor
    pivots: Tensor

class linalg_lu_factor_ex(NamedTuple):
    """What `linalg_lu_factor_ex` returns: LU, pivots, info."""

    LU: Tensor
    pivots: Tensor
    info: Tensor

class linalg_qr(NamedTuple):
    """What `linalg_qr` returns: Q, R."""

    Q: Tensor
    R: Tensor

class linalg_slogdet(NamedTuple):
    """What `linalg_slogdet` returns: sign, logabsdet."""

    sign: Tensor
    logabsdet: Tensor

class linalg_solve_ex(NamedTuple):
    """What `linalg_solve_ex` returns: result, info."""

    result: Tensor
    info: Tensor

class linalg_svd(NamedTuple):
    """What `linalg_svd` returns: U, S, Vh."""

    U: Tensor
    S: Tensor
    Vh: Tensor

class lu_unpack(NamedTuple):
    """What `lu_unpack` returns: P, L, U."""

    P: Tensor
    L: Tensor
    U: Tensor

class max(NamedTuple):
    """What `max` returns: values, indices."""

    values: Tensor
    indices: Tensor

class median(NamedTuple):
    """What `median` returns: values, indices."""

    values: Tensor
    indices: Tensor

class min(NamedTuple):
    """What `min` returns: values, indices."""

    values: Tensor
    indices: Tensor

class mode(NamedTuple):
    """What `mode` returns: values, indices."""

    values: Tensor
    indices: Tensor

class nanmedian(NamedTuple):
    """What `nanmedian` returns: values, indices."""

    values: Tensor
    indices: Tensor

class qr(NamedTuple):
    """What `qr` returns: Q, R."""

    Q: Tensor
    R: Tensor

class slogdet(NamedTuple):
    """What `slogdet` returns: sign, logabsdet."""

    sign: Tensor
    logabsdet: Tensor

class sort(NamedTuple):
    """What `sort` returns: values, indices."""

    values: Tensor
    indices: Tensor

class svd(NamedTuple):
    """What `svd` returns: U, S, V."""

    U: Tensor
    S: Tensor
    V: Tensor

class topk(NamedTuple):
    """What `topk` returns: values, indices."""

    values: Tensor
    indices: Tensor

class triangular_solve(NamedTuple):
    """What `triangular_solve` returns: solution, cloned_coefficient."""

    solution: Tensor
    cloned_coefficient: Tensor
