"""`gradd.save` and `gradd.load`: nested values in one safetensors file."""

from .objects import add_safe_globals, clear_safe_globals, get_safe_globals
from .serialization import load, save

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "save"]
