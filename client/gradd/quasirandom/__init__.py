"""Sequences of low discrepancy (torch.quasirandom)."""

from .sobol import SobolEngine

__all__ = ["SobolEngine"]
