"""CUDA's choices. As https://docs.pytorch.org/docs/stable/backends.html#torch-backends-cuda."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._surface import get_fp32_precision, set_float32_matmul_precision, set_fp32_precision
from ..cuda import is_available


class _Products:
    """How products of matrices are computed. What else is set than how float32 is has no effect: sums of
    products are of float32.
    """

    def __init__(self) -> None:
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True
        self.allow_fp16_accumulation = False

    @property
    def allow_tf32(self) -> bool:
        """Whether a GPU may round operands of float32 to TF32: see `set_float32_matmul_precision`."""
        return get_fp32_precision() == "tf32"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        if not isinstance(allowed, bool):
            raise RuntimeError(f"set_allow_tf32_cublas expects a bool, but got {type(allowed).__name__}")
        set_float32_matmul_precision("high" if allowed else "highest")

    @property
    def fp32_precision(self) -> str:
        """``tf32`` or ``ieee``, or ``none`` for the default, which is the same."""
        return get_fp32_precision()

    @fp32_precision.setter
    def fp32_precision(self, precision: str) -> None:
        set_fp32_precision(precision)


matmul = _Products()

#: which ways to compute attention may be taken
_attention = {"reduced": False, "flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def is_built() -> bool:
    """Whether the current session computes on a GPU."""
    return is_available()


def flash_sdp_enabled() -> bool:
    """Whether `enable_flash_sdp` was last told so."""
    return _attention["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Has no effect but on `flash_sdp_enabled`."""
    _attention["flash"] = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Whether `enable_mem_efficient_sdp` was last told so."""
    return _attention["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Has no effect but on `mem_efficient_sdp_enabled`."""
    _attention["mem_efficient"] = bool(enabled)


def math_sdp_enabled() -> bool:
    """Whether `enable_math_sdp` was last told so."""
    return _attention["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Has no effect but on `math_sdp_enabled`."""
    _attention["math"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """Whether `enable_cudnn_sdp` was last told so."""
    return _attention["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Has no effect but on `cudnn_sdp_enabled`."""
    _attention["cudnn"] = bool(enabled)


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Has no effect but on `fp16_bf16_reduction_math_sdp_allowed`."""
    _attention["reduced"] = bool(enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Whether `allow_fp16_bf16_reduction_math_sdp` was last told so."""
    return _attention["reduced"]


def is_flash_attention_available() -> bool:
    """False: no kernel here is that."""
    return False


def is_ck_sdpa_available() -> bool:
    """False: no kernel here is that."""
    return False


def can_use_flash_attention(params: Any, debug: bool = False) -> bool:
    """False: see `is_flash_attention_available`."""
    return False


can_use_efficient_attention = can_use_cudnn_attention = can_use_flash_attention


@contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:  # fmt: skip
    """Set which ways to compute attention may be taken, within a block."""
    before = dict(_attention)
    _attention.update(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn
    )
    try:
        yield
    finally:
        _attention.update(before)
