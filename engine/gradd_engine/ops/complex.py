"""Real and imaginary parts, conjugates. Gradients follow PyTorch's conjugate Wirtinger convention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..layout import Meta, preserved_strides
from ..op import LINEAR, op
from .common import same

if TYPE_CHECKING:
    from ..op import Op
    from ..tensor import Tensor

conj_physical: Op = op(
    "conj_physical(Tensor input)",
    infer=same,
    impl=lambda xp, a: xp.conjugate(a),
    vjp=lambda g: conj_physical(g),
    jvp=LINEAR,
    method=True,
    inplace=True,
    doc="Element-wise conjugate, computed (torch.conj_physical).",
)


def _part(input: Tensor) -> Meta:
    return Meta(tuple(input.shape), dtypes.to_real(input.dtype), preserved_strides(input))


def _to_complex_infer(input: Tensor) -> Meta:
    return Meta(tuple(input.shape), dtypes.to_complex(input.dtype), preserved_strides(input))


real = op(
    "real(Tensor input)",
    infer=_part,
    impl=lambda xp, a: xp.real(a).copy(),
    vjp=lambda g, input_meta: from_real(g) if input_meta.dtype.is_complex else g,
    jvp=LINEAR,
    node="RealBackward0",
    namespace="-",
    doc="The real part, as a copy.",
)

from_real: Op = op(
    "from_real(Tensor input)",
    infer=_to_complex_infer,
    impl=lambda xp, a: a + xp.zeros_like(a) * 1j,
    vjp=lambda g: real(g),
    jvp=LINEAR,
    namespace="-",
    doc="A complex tensor with the given real part.",
)


def is_complex(x: Any) -> bool:
    """Whether a tensor or number is complex."""
    return isinstance(x, complex) or (hasattr(x, "dtype") and x.dtype.is_complex)
