"""Fourier transforms (torch.fft): the engine's ops of that namespace."""

from __future__ import annotations

from ._surface import namespace

globals().update(namespace("fft"))
