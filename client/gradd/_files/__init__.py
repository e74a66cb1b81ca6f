"""`gradd.save` and `gradd.load`: nested values in one safetensors file."""

from .serialization import load, save

__all__ = ["load", "save"]
