"""`gradd.amp` for the CPU under its old names (torch.cpu.amp), which PyTorch deprecates."""

from .autocast_mode import autocast
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]
