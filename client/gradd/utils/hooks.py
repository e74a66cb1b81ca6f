"""torch.utils.hooks: the handles of hooks."""

from gradd_engine.tensor import RemovableHandle

__all__ = ["RemovableHandle"]
