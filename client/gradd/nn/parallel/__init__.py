"""Modules over several devices and processes (torch.nn.parallel), of which a session has one each."""

from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]
