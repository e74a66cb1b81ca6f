"""Gradients compared with differences, spelled as torch.autograd.gradcheck."""

from gradd_engine.gradcheck import gradcheck, gradgradcheck
from gradd_engine.verdicts import GradcheckError

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
