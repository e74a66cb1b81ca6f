"""Gradients compared with differences, spelled as torch.autograd.gradcheck."""

from gradd_engine.check.gradcheck import gradcheck, gradgradcheck
from gradd_engine.check.gradcheck_compare import GradcheckError

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
