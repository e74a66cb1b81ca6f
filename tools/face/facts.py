"""What an op's `infer` says of results: asked of it, with the geometries that most ops take."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradd_engine.schema import Op


def facts_of(op: Op) -> list[str]:
    """Sentences on the shape and dtype of an op's result, and on what it refuses."""
    return []
