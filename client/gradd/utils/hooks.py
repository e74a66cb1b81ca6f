"""torch.utils.hooks: what registering a hook gives."""

from gradd_engine.tensor.nodes import RemovableHandle

__all__ = ["RemovableHandle"]
