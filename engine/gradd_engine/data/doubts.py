"""Checks of values by kernels: made at once on the host, and on a device without waiting for it.

What a device finds out stays there, in one number for each kind of check, until somebody waits for values
anyway (a fetch). Only then is it told: kernels went on meanwhile, with indices that wrapped around.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .state import state

if TYPE_CHECKING:
    from collections.abc import Iterator

#: kinds of checks that may be open; beyond them, one waits
_MOST = 1024


class _Check(NamedTuple):
    """What a number says: it is wrong from `high` on, counted from `low`."""

    op: str
    error: type[Exception]
    #: with {} for the wrong number
    text: str
    low: int
    high: int


class Doubts:
    """Open checks of one session: by kind the greatest number seen, which a device has."""

    __slots__ = ("_open", "_words", "failures")

    def __init__(self) -> None:
        self._open: dict[_Check, Any] = {}
        #: where kernels note what they find, and the number in it; as long as it says nothing, it serves on
        self._words: dict[_Check, tuple[Any, Any]] = {}
        #: how many errors were told
        self.failures = 0

    def add(self, check: _Check, number: Any) -> None:
        """Take note of a number, an unsigned array without dimensions."""
        held = self._open.get(check)
        if held is None:
            if len(self._open) >= _MOST:
                self.settle()
            self._open[check] = number
        else:
            np.maximum(held, number, out=held)

    def word(self, xp: Any, check: _Check) -> Any:
        """Two int64 of the device in which a kernel notes 1 and a number that the check finds wrong."""
        made = self._words.get(check)
        if made is None:
            if len(self._words) >= _MOST:
                self.settle()
                self._words.clear()
            word = xp.zeros(2, np.int64)
            made = self._words[check] = word, word.view(np.uint64)[1]
        return made[0]

    def used(self, check: _Check) -> None:
        """A kernel has been given the check's word."""
        self.keep(check, self._words[check][1])

    def keep(self, check: _Check, number: Any) -> None:
        """Take note of a number that a device goes on writing to."""
        held = self._open.get(check)
        if held is not number:
            if held is not None:
                np.maximum(held, number, out=number)
            self._open[check] = number

    def settle(self, *, close: bool = True) -> None:
        """Wait for the device, and raise what the first check that failed says; all are closed then, unless
        they are to be told again.
        """
        if not self._open:
            return
        checks, numbers = list(self._open), list(self._open.values())
        if close:
            self._open.clear()
        found: Any = np.stack(numbers)  # of the device
        for check, number in zip(checks, found.get().tolist(), strict=True):
            if number >= check.high:
                signed = number - (1 << 64) if number >> 63 else number
                text = check.text.format(signed + check.low)
                if close:
                    self._words.clear()
                    self.failures += 1
                raise check.error(f"{text}{told_late(check.op)}")


def told_late(op: str) -> str:
    """What is said beside an error that a device kept to itself until values were read."""
    return f" (in {op}, which ran before this: a device tells what it found where values are read)"


def within(index: Any, low: int, high: int, error: type[Exception], text: str, op: str) -> None:
    """Raise `error` if a number of `index` is outside [low, high); `text` has {} for one that is."""
    if not index.size:
        return
    doubts = state.doubts
    if doubts is None or type(index) is np.ndarray or low >= high:
        if int(index.max()) >= high or int(index.min()) < low:
            bad = index[(index >= high) | (index < low)].reshape(-1)[0]
            raise error(text.format(int(bad)))
        return
    # what is below comes out above
    shifted = index.astype(np.int64, copy=False) - low if low else index.astype(np.int64, copy=False)
    doubts.add(_Check(op, error, text, low, high - low), shifted.view(np.uint64).max())


def holds(wrong: Any, error: type[Exception], text: str, op: str) -> None:
    """Raise `error` if anything of `wrong`, of bools, is true."""
    doubts = state.doubts
    if doubts is None or isinstance(wrong, (np.ndarray, np.generic)):
        if wrong.any():
            raise error(text)
        return
    doubts.add(
        _Check(op, error, text.replace("{", "{{").replace("}", "}}"), 0, 1), wrong.any().astype(np.uint64)
    )


@contextmanager
def noting(xp: Any, high: int, error: type[Exception], text: str, op: str) -> Iterator[Any]:
    """A word for a kernel that starts in this block: it notes there 1 and an index that is outside [0, high),
    which `text` has {} for. `error` is raised at once where nobody is to be told later.
    """
    doubts = state.doubts
    if doubts is not None:
        check = _Check(op, error, text, 0, high)
        yield doubts.word(xp, check)
        doubts.used(check)
        return
    word = xp.zeros(2, np.int64)
    yield word
    failed, index = word.get().tolist()
    if failed:
        raise error(text.format(index))
