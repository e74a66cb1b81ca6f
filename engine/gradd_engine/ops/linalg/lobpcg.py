"""A few eigenvalues of symmetric matrices (torch.lobpcg).

All of them are computed, and the outermost kept: matrices are dense here, where this is as fast for sizes
that fit, has no iterations to wait for, and is exact.
Source: https://docs.pytorch.org/docs/stable/generated/torch.lobpcg.html
"""

from __future__ import annotations

from typing import Any

from ...declare import public
from ...schema import named
from ...tensor import Tensor
from .linalg_common import adjoint
from .solve import solve_triangular_kernel


@public()
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: None = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """See torch.lobpcg: the `k` largest (or smallest) eigenvalues [*batch, k] of symmetric matrices
    [*batch, m, m], or of the pair with positive-definite `B`, and their eigenvectors [*batch, m, k].

    What guides PyTorch's iterations has no effect: `iK`, `niter`, `tol`, `method`, the `ortho` parameters,
    and the values of `X`. Raises AssertionError for matrices that are not square, ValueError for more
    eigenvalues than a third of their rows, NotImplementedError for a `tracker`.
    """
    if tracker is not None:
        raise NotImplementedError("lobpcg(): gradd computes without iterations that a tracker could follow")
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if B is not None and B.shape != A.shape:
        raise AssertionError(f"A and B must have the same shape, got {A.shape} and {B.shape}")
    asked = (1 if X is None else X.shape[-1]) if k is None else k
    guessed = (asked if n is None else n) if X is None else X.shape[-1]
    rows = A.shape[-1]
    if rows < 3 * guessed:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={rows}) is smaller than 3 x the "
            f"number of requested eigenpairs (={guessed})"
        )
    factor: Any = None
    if B is not None:
        factor = named.linalg_cholesky(B)
        half = solve_triangular_kernel(factor, A, False)
        A = adjoint(solve_triangular_kernel(factor, adjoint(half), False))
    values, vectors = named.linalg_eigh(A)
    if factor is not None:
        vectors = solve_triangular_kernel(adjoint(factor), vectors, True)
    if largest is None or largest:
        values, vectors = named.flip(values, [-1]), named.flip(vectors, [-1])
    return values.narrow(-1, 0, asked).contiguous(), vectors.narrow(-1, 0, asked).contiguous()
