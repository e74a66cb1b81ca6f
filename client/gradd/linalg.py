"""Linear algebra (torch.linalg): each op that the engine publishes there, and `LinAlgError`."""

from __future__ import annotations

from gradd_engine.ops.linalg.linalg_common import LinAlgError as LinAlgError

from ._surface import namespace

globals().update(namespace("linalg"))
