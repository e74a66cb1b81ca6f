"""As much of torchvision as small scripts ask for, over small synthetic pictures."""

from . import datasets, models, transforms, utils

__all__ = ["datasets", "models", "transforms", "utils"]
__version__ = "0.0"
