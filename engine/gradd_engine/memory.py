"""Bytes are taken from an account before they are allocated, and given back when a storage dies."""

from __future__ import annotations


class OutOfQuota(RuntimeError):
    """An allocation would pass the account's limit. Members: ``requested``, ``used``, ``limit`` (bytes)."""

    def __init__(self, requested: int, used: int, limit: int) -> None:
        super().__init__(
            f"out of memory: tried to allocate {requested} bytes; {used} of the session's {limit} bytes are "
            "in use"
        )
        self.requested = requested
        self.used = used
        self.limit = limit


class Account:
    """A byte counter with a limit. One session's tensors share one account."""

    __slots__ = ("limit", "peak", "used")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self.peak = 0

    def take(self, nbytes: int) -> None:
        """Count `nbytes`; raises OutOfQuota and counts nothing where the limit would be passed."""
        used = self.used + nbytes
        if used > self.limit:
            raise OutOfQuota(nbytes, self.used, self.limit)
        self.used = used
        if used > self.peak:
            self.peak = used

    def give(self, nbytes: int) -> None:
        """Return bytes taken before."""
        self.used -= nbytes
