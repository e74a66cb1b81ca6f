"""QR factorisations as LAPACK keeps them, as Householder reflections, and products with those.

https://pytorch.org/docs/stable/generated/torch.geqrf.html
"""

from __future__ import annotations

from typing import Any

from ...data import Meta, dtypes, numel
from ...declare import composite, kernel
from ...graph import TURN
from ...schema import Op, named
from ...tensor import Tensor
from .linalg_common import adjoint, column_major, columns, publish, tupled
from .qr import householder_product


def _infer(input: Tensor) -> list[Meta]:
    if input.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    if input.dtype.category < dtypes.FLOAT or input.dtype.is_half:
        raise NotImplementedError(f"\"geqrf_cpu\" not implemented for '{input.dtype.title}'")
    *batch, m, n = input.shape
    return [columns(input.shape, input.dtype), Meta((*batch, min(m, n)), input.dtype)]


def _reflected(xp: Any, a: Any) -> tuple[Any, Any]:
    m, n = a.shape[-2:]
    out = a.copy()
    tau = xp.zeros((*a.shape[:-2], min(m, n)), a.dtype)
    for i in range(min(m, n)):
        x = out[..., i:, i]
        alpha = x[..., 0].copy()
        rest = xp.sqrt((xp.abs(x[..., 1:]) ** 2).sum(-1))
        still = (rest == 0) & (alpha.imag == 0)
        size = xp.sqrt(xp.abs(alpha) ** 2 + rest**2)
        beta = xp.where(still, alpha.real, -xp.copysign(size, alpha.real))
        safe = xp.where(still, 1, beta)
        factor = xp.where(still, 0, (safe - alpha) / safe)
        x[..., 1:] /= xp.where(still, 1, alpha - safe)[..., None]
        v = x.copy()
        v[..., 0] = 1
        part = out[..., i:, i + 1 :]
        inner = xp.matmul(xp.conjugate(v)[..., None, :], part)
        part -= (xp.conjugate(factor)[..., None] * v)[..., :, None] * inner
        out[..., i, i] = beta
        tau[..., i] = factor
    return out, tau


_geqrf: Op = kernel(
    "geqrf(Tensor input) -> (Tensor a, Tensor tau)",
    infer=_infer,
    impl=_reflected,
    cost=lambda input: (
        (TURN + 8 * input.numel()) * min(input.shape[-2:]),
        4 * numel(input.shape) * input.dtype.itemsize,
    ),
    out=True,
    namespace="-",
    outside=True,
    doc="R, and below it Householder reflections whose product is Q, with their factors (torch.geqrf).",
    autocast={"cpu": "float32"},
)
geqrf = tupled(_geqrf.call, "geqrf", "a tau", ("", "geqrf"), ("Tensor", "geqrf"))
publish(householder_product.call, ("", "orgqr"), ("Tensor", "orgqr"))


def _ormqr(input: Any, tau: Any, other: Any, left: bool, transpose: bool) -> Any:
    name = "torch.ormqr"
    for t, what in ((input, "input"), (other, "other")):
        if t.ndim < 2:
            raise RuntimeError(f"{name}: {what} must have at least 2 dimensions.")
    side = -2 if left else -1
    if other.shape[side] < tau.shape[-1]:
        raise RuntimeError(f"{name}: other.shape[{side}] must be greater than or equal to tau.shape[-1]")
    if other.shape[side] != input.shape[-2]:
        raise RuntimeError(f"{name}: other.shape[{side}] must be equal to input.shape[-2]")
    if tau.shape[-1] != min(other.shape[side], input.shape[-1]):
        raise RuntimeError(
            f"{name}: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])"
        )
    m, n = input.shape[-2:]
    k = tau.shape[-1]
    whole = named.constant_pad_nd(named.narrow(input, -1, 0, min(k, n)), [0, m - min(k, n)])
    Q = householder_product(whole, tau)
    Q = adjoint(Q) if transpose else Q
    found = Q @ other if left else other @ Q
    return named.to_layout(found, list(column_major(tuple(found.shape))))


ormqr = composite(
    "ormqr(Tensor input, Tensor tau, Tensor other, bool left=True, bool transpose=False) -> Tensor",
    body=_ormqr,
    inline=True,
    out=True,
    method=True,
    doc="The product of Householder reflections, or its adjoint, with a matrix (torch.ormqr).",
    autocast={"cpu": "float32"},
)
