"""The chi-squared distribution (torch.distributions.chi2)."""

from __future__ import annotations

from typing import Any, ClassVar

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of `df` squares of standard normal numbers: the gamma distribution of df / 2 and rate 1/2.

    Source: https://pytorch.org/docs/stable/distributions.html#chi2
    """

    arg_constraints: ClassVar[Any] = {"df": constraints.positive}
    _also_expanded = ("concentration", "rate")

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2
