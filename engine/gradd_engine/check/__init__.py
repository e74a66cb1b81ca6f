"""gradcheck and its parts: numerical and analytical Jacobians, comparisons and their messages."""

from .gradcheck import gradgradcheck
from .gradcheck_compare import GradcheckError

__all__ = [
    "GradcheckError",
    "gradgradcheck",
]
