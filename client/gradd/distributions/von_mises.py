"""The von Mises distribution (torch.distributions.von_mises)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.data import dtypes
from gradd_engine.graph import no_grad

from .. import _top as ops
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, lazy_property, special, standard_uniform

if TYPE_CHECKING:
    from collections.abc import Sequence

#: proposals for each draw: each is taken with a probability of at least 0.65, so none is with one of 1e-15
_PROPOSALS = 32

__all__ = ["VonMises"]


class VonMises(Distribution):
    """The circular normal distribution: an angle around `loc`, the closer the greater `concentration`.

    Source: https://pytorch.org/docs/stable/distributions.html#vonmises
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        kappa = self.concentration
        log_bessel = special["i0e"](kappa).log() + kappa
        return kappa * ops.cos(value - self.loc) - math.log(2 * math.pi) - log_bessel

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Best and Fisher, "Efficient simulation of the von Mises distribution" (1979), with all proposals at
        once, so that nothing is waited for.
        """
        with no_grad():
            kappa = self.concentration.to(dtypes.float64)
            tau = 1 + (1 + 4 * kappa**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
            # For small concentrations the quotient loses all digits; its Taylor series has them.
            r = ops.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))
            shape = (3, _PROPOSALS, *self._extended_shape(sample_shape))
            angle, chance, side = standard_uniform(kappa, shape).unbind(0)
            z = ops.cos(math.pi * angle)
            f = (1 + r * z) / (r + z)
            c = kappa * (r - f)
            taken = (c * (2 - c) - chance > 0) | ((c / chance).log() + 1 - c >= 0)
            first = taken.to(dtypes.int64).argmax(0, keepdim=True)
            found = ((side - 0.5).sign() * f.clamp(-1, 1).acos()).gather(0, first).squeeze(0)
            centred = (found + math.pi + self.loc.to(dtypes.float64)) % (2 * math.pi) - math.pi
            return centred.to(self.loc.dtype)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @lazy_property
    def variance(self) -> Any:
        """The circular variance."""
        return 1 - special["i1e"](self.concentration) / special["i0e"](self.concentration)
