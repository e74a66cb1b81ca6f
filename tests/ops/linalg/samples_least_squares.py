"""Samples of least squares."""

from __future__ import annotations

from typing import Any

from tests.ops.makers import M
from tests.ops.table import S, T

LOW = "float32 complex64"


def dense(count: int = 4, **how: Any) -> Any:
    """Least squares, with `count` of the results laid out row-major."""
    return lambda L, T_, A, B: [x.contiguous() for x in L("lstsq")(A, B, **how)[:count]]


SAMPLES = {
    # where there are more equations than unknowns, PyTorch's solution lies in memory with gaps
    "linalg.lstsq": [
        M(dense(), T(4, 3), T(4, 2)).complex_too().dtypes(LOW).tol(1e-5),
        S(T(2, 3, 4), T(2, 3, 2)).dtypes("").tol(1e-5),
        M(dense(), T(2, 4, 3), T(2, 4)).dtypes("").tol(1e-5),
        M(dense(2, driver="gelsd"), T(4, 3), T(4, 2)).complex_too().dtypes("").tol(1e-5),
        M(dense(driver="gelsd"), T(4, 3), T(4, 2)).no_grad().dtypes(""),
        M(dense(driver="gels"), T(4, 3), T(4, 2)).dtypes("").tol(1e-5),
    ],
}
