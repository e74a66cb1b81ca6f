"""What `torch.cuda.amp` and `torch.cpu.amp` have: regions and scalers of one kind of device, whose names
PyTorch deprecates.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from .autocast_mode import autocast, get_autocast_dtype
from .grad_scaler import GradScaler

if TYPE_CHECKING:
    from gradd_engine.data import DType


def autocast_of(kind: str) -> type[autocast]:
    """A class like ``autocast(kind, ...)``; it warns that it is deprecated, as PyTorch's does."""

    class _Autocast(autocast):
        __doc__ = f'``gradd.autocast("{kind}", ...)``; deprecated (torch.{kind}.amp.autocast).'

        def __init__(
            self, enabled: bool = True, dtype: DType | None = None, cache_enabled: bool = True
        ) -> None:
            warn_of_name(kind, "autocast(args...)", f"autocast('{kind}', args...)")
            super().__init__(kind, dtype or get_autocast_dtype(kind), enabled, cache_enabled)

    _Autocast.__name__ = _Autocast.__qualname__ = autocast.__name__
    return _Autocast


def scaler_of(kind: str) -> type[GradScaler]:
    """A class like ``GradScaler(kind, ...)``; it warns that it is deprecated, as PyTorch's does."""

    class _Scaler(GradScaler):
        __doc__ = f'``gradd.amp.GradScaler("{kind}", ...)``; deprecated (torch.{kind}.amp.GradScaler).'

        def __init__(self, init_scale: float = 2.0**16, *args: Any, **kwargs: Any) -> None:
            warn_of_name(kind, "GradScaler(args...)", f"GradScaler('{kind}', args...)")
            super().__init__(kind, init_scale, *args, **kwargs)

    _Scaler.__name__ = _Scaler.__qualname__ = GradScaler.__name__
    return _Scaler


def warn_of_name(kind: str, old: str, new: str) -> None:
    """Warn that a name of ``torch.<kind>.amp`` is deprecated."""
    warnings.warn(
        f"`torch.{kind}.amp.{old}` is deprecated. Please use `torch.amp.{new}` instead.",
        FutureWarning,
        stacklevel=3,
    )
