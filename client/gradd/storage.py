"""Storages under the name of their file in PyTorch (torch.storage); there are no typed ones."""

from ._surface import UntypedStorage

__all__ = ["UntypedStorage"]
