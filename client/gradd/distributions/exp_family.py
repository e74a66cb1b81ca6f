"""Exponential families (torch.distributions.exp_family): entropy from the log normalizer."""

from __future__ import annotations

from typing import Any

from gradd_engine.backward import grad

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution of density exp(<t(x), theta> - F(theta) + k(x)), with the natural parameters theta.

    Source: https://pytorch.org/docs/stable/distributions.html#exponentialfamily
    """

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        """F, of the natural parameters."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        """The expectation of k."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """F(theta) - <theta, F'(theta)> - E[k(x)]: the Bregman divergence of the log normalizer."""
        theta = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*theta)
        slopes = grad(normalizer.sum(), theta, create_graph=True)
        found = normalizer - self._mean_carrier_measure
        for t, slope in zip(theta, slopes, strict=True):
            found = found - (t * slope).reshape((*self._batch_shape, -1)).sum(-1)
        return found
