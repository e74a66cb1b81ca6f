"""Blocks of memory and version counters: what a tensor shares with its views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .state import state

if TYPE_CHECKING:
    from .memory import Account


class Storage:
    """One block of memory: ``flat`` is its bytes (made on first use), ``nbytes`` its size, counted in an
    account.
    """

    __slots__ = ("__weakref__", "_flat", "_lease", "array", "nbytes")

    def __init__(self, array: Any, nbytes: int, account: Account | None) -> None:
        self.array = array
        self.nbytes = nbytes
        self._flat: Any = None
        self._lease = None if account is None else Lease(account, nbytes)

    @property
    def flat(self) -> Any:
        """The memory as a 1-D array of bytes, in address order; shared, not copied."""
        if self._flat is None:
            self._flat = flat_bytes(self.array)
        return self._flat


def flat_bytes(a: Any) -> Any:
    """The memory of a backend's array as bytes, in address order; shared, not copied."""
    if not a.flags.c_contiguous:
        turned = a.transpose(sorted(range(a.ndim), key=lambda i: (-a.strides[i], -a.shape[i])))
        # with gaps between its elements it lies in a flat array of the backend's
        a = turned if turned.flags.c_contiguous else _root(a)
    return a.reshape(-1).view("uint8")


def _root(a: Any) -> Any:
    while a.base is not None:
        a = a.base
    return a


class Lease:
    """Bytes of an account, given back when their holder dies."""

    __slots__ = ("_account", "_nbytes")

    def __init__(self, account: Account, nbytes: int) -> None:
        self._account = account
        self._nbytes = nbytes

    def __del__(self) -> None:
        self._account.give(self._nbytes)


class VersionCounter:
    """Counts in-place changes; shared by a tensor, its views and its detach()ed aliases."""

    __slots__ = ("n",)

    #: its tensors were made in inference mode: their versions are not tracked
    inference: ClassVar[bool] = False

    def __init__(self) -> None:
        self.n = 0


class InferenceCounter(VersionCounter):
    """What tensors made in inference mode share instead; by it they are known as such."""

    __slots__ = ()

    inference = True


def new_counter() -> VersionCounter:
    """The counter of a tensor with memory of its own, made now."""
    return VersionCounter() if state.inference is None else InferenceCounter()
