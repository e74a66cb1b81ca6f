"""Determinants. The gradient at an exactly singular matrix is 0, as in PyTorch."""

from __future__ import annotations

from typing import Any

from ...data import Meta, dtypes
from ...declare import Joint, composite, kernel
from ...schema import Op, named
from ...tensor import Tensor
from ..elementwise import where
from ..reduce import sum
from ..shape import diag_embed, diagonal, to_dtype, unsqueeze
from .linalg_common import adjoint, publish, re, square_floating, tupled
from .solve import solve_ex_kernel


def _trace(x: Any) -> Any:
    return sum(diagonal(x, 0, -2, -1), -1)


def _scaled_inverse(A: Any, factor: Any) -> Any:
    """A^-H, scaled by one number per matrix."""
    side = diag_embed(unsqueeze(factor, -1).expand(list(A.shape[:-1])))
    return solve_ex_kernel(adjoint(A), side)[0]


def _inverse_trace(A: Any, A_t: Any) -> Any:
    return _trace(solve_ex_kernel(A, A_t)[0])


def _det_infer(A: Tensor) -> Meta:
    square_floating(A, "linalg.det")
    return Meta(tuple(A.shape[:-2]), A.dtype)


def _det_vjp(g: Any, A: Any, out: Any) -> Any:
    singular = out == 0
    found = _scaled_inverse(A, g * named.conj_physical(out) if out.dtype.is_complex else g * out)
    return where(unsqueeze(unsqueeze(singular, -1), -1), 0.0, found)


linalg_det: Op = kernel(
    "linalg_det(Tensor A) -> Tensor",
    infer=_det_infer,
    impl=lambda xp, a: xp.linalg.det(a),
    vjp=_det_vjp,
    jvp=lambda A_t, A, out: where(out == 0, 0.0, out * _inverse_trace(A, A_t)),
    namespace="linalg",
    doc="The determinants of square matrices (torch.linalg.det).",
)
publish(linalg_det.call, ("", "det"), ("Tensor", "det"))


def _slogdet_infer(A: Tensor, name: str = "linalg.slogdet") -> list[Meta]:
    square_floating(A, name)
    shape = tuple(A.shape[:-2])
    return [Meta(shape, A.dtype), Meta(shape, dtypes.to_real(A.dtype))]


def _slogdet_vjp(grads: Any, A: Any, out0: Any) -> Any:
    g_sign, g_log = grads
    factor = g_log
    if out0.dtype.is_complex and g_sign is not None:
        turned = named.conj_physical(g_sign) * out0
        part = re(turned) - turned
        factor = part if g_log is None else g_log + part
    elif g_log is None:
        return (None,)
    return (_scaled_inverse(A, to_dtype(factor, A.dtype)),)


def _slogdet_jvp(A_t: Any, A: Any, outs: Any) -> Any:
    moved = _inverse_trace(A, A_t)
    if not A.dtype.is_complex:
        return [None, moved]
    return [outs[0] * (moved - re(moved)), re(moved)]


def _slogdet_impl(xp: Any, a: Any) -> Any:
    sign, size = xp.linalg.slogdet(a)
    return sign, size


_slogdet: Op = kernel(
    "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
    infer=_slogdet_infer,
    impl=_slogdet_impl,
    vjp=Joint("A", _slogdet_vjp),
    jvp=_slogdet_jvp,
    out=True,
    namespace="linalg",
    doc="The signs of determinants and the logarithms of their absolute values (torch.linalg.slogdet).",
)
slogdet = tupled(_slogdet.call, "linalg_slogdet", "sign logabsdet", ("linalg", "slogdet"))
old_slogdet = tupled(_slogdet.call, "slogdet", "sign logabsdet", ("", "slogdet"), ("Tensor", "slogdet"))


def _logdet(input: Tensor) -> Any:
    square_floating(input, "logdet")
    sign, size = _slogdet(input)
    if input.dtype.is_complex:
        return named.log(sign) + size
    return where(sign == -1.0, float("nan"), size)


logdet = composite(
    "logdet(Tensor input) -> Tensor",
    body=_logdet,
    method=True,
    doc="Logarithms of determinants, nan if negative (torch.logdet).",
)
