"""The Student's t-distribution (torch.distributions.studentT)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _top as ops
from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import broadcast_all, standard_normal

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t-distribution with `df` degrees of freedom around `loc`, times `scale`.

    Source: https://pytorch.org/docs/stable/distributions.html#studentt
    """

    arg_constraints: ClassVar[Any] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        df = self.df
        finite = self.scale.pow(2) * df / (df - 2)
        return ops.where(df > 2, finite, ops.where(df > 1, math.inf, math.nan))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        normal = standard_normal(self.df, self._extended_shape(sample_shape))
        squares = Chi2(self.df, validate_args=False).rsample(sample_shape)
        return self.loc + self.scale * normal * ops.rsqrt(squares / self.df)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        y, df = (value - self.loc) / self.scale, self.df
        normalizer = (
            self.scale.log()
            + 0.5 * df.log()
            + 0.5 * math.log(math.pi)
            + ops.lgamma(0.5 * df)
            - ops.lgamma(0.5 * (df + 1.0))
        )
        return -0.5 * (df + 1.0) * ops.log1p(y**2.0 / df) - normalizer

    def entropy(self) -> Any:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = ops.lgamma(half) + math.lgamma(0.5) - ops.lgamma(more)
        slope = more * (ops.digamma(more) - ops.digamma(half))
        return self.scale.log() + slope + 0.5 * self.df.log() + log_beta
