"""Parametrizations of weights: orthogonal, weight_norm, spectral_norm (torch.nn.utils.parametrizations).

Source: https://pytorch.org/docs/stable/nn.html#parametrizations
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from gradd_engine.data import dtypes
from gradd_engine.graph import no_grad

from ..._surface import finfo, namespace
from ..._tensor import Tensor
from ..functional import normalize
from ..module import Module
from .parametrize import register_parametrization
from .spectral_norm import _NEEDED, as_matrix, drawn, output_dim
from .weight_norm import norm_except_dim, normed

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_TOP, _LINALG = namespace(""), namespace("linalg")


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


def _is_orthogonal(q: Any) -> bool:
    eye = _TOP["eye"](q.shape[-1], dtype=q.dtype)
    return bool(_TOP["allclose"](q.mH @ q, eye, atol=10.0 * q.shape[-2] * finfo(q.dtype).eps))


def _make_orthogonal(a: Any) -> Any:
    """The orthogonal factor, by the sign that makes it continuous."""
    q, r = _LINALG["qr"](a)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _reflections(q: Any) -> Any:
    """The vectors of Householder's reflections that make an orthogonal `q`, below a diagonal of its signs."""
    where, cat = _TOP["where"], _TOP["cat"]
    a = q.clone()
    for i in range(a.shape[-1]):
        head, tail = a[..., i : i + 1, i].clone(), a[..., i + 1 :, i].clone()
        rest = (tail * tail).sum(-1, keepdim=True)
        none = rest == 0
        size = (head * head + rest).sqrt()
        beta = where(none, head, where(head < 0, size, -size))
        v = tail / where(none, 1.0, head - beta)
        tau = where(none, 0.0, (beta - head) / where(none, 1.0, beta))
        w = cat([_TOP["ones_like"](head), v], -1).unsqueeze(-1)
        right = a[..., i:, i + 1 :]
        right.sub_(tau.unsqueeze(-1) * w @ (w.mT @ right))
        a[..., i + 1 :, i] = v
        # Without a vector to reflect by, `householder_product` still reflects.
        a[..., i, i] = where(none, -beta.sign(), beta.sign()).squeeze(-1)
    return a


class _Orthogonal(Module):
    """An orthogonal matrix (or one with orthonormal rows or columns) from any; times a `base`."""

    base: Any

    def __init__(self, weight: Any, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Any) -> Any:
        """The matrix."""
        n, k = x.shape[-2:]
        if n < k:
            x = x.mT
        q = self._tall(x)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if n < k else q

    def _tall(self, x: Any) -> Any:
        n, k = x.shape[-2:]
        if self.orthogonal_map is _OrthMaps.householder:
            a = x.tril(-1)
            q = _LINALG["householder_product"](a, 2.0 / (1.0 + (a * a).sum(-2)))
            # The diagonal is of signs: integers, so that it gets no gradient.
            return q * x.diagonal(dim1=-2, dim2=-1).to(dtypes.int32).unsqueeze(-2)
        x = x.tril()
        if n != k:
            x = _TOP["cat"]([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], -1)
        a = x - x.mH
        if self.orthogonal_map is _OrthMaps.matrix_exp:
            q = _LINALG["matrix_exp"](a)
        else:
            eye = _TOP["eye"](n, dtype=a.dtype)
            q = _LINALG["solve"](eye - a / 2, eye + a / 2)
        return q[..., :k] if n != k else q

    def right_inverse(self, q: Any) -> Any:
        """What gives `q`, or the orthogonal matrix next to it, which becomes the base."""
        with no_grad():
            if tuple(q.shape) != tuple(self.shape):
                raise ValueError(
                    f"Expected a matrix or batch of matrices of shape {self.shape}. "
                    f"Got a tensor of shape {q.shape}."
                )
            tall = q.mT if q.shape[-2] < q.shape[-1] else q
            n, k = tall.shape[-2:]
            if not hasattr(self, "base"):
                if self.orthogonal_map is _OrthMaps.householder:
                    made = _reflections(tall)
                    return made.mT if q.shape[-2] < q.shape[-1] else made
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations "
                    "when use_trivialization=False."
                )
            if n != k:
                more = _TOP["randn"](*q.shape[:-2], n, n - k, dtype=q.dtype)
                self.base = _make_orthogonal(_TOP["cat"]([tall, more], -1))
            else:
                self.base = tall.clone() if _is_orthogonal(tall) else _make_orthogonal(tall)
            made = _TOP["zeros_like"](q)
            made.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return made


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Keep a matrix, or a batch of them, orthogonal; orthonormal rows or columns if it is not square.

    `orthogonal_map`: "matrix_exp", "cayley" or "householder", by default the first for square and complex
    ones, else the last. ValueError for other tensors. Returns `module`.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _OrthMaps.__members__:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, _OrthMaps[orthogonal_map], use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)


class _WeightNorm(Module):
    """A direction and a length as a weight."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        """The weight."""
        return normed(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> Any:
        """Its length, and itself."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Replace a weight by its norm over all dimensions but `dim` (None: all), `original0`, and `original1`.

    State dictionaries with the older ``<name>_g`` and ``<name>_v`` can be loaded. Returns `module`.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def renamed(state_dict: Any, prefix: str, *_: Any) -> None:
        olds = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(old in state_dict for old in olds):
            for i, old in enumerate(olds):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(old)

    module._register_load_state_dict_pre_hook(renamed)
    return module


class _SpectralNorm(Module):
    """A weight over its largest singular value, by power iteration."""

    _u: Any
    _v: Any

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        rank = weight.dim()
        if not -rank <= dim < rank:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{rank}, {rank - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(_NEEDED.format(n_power_iterations))
        self.dim, self.eps = dim % rank, eps
        if rank > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight, self.dim)
            u, v = drawn(matrix, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            self._power_method(matrix, 15)

    def _power_method(self, matrix: Any, n_power_iterations: int) -> None:
        with no_grad():
            for _ in range(n_power_iterations):
                self._u.copy_(normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        """The weight; in training mode after further iterations."""
        if weight.dim() == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        return weight / _TOP["vdot"](self._u.clone(), matrix.mv(self._v.clone()))

    def right_inverse(self, value: Any) -> Any:
        """The value, which is to have the norm 1."""
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Keep a weight over its largest singular value, which each use in training mode refines.

    `dim`: the dimension of the outputs, 0, or 1 for transposed convolutions. Returns `module`.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    made = _SpectralNorm(weight, n_power_iterations, output_dim(module, dim), eps)
    return register_parametrization(module, name, made)
