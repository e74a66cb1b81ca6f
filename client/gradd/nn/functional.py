"""Layers and losses as functions (torch.nn.functional): the engine's ops of that namespace."""

from __future__ import annotations

from .._surface import namespace

globals().update(namespace("nn.functional"))
