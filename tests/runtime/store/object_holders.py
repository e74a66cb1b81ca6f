"""The histories of `holders`, of a record in an object store: holders stand before and after what they ask
the store, which now and then gives no answer.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gradd_runtime.process.place import BucketPlace, RecordPlace
from gradd_runtime.store import Bucket, record

from tests.runtime.store.holders import Away, History

EXISTS = Bucket.exists
HOME = "memory://records"
ASKED = ("create", "read", "read_all", "exists", "sizes", "upload", "download", "write", "remove")


class ObjectHistory(History):
    """A record in an object store."""

    WEIGHTS = 8, 5, 2, 1

    def __init__(self, folder: Path, seed: int) -> None:
        self.bucket = Bucket(HOME)
        self.bucket.remove(self.bucket.sizes(depth=None))
        super().__init__(folder, seed)

    def place(self, order: int) -> RecordPlace:
        return BucketPlace({"store": f"{HOME}/a", "leased": order})

    def lost(self, place: RecordPlace) -> bool:
        assert isinstance(place, BucketPlace)
        log = place._log
        assert log is not None
        # Without a pause: what it reads is compared next.
        return EXISTS(self.bucket, log._name(log._next))

    def left_behind(self, last: RecordPlace) -> set[str]:
        assert isinstance(last, BucketPlace)
        assert last._log is not None
        stood = {stood.name for _, stood in last._log._stood}
        return set(self.bucket.sizes("a/snapshots")) - stood

    def pauses(self, patch: pytest.MonkeyPatch) -> None:
        dice = self.dice

        def asked(call: Callable[..., Any]) -> Callable[..., Any]:
            def ask(*given: Any) -> Any:
                self.pause()
                quiet = self._now is not None and dice.random() < 0.02
                if quiet and dice.random() < 0.5:
                    raise Away(errno.EIO, "no answer, and nothing was done")
                found = call(*given)
                if call.__name__ != "create":  # who has appended may answer from then on
                    self.pause()
                if quiet:
                    raise Away(errno.EIO, "no answer")
                return found

            return ask

        for name in ASKED:
            patch.setattr(Bucket, name, asked(getattr(Bucket, name)))
        patch.setattr(record, "failpoint", lambda at: None if at.startswith("append") else self.pause())
