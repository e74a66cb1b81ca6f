"""Probability distributions, as torch.distributions.

Draws, densities and divergences are recorded like any other operation. Checks of values
(``validate_args``, on by default) wait for nothing: see `Distribution`.
Source: https://pytorch.org/docs/stable/distributions.html
"""

from . import _kl_same as _kl_same
from . import constraints as constraints
from . import kl as kl
from . import utils as utils
from .bernoulli import Bernoulli
from .categorical import Categorical
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .independent import Independent
from .kl import kl_divergence, register_kl
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .uniform import Uniform

__all__ = [
    "Bernoulli",
    "Categorical",
    "Distribution",
    "ExponentialFamily",
    "Independent",
    "MultivariateNormal",
    "Normal",
    "Uniform",
    "kl_divergence",
    "register_kl",
]
