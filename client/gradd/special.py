"""Special functions (torch.special): the engine's ops of that namespace."""

from __future__ import annotations

from ._surface import namespace

globals().update(namespace("special"))
