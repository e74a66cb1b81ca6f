"""autocast and the decorators of functions, for CUDA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradd_engine.data import DType

from ...amp._named import autocast_of, warn_of_name
from ...amp.autocast_mode import custom_bwd as _custom_bwd
from ...amp.autocast_mode import custom_fwd as _custom_fwd

autocast = autocast_of("cuda")


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: DType | None = None) -> Any:
    """``gradd.amp.custom_fwd(..., device_type="cuda")``. Warns that it is deprecated (FutureWarning)."""
    warn_of_name("cuda", "custom_fwd(args...)", "custom_fwd(args..., device_type='cuda')")
    return _custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any]) -> Any:
    """``gradd.amp.custom_bwd(..., device_type="cuda")``. Warns that it is deprecated (FutureWarning)."""
    warn_of_name("cuda", "custom_bwd(args...)", "custom_bwd(args..., device_type='cuda')")
    return _custom_bwd(bwd, device_type="cuda")
