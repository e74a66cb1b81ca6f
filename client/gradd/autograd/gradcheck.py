"""Gradients compared with finite differences, as torch.autograd.gradcheck."""

from gradd_engine.check import GradcheckError, gradgradcheck
from gradd_engine.check.gradcheck import gradcheck

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
