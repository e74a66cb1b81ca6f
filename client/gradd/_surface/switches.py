"""What PyTorch lets a process set. Of most nothing depends here: the daemon's kernels leave no choice. What
was set can be read.
"""

from __future__ import annotations

import os
from typing import Any

from gradd_engine.data import Device, dtypes, warn

from .._session import allow_tf32, current, set_default_dtype
from .._tensor import dtype_of

_DEBUG_MODES = ("default", "warn", "error")
_PRECISIONS = ("highest", "high", "medium")

_deterministic, _warns_only = False, False
#: by `set_float32_matmul_precision`, and in the words of `torch.backends.cuda.matmul.fp32_precision`
_precision, _fp32_precision = "highest", "none"
_threads = {"intra": 0, "inter": 0}
_device: Device | None = None


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Has no effect: the kernels on a CPU give the same bits for the same input (docs/reliability.md).

    As https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html. Raises
    TypeError.
    """
    global _deterministic, _warns_only
    if not isinstance(mode, bool):
        raise TypeError(
            "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not "
            f"{type(mode).__name__}"
        )
    _deterministic, _warns_only = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was told."""
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What `use_deterministic_algorithms` was told."""
    return _deterministic and _warns_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by a number or name: 0 ``default``, 1 ``warn``, 2 ``error``. TypeError
    and RuntimeError for anything else.

    As https://docs.pytorch.org/docs/stable/generated/torch.set_deterministic_debug_mode.html.
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    known: tuple[int | str, ...] = _DEBUG_MODES if isinstance(debug_mode, str) else (0, 1, 2)
    if debug_mode not in known:
        told = "one of `default`, `warn`, `error`" if isinstance(debug_mode, str) else "0, 1, or 2"
        raise RuntimeError(f"invalid value of debug_mode, expected {told}, but got {debug_mode}")
    mode = known.index(debug_mode)
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode() -> int:
    """What `use_deterministic_algorithms` was told: 0 no, 1 with warnings, 2 with errors."""
    return (1 if _warns_only else 2) if _deterministic else 0


def set_float32_matmul_precision(precision: str) -> None:
    """How products of float32 are computed on a GPU: ``highest`` in float32, ``high`` and ``medium`` with
    operands rounded to TF32. Has no effect on a CPU. Warns where `precision` is none of these.

    As https://docs.pytorch.org/docs/stable/generated/torch.set_float32_matmul_precision.html.
    """
    if precision not in _PRECISIONS:
        warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect."
        )
        return
    _set_precision(precision, "ieee" if precision == "highest" else "tf32")


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was told, or what follows from the switches of
    `torch.backends.cuda.matmul`.
    """
    return _precision


def get_fp32_precision() -> str:
    """The same in the words of `torch.backends.cuda.matmul.fp32_precision`."""
    return _fp32_precision


def set_fp32_precision(precision: str) -> None:
    """See `torch.backends.cuda.matmul.fp32_precision`: ``tf32``, ``ieee``, or ``none`` for the default, which
    is the same. RuntimeError for anything else.
    """
    if precision == "bf16":
        raise RuntimeError("backend 'cuda' does not support precision 'bf16'")
    if precision not in ("ieee", "none", "tf32"):
        raise RuntimeError(f"Unknown precision: {precision}")
    _set_precision("high" if precision == "tf32" else "highest", precision)


def _set_precision(precision: str, fp32: str) -> None:
    global _precision, _fp32_precision
    _precision, _fp32_precision = precision, fp32
    allow_tf32(fp32 == "tf32")


def set_num_threads(threads: int) -> None:
    """Has no effect: the daemon's threads are set where it is started (``--threads``). Raises RuntimeError
    for what is no positive integer.
    """
    _threads["intra"] = _count("set_num_threads", threads)


def get_num_threads() -> int:
    """What `set_num_threads` was told, else the cores of this machine."""
    return _threads["intra"] or os.cpu_count() or 1


def set_num_interop_threads(threads: int) -> None:
    """As `set_num_threads`."""
    _threads["inter"] = _count("set_num_interop_threads", threads)


def get_num_interop_threads() -> int:
    """What `set_num_interop_threads` was told, else the cores of this machine."""
    return _threads["inter"] or os.cpu_count() or 1


def _count(name: str, threads: Any) -> int:
    if not isinstance(threads, int) or isinstance(threads, bool):
        raise RuntimeError(f"{name} expects an int, but got {type(threads).__name__}")
    if threads <= 0:
        raise RuntimeError(f"{name} expects a positive integer")
    return threads


def set_flush_denormal(mode: bool) -> bool:
    """False: it is not supported."""
    return False


def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype by a type or its name, ``torch.DoubleTensor`` (torch.set_default_tensor_type,
    which PyTorch deprecates). TypeError for what is no type of floating tensors.
    """
    if isinstance(t, str):
        found = next((d for d in dtypes.ALL if d.tensor_type == t.replace(".cuda.", ".")), None)
    else:
        found = None if isinstance(t, dtypes.DType) else dtype_of(t)
    if not isinstance(found, dtypes.DType):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    if not found.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    set_default_dtype(found)


def set_default_device(device: Any) -> None:
    """Has no effect but on `get_default_device`: a session has one device, the daemon's. None takes it back.
    Raises RuntimeError for what is no device.

    As https://docs.pytorch.org/docs/stable/generated/torch.set_default_device.html.
    """
    global _device
    _device = None if device is None else Device(device)


def get_default_device() -> Device:
    """What `set_default_device` was told, else the current session's device."""
    return Device(current().backend.device.type) if _device is None else _device
