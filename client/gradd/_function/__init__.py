"""`gradd.function`: what a traced call depends on, and how it is replayed."""

from .decorator import function

__all__ = ["function"]
