"""The memory format of convolutions' weights (torch.nn.utils.memory_format)."""

from __future__ import annotations

from typing import Any

from gradd_engine.graph import no_grad

from ..conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module: Any, kinds: tuple[type, ...], memory_format: Any) -> Any:
    for layer in module.modules():
        if isinstance(layer, kinds):
            with no_grad():
                layer.weight.data = layer.weight.contiguous(memory_format=memory_format)  # type: ignore[attr-defined]
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Convert the weights of all Conv2d and ConvTranspose2d in `module`, in place; returns `module`."""
    return _convert(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Convert the weights of all Conv3d and ConvTranspose3d in `module`, in place; returns `module`."""
    return _convert(module, (Conv3d, ConvTranspose3d), memory_format)
