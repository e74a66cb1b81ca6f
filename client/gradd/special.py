"""Special functions (torch.special): each op that the engine publishes there."""

from __future__ import annotations

from ._surface import namespace

globals().update(namespace("special"))
