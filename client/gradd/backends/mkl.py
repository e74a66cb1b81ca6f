"""Intel's MKL, which no kernel here uses. As https://docs.pytorch.org/docs/stable/backends.html."""

from __future__ import annotations


def is_available() -> bool:
    """False: nothing is computed by it."""
    return False


VERBOSE_OFF, VERBOSE_ON = 0, 1


class verbose:
    """A context in which it would print what it computes: has no effect."""

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> verbose:
        return self

    def __exit__(self, *exc: object) -> None:
        """The block is over."""
