"""Pinned results: too large for their batch's reply, kept as of their step until the writer has read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_protocol.messages import TensorInfo
from gradd_protocol.problems import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradd_engine.data import Account
    from gradd_engine.tensor import Storage, Tensor

    Values = np.ndarray[Any, Any]


class Pins:
    """Pinned results by key.

    A result that is a tensor's own memory stays there until something runs: `settle` copies it first. Usually
    the client has read and acknowledged it by then, so nothing is copied.
    """

    def __init__(self, account: Account) -> None:
        self._account = account
        self._pins: dict[str, tuple[Values, TensorInfo]] = {}
        #: the storages that results share, which count while they are held
        self._shared: dict[str, Storage] = {}

    def __len__(self) -> int:
        return len(self._pins)

    def add(self, key: str, values: Values, dtype: str, storage: Storage | None) -> None:
        """Pin `values`, C-ordered; `storage`: that of the tensor whose memory they share."""
        self._pins[key] = values, TensorInfo(key, None, list(values.shape), [], dtype, False, True, 0, False)
        if storage is not None:
            self._shared[key] = storage
        else:
            self._account.charge(values.nbytes)

    def items(self) -> Iterator[tuple[str, Values, str]]:
        """Each result: its key, values and the name of their dtype."""
        for key, (values, info) in self._pins.items():
            yield key, values, info.dtype

    @property
    def shared(self) -> Mapping[str, Storage]:
        """The memory of tensors that results share, by key."""
        return self._shared

    @property
    def bytes(self) -> int:
        """What results have of their own."""
        return sum(values.nbytes for key, (values, _) in self._pins.items() if key not in self._shared)

    def read(self, key: str, begin: int = 0, count: int | None = None) -> tuple[Values, TensorInfo]:
        """The values and their info; with `count` that many bytes from `begin`, flat.

        Raises ProtocolError: result-not-found (404).
        """
        if key not in self._pins:
            raise ProtocolError.of("result-not-found", f"no result is pinned under {key!r}")
        values, info = self._pins[key]
        if count is not None:
            values = values.reshape(-1).view(np.uint8)[begin : begin + count]
        return values, info

    def drop(self, key: str) -> None:
        """Forget a result, if present."""
        found = self._pins.pop(key, None)
        if self._shared.pop(key, None) is None and found is not None:
            self._account.charge(-found[0].nbytes)

    def clear(self) -> None:
        """Forget all."""
        for key in list(self._pins):
            self.drop(key)

    def settle(self) -> None:
        """Copy pinned results to their own memory before something runs and may write. Raises OutOfQuota."""
        while self._shared:
            key = next(iter(self._shared))
            values, info = self._pins[key]
            self._account.admit(values.nbytes)
            self._pins[key] = np.array(values), info
            del self._shared[key]


def values_of(t: Tensor, account: Account | None = None) -> Values:
    """The tensor's values, C-ordered: its own memory if possible, valid until something runs. Raises
    OutOfQuota if the account has no room for a copy.
    """
    if own_memory(t):
        return t.array  # type: ignore[no-any-return]
    if account is not None:
        account.afford(t.nbytes)
    own: Values = t.backend.to_numpy(t)
    return own


def own_memory(t: Tensor) -> bool:
    """Whether a tensor's values are its memory as it is, and need no copy."""
    array: Any = t.array
    return isinstance(array, np.ndarray) and array.flags.c_contiguous and not t._conj


def taken(array: Values) -> Values:
    """The array itself if its frame is in writable memory, else a copy.

    Frames in writable memory belong to the session once submitted.
    """
    try:
        array.flags.writeable = True
    except ValueError:
        return np.array(array)
    return array if array.flags.aligned else np.array(array)
