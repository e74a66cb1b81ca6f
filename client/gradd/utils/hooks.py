"""torch.utils.hooks: what registering a hook gives."""

from gradd_engine.tensor import RemovableHandle

__all__ = ["RemovableHandle"]
