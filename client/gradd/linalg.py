"""Linear algebra (torch.linalg): each op that the engine publishes there, and `LinAlgError`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.ops.linalg.linalg_common import LinAlgError as LinAlgError

from ._surface import namespace

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


globals().update(namespace("linalg"))
