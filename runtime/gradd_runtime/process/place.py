"""Where the record of a session is, and what makes it this process's alone."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..store import newest, take

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..store import RecordLease


class RecordPlace:
    """The place that the options ``store``, ``durability`` and ``leased`` of a session name, see
    Placement.open.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._base = Path(options["store"])
        self.level: str = options["durability"]
        #: by which order it was opened, see `take`; None where it has no lease
        self._order: int | None = options.get("leased")
        self.lease: RecordLease | None = None
        #: the file of the record
        self.path = self._base
        with suppress(OSError):  # the session is being deleted, or the storage is away; `enter` says so
            self.path = newest(self._base)

    def enter(self) -> None:
        """Be the only one that writes there, if it is leased. Raises OSError; LeaseLost where somebody else
        does since.
        """
        if self._order is None:
            with suppress(FileNotFoundError):  # the folder: the record is gone, which who opens it says
                self.path = newest(self._base)
            return
        if self.lease is None:
            self.lease = take(self._base, self._order, self.level == "disk")
            self.path = self.lease.path
        self.lease.check()

    def size(self) -> int:
        """Bytes that the session had at its latest snapshot, about."""
        found = 0
        with suppress(OSError):  # the session is deleted at the moment
            for file in self.path.parent.glob(f"{self.path.stem}*.safetensors"):
                found = max(found, file.stat().st_size)
        return found
