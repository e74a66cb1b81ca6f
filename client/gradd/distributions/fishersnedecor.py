"""The F-distribution (torch.distributions.fishersnedecor)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _top as ops
from .._surface import finfo
from . import constraints
from .distribution import Distribution
from .gamma import Gamma
from .utils import batch_size, broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The F-distribution with `df1` and `df2` degrees of freedom.

    Source: https://pytorch.org/docs/stable/distributions.html#fishersnedecor
    """

    arg_constraints: ClassVar[Any] = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(batch_size((df1, df2), self.df1), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        df2 = self.df2.masked_fill(self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return found.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Any:
        df1, df2 = self.df1, self.df2.masked_fill(self.df2 <= 4, math.nan)
        return 2 * df2.pow(2) * (df1 + df2 - 2) / (df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        above, below = (
            Gamma(df * 0.5, df, validate_args=False).rsample(sample_shape) for df in (self.df1, self.df2)
        )
        tiny = finfo(below.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        both = half1 + half2
        normalizer = both.lgamma() - half1.lgamma() - half2.lgamma()
        powers = half1 * ratio.log() + (half1 - 1) * ops.log(value)
        return normalizer + powers - both * ops.log1p(ratio * value)
