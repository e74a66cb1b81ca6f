"""What an op costs beside its outputs, in geometry and numbers: refused before time or memory is taken.

Work is counted in elementary operations, about a nanosecond each; a turn of a loop in Python is `TURN` of
them. By default an op works through its inputs and outputs, and may make a copy of what expanded inputs stand
for; where temporaries or turns go beyond that, its declaration says so (``cost=``). Costs are charged to the
ledger of the thread (a session's account, or what estimates for a plan); without one nothing is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data import numel, state
from ..tensor import Tensor
from .misfit import misfit, stated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..schema import Op

#: most work of one op: about a minute
WORK = 1 << 36
#: a turn of a loop in Python, in elementary operations
TURN = 1 << 14
#: elements of tensors that nobody need look at
_SMALL = 4096


class TooMuchWork(RuntimeError):
    """An op would take longer than any is allowed to. Members: ``requested``, ``limit`` (operations)."""

    def __init__(self, name: str, requested: int) -> None:
        super().__init__(f"{name}(): it would take about {requested:.3g} operations, {WORK} are allowed")
        self.requested = requested
        self.limit = WORK


class Estimate:
    """A ledger that refuses nothing: ``nbytes`` is the most that one op asked for."""

    def __init__(self) -> None:
        self.nbytes = 0

    def afford(self, nbytes: int, results: int = 0) -> None:
        """Note it; results are counted as they are made."""
        self.nbytes = max(self.nbytes, nbytes)


def charge(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], results: int = 0) -> int:
    """Refuse, by TooMuchWork or OutOfQuota, what the op's declared cost (work, bytes) is too high for. Gives
    the bytes of its temporaries, which stand beside its `results` (bytes too, 0 before they are known).
    """
    if state.ledger is None:
        return 0
    assert op.cost is not None
    try:
        work, nbytes = op.cost(*inputs, **attrs)
    except Exception as error:
        # It is asked before `infer` has looked at what was given.
        if stated(error):
            raise
        raise misfit(op, inputs, attrs) from error
    spend(op.name, work, nbytes, results)
    return nbytes


def spend(name: str, work: int, nbytes: int, results: int = 0) -> None:
    """Refuse work, and temporaries beside `results`, that are beyond what is allowed."""
    ledger = state.ledger
    if ledger is None:
        return
    if work > WORK:
        raise TooMuchWork(name, work)
    ledger.afford(nbytes, results)


def spread(inputs: Iterable[Any]) -> int:
    """Bytes of what tensors stand for that lie in less memory: expanded ones, windows that overlap."""
    found = 0
    for t in inputs:
        if isinstance(t, Tensor):
            count = numel(t.shape)
            if count > _SMALL and _span(t) < count:
                found += count * t.dtype.itemsize
        elif isinstance(t, (list, tuple)):
            found += spread(t)
    return found


def _span(t: Tensor) -> int:
    return 1 + sum([(n - 1) * abs(s) for n, s in zip(t.shape, t.strides, strict=True)])
