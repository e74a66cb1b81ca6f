"""Stubs of quantization, by which a model says where it would change number formats.

As https://docs.pytorch.org/docs/stable/quantization.html. Nothing is quantized here, so that each passes on
what it is given, as PyTorch's do until `convert`.
"""

from __future__ import annotations

from typing import Any

from ..nn import Module

__all__ = ["DeQuantStub", "QuantStub"]


class QuantStub(Module):
    """Where floats would become integers; passes them on."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig is not None:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        """`x` itself."""
        return x


class DeQuantStub(Module):
    """Where integers would become floats; passes them on."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig is not None:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        """`x` itself."""
        return x
