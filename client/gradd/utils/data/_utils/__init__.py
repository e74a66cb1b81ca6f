"""The parts of a DataLoader, as torch.utils.data._utils: what scripts import from here is `collate`."""

from . import collate, worker

__all__ = ["collate", "worker"]
