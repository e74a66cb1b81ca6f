"""A module for each of several devices (torch.nn.parallel.replicate)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..module import Module

__all__ = ["replicate"]


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """The module itself for each device: they are all the session's."""
    return [network for _ in devices]
