"""Mixed precision: ops computed in a lower dtype where that is safe, and losses scaled so that gradients do
not vanish (torch.amp).

Source: https://docs.pytorch.org/docs/stable/amp.html
"""

from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
