"""Utilities, as torch.utils."""

from . import _pytree as _pytree
from . import benchmark, checkpoint, data, dlpack, hooks, model_zoo

__all__ = ["benchmark", "checkpoint", "data", "dlpack", "hooks", "model_zoo"]
