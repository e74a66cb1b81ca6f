"""DLPack capsules (torch.utils.dlpack).

https://pytorch.org/docs/stable/dlpack.html
"""

from __future__ import annotations

from typing import Any

from .._surface import dlpack, from_dlpack
from .._tensor import Tensor


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule with a copy of the values in the host's memory (torch.utils.dlpack.to_dlpack)."""
    return dlpack(tensor)


__all__ = ["from_dlpack", "to_dlpack"]
