"""CUDA device queries. A session has one device, the daemon's. On a CPU these answer as PyTorch does without
a GPU.

As https://docs.pytorch.org/docs/stable/cuda.html.
"""

from __future__ import annotations

from typing import Any

from gradd_engine.data import Device

from .._session import current
from .._surface import manual_seed as _seed_session
from . import amp as amp
from . import nvtx as nvtx
from .streams import Event as Event
from .streams import Stream as Stream
from .streams import current_stream as current_stream
from .streams import default_stream as default_stream
from .streams import set_stream as set_stream
from .streams import stream as stream


def is_available() -> bool:
    """Whether the current session computes on a GPU."""
    return bool(current().backend.device.type == "cuda")


def device_count() -> int:
    """The number of the current session's GPUs: one or none."""
    return int(is_available())


def is_initialized() -> bool:
    """Whether the current session computes on a GPU."""
    return is_available()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current session computes on a GPU: bfloat16 is computed in float32."""
    return including_emulation and is_available()


def current_device() -> int:
    """0. Raises AssertionError without a GPU."""
    _want(None)
    return 0


def set_device(device: Any) -> None:
    """Check that `device` is the session's. Raises AssertionError without a GPU, RuntimeError for another."""
    _want(device)


def synchronize(device: Any = None) -> None:
    """Send what is recorded, and wait until the daemon has answered all of it. Raises as `set_device`."""
    _want(device)
    current().flush()


def empty_cache() -> None:
    """Has no effect: the daemon's memory is shared by sessions."""


def manual_seed(seed: int) -> None:
    """Seed the session's random stream if it is on a GPU: it has one."""
    if is_available():
        _seed_session(seed)


def manual_seed_all(seed: int) -> None:
    """As `manual_seed`."""
    manual_seed(seed)


def memory_allocated(device: Any = None) -> int:
    """Bytes that the session holds on its GPU; 0 without one. A round trip."""
    return int(current().info().bytes) if is_available() else 0


def _want(device: Any) -> None:
    if not is_available():
        raise AssertionError("Torch not compiled with CUDA enabled")
    wanted = (
        Device("cuda", device) if isinstance(device, int) else Device("cuda" if device is None else device)
    )
    if wanted.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {wanted}")
    if wanted.index:
        raise RuntimeError("CUDA error: invalid device ordinal: a session has one device")
