"""Storages under the name of their file in PyTorch (torch.storage)."""

from ._surface import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
