"""Complex singular and eigenvectors are unique up to a phase; a loss that depends on it has no gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import holds
from ...declare import kernel
from ..shape import diagonal
from ..shared import same

_EIGEN = (
    " in the complex case are specified up to multiplication by e^{i phi}. The specified loss function "
    "depends on this quantity, so it is ill-defined."
)
_SINGULAR = (
    "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}. "
    "The specified loss function depends on this phase term, making it ill-defined."
)


def _impl(xp: Any, a: Any, phase: Any, against: Any, message: str) -> Any:
    left, right = phase.imag, -against.imag
    free = np.abs(left - right) <= 1e-2 + 1e-2 * np.abs(right)
    holds(~free, RuntimeError, message, "a decomposition's derivative")
    return a.copy(order="K")


_phase_free = kernel(
    "phase_free(Tensor input, Tensor phase, Tensor against, *, str message) -> Tensor",
    infer=same,
    impl=_impl,
    vjp=(lambda g: g, lambda g: None, lambda g: None),
    jvp=lambda input_t: input_t,
    namespace="-",
    outside=True,
    doc="The input; RuntimeError with `message` unless the imaginary parts of `phase` and `against` cancel.",
)


def unturned(turned: Any, what: str) -> Any:
    """The products of eigenvectors with their gradients; RuntimeError if the loss depends on a phase."""
    if not turned.dtype.is_complex:
        return turned
    phase = diagonal(turned, 0, -2, -1)
    return _phase_free(turned, phase, phase.new_zeros(list(phase.shape)), message=what + _EIGEN)


def one_phase(left: Any, right: Any) -> tuple[Any, Any]:
    """The same for left and right singular vectors, which share a phase; either may be None."""
    some = right if left is None else left
    phase = diagonal(some, 0, -2, -1)
    alone = left is None or right is None
    other = phase.new_zeros(list(phase.shape)) if alone else diagonal(right, 0, -2, -1)
    found = _phase_free(some, phase, other, message=_SINGULAR)
    return (None, found) if left is None else (found, right)
