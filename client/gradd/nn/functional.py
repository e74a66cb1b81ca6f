"""Layers and losses as functions (torch.nn.functional): each op that the engine publishes there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._surface import namespace

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


globals().update(namespace("nn.functional"))
