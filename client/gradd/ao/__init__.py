"""`torch.ao`: of quantization, what models that can be quantized are made of."""

from . import quantization as quantization

__all__ = ["quantization"]
