"""Windows (torch.signal.windows), symmetric unless told otherwise."""

from __future__ import annotations

from .._surface import namespace

globals().update(namespace("signal.windows"))
