"""Linear algebra (torch.linalg): the engine's ops of that namespace, and `LinAlgError`."""

from __future__ import annotations

from gradd_engine.ops.linalg.linalg_common import LinAlgError as LinAlgError

from ._surface import namespace

globals().update(namespace("linalg"))
