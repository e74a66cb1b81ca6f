"""Logs for TensorBoard (torch.utils.tensorboard), written by the package ``tensorboard``: ModuleNotFoundError
where it is not installed, as PyTorch's.
"""

from .writer import SummaryWriter

__all__ = ["SummaryWriter"]
