"""Uploads waiting for their batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import OutOfQuota
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import ProtocolError

from ..program import over_quota
from ..tensors import taken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradd_engine.data import Account


class StagedUploads:
    """Staged uploads by key (``writer.n``), charged to the account."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._arrays: dict[str, Any] = {}
        #: bytes of all of them
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._arrays)

    def __contains__(self, key: str) -> bool:
        return key in self._arrays

    def __getitem__(self, key: str) -> Any:
        return self._arrays[key]

    def items(self) -> Iterable[tuple[str, Any]]:
        """The uploads by key, in the order in which they came."""
        return self._arrays.items()

    def add(self, key: str, array: Any) -> bool:
        """Hold an upload; True if its key is new. One that is sent again (its answer may have been lost)
        replaces itself. Raises ProtocolError: quota-exceeded (507).
        """
        old = self._arrays.get(key)
        more = array.nbytes - (0 if old is None else old.nbytes)
        if self.bytes + more > DEFAULT.staged_bytes:
            raise ProtocolError.of(
                "quota-exceeded", "too many staged bytes wait for their batches",
                limit=DEFAULT.staged_bytes, used=self.bytes, requested=array.nbytes,
                exception="RuntimeError",
            )  # fmt: skip
        try:
            self._account.admit(more)
        except OutOfQuota as error:
            raise ProtocolError(over_quota(error)) from None
        self._arrays[key] = taken(array)
        self.bytes += more
        return old is None

    def pop(self, key: str) -> Any:
        """Remove and return an upload."""
        array = self._arrays.pop(key)
        self.bytes -= array.nbytes
        self._account.charge(-array.nbytes)
        return array

    def clear(self) -> None:
        """Drop all."""
        for key in list(self._arrays):
            self.pop(key)
