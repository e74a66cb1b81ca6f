"""Utilities, as torch.utils."""

from . import checkpoint, hooks

__all__ = ["checkpoint", "hooks"]
