"""Transforms of parts of a tensor, and by a distribution's cumulative distribution function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _top as ops
from . import constraints
from ._transform import Transform
from .utils import _sum_rightmost, lazy_property

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Joined(Transform):
    """Transforms of parts along a dimension."""

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> Any:
        return all(t.bijective for t in self.transforms)

    def _check(self, t: Any, name: str, size: int, called: str, what: str = "tensor") -> None:
        if not -t.ndim <= self.dim < t.ndim:
            raise AssertionError(f"dim {self.dim} out of range for {what} with {t.ndim} dimensions")
        if t.shape[self.dim] != size:
            raise AssertionError(f"{name}.size({self.dim}) = {t.shape[self.dim]} must equal {called} {size}")


class CatTransform(_Joined):
    """A transform for each part, of `lengths` along a dimension (1 each, if None), as `cat` joins them.

    Source: https://pytorch.org/docs/stable/distributions.html#torch.distributions.transforms.CatTransform
    """

    def __init__(
        self, tseq: Sequence[Any], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})"
            )

    @lazy_property
    def event_dim(self) -> Any:
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The size of the dimension."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, t: Any) -> Any:
        return ops.split(t, self.lengths, self.dim)

    def _call(self, x: Any) -> Any:
        self._check(x, "x", self.length, "length")
        parts = zip(self.transforms, self._parts(x), strict=True)
        return ops.cat([t(part) for t, part in parts], self.dim)

    def _inverse(self, y: Any) -> Any:
        self._check(y, "y", self.length, "length")
        parts = zip(self.transforms, self._parts(y), strict=True)
        return ops.cat([t.inv(part) for t, part in parts], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        self._check(x, "x", self.length, "length", "x")
        self._check(y, "y", self.length, "length", "y")
        found = []
        for t, a, b in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            found.append(_sum_rightmost(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim))
        dim = self.dim - x.ndim if self.dim >= 0 else self.dim
        dim += self.event_dim
        return ops.cat(found, dim) if dim < 0 else sum(found)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Joined):
    """A transform for each place along a dimension, as `stack` joins them.

    Source: https://pytorch.org/docs/stable/distributions.html#torch.distributions.transforms.StackTransform
    """

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _call(self, x: Any) -> Any:
        self._check(x, "x", len(self.transforms), "len(transforms)")
        parts = zip(self.transforms, x.unbind(self.dim), strict=True)
        return ops.stack([t(part) for t, part in parts], self.dim)

    def _inverse(self, y: Any) -> Any:
        self._check(y, "y", len(self.transforms), "len(transforms)")
        parts = zip(self.transforms, y.unbind(self.dim), strict=True)
        return ops.stack([t.inv(part) for t, part in parts], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        self._check(x, "x", len(self.transforms), "len(transforms)", "x")
        self._check(y, "y", len(self.transforms), "len(transforms)", "y")
        parts = zip(self.transforms, x.unbind(self.dim), y.unbind(self.dim), strict=True)
        return ops.stack([t.log_abs_det_jacobian(a, b) for t, a, b in parts], self.dim)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)


class CumulativeDistributionTransform(Transform):
    """Values of a distribution to [0, 1] by its `cdf`.

    Source: https://pytorch.org/docs/stable/distributions.html#torch.distributions.transforms.CumulativeDistributionTransform
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size)

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)
