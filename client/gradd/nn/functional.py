"""Layers and losses as functions (torch.nn.functional): each op that the engine publishes there."""

from __future__ import annotations

from .._surface import namespace

globals().update(namespace("nn.functional"))
