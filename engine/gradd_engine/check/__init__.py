"""gradcheck and its parts: Jacobians by differences, and what is said where derivatives disagree."""

from .gradcheck import gradgradcheck
from .gradcheck_compare import GradcheckError

__all__ = [
    "GradcheckError",
    "gradgradcheck",
]
