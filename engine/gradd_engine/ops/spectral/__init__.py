"""Fourier transforms, of whole signals and of short times, and windows.

Importing this room declares its ops.
"""

from . import fft, fourier, short_time, windows

__all__ = ["fft", "fourier", "short_time", "windows"]
