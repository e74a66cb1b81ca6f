"""`gradd.function`: what a traced call depends on, and doing it again without recording it."""

from .decorator import function

__all__ = ["function"]
