"""CUDA's choices. As https://docs.pytorch.org/docs/stable/backends.html#torch-backends-cuda."""

from __future__ import annotations

from ..cuda import is_available


class _Products:
    """How products of matrices are computed."""

    def __init__(self) -> None:
        self.allow_tf32 = False
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True
        self.allow_fp16_accumulation = False


matmul = _Products()

#: which ways to compute attention may be taken
_attention = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


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
