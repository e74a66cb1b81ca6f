"""Mixed precision: in which dtype an op computes where automatic casts are on.

Source: https://docs.pytorch.org/docs/stable/amp.html#autocast-op-reference. A declaration says how its op is
cast on each kind of device (`Kernel.autocast`); `dispatch` asks `recast` where an op is called, so that casts
are ordinary ops of whoever records, and nothing below knows of them.
"""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..data import REROUTED, dtypes, state
from ..schema import named
from ..tensor import Tensor
from .arguments import flat_tensors

if TYPE_CHECKING:
    from ..data import DType
    from ..schema import Op


@dataclass(frozen=True, slots=True)
class Casting:
    """What a thread's automatic casts are, by kind of device."""

    #: the kinds of devices where they are on
    enabled: frozenset[str] = frozenset()
    #: where another lower dtype than the usual one was chosen
    chosen: tuple[tuple[str, DType], ...] = ()
    #: whether a parameter is cast once in a region
    caching: bool = True

    def dtype(self, kind: str) -> DType:
        """The lower dtype of a kind of device: float16 on a GPU unless another was chosen, else bfloat16."""
        return dict(self.chosen).get(kind, _usual(kind))

    def with_dtype(self, kind: str, dtype: DType) -> Casting:
        """The same with another lower dtype."""
        chosen = {**dict(self.chosen), kind: dtype}
        chosen = {k: d for k, d in chosen.items() if d is not _usual(k)}
        return replace(self, chosen=tuple(sorted(chosen.items(), key=lambda item: item[0])))

    def turned(self, kind: str, on: bool) -> Casting:
        """The same where the casts of a kind of device are on or off."""
        return replace(self, enabled=self.enabled | {kind} if on else self.enabled - {kind})


_FLOAT16 = frozenset({"cuda", "mps"})


def _usual(kind: str) -> DType:
    return dtypes.float16 if kind in _FLOAT16 else dtypes.bfloat16


_NOTHING = Casting()


class _Region(threading.local):
    """The region that a thread is in."""

    #: how many regions are entered
    depth: int = 0

    def __init__(self) -> None:
        #: of a parameter, by its address and more: a reference to it, and its copy in the lower dtype
        self.casts: dict[tuple[Any, ...], tuple[weakref.ref[Tensor], Tensor]] = {}


_region = _Region()


def casting() -> Casting:
    """The thread's automatic casts."""
    found: Casting | None = state.casting
    return _NOTHING if found is None else found


def set_casting(wanted: Casting) -> None:
    """Set the thread's automatic casts."""
    state.casting = None if wanted == _NOTHING else wanted
    REROUTED[:] = [True]


def clear_casts() -> None:
    """Forget the casts of parameters."""
    _region.casts.clear()


def enter_region() -> int:
    """Enter a region; returns how many are entered."""
    _region.depth += 1
    return _region.depth


def leave_region() -> int:
    """Leave a region: after the outermost one casts are forgotten. Returns how many are entered."""
    _region.depth -= 1
    if not _region.depth:
        clear_casts()
    return _region.depth


class separate_casts:
    """Context whose casts of parameters are its own: what is recorded in it depends on none before."""

    def __enter__(self) -> None:
        self._outer, _region.casts = _region.casts, {}

    def __exit__(self, *exc: object) -> None:
        _region.casts = self._outer


def recast(
    op: Op, how: str, kind: str, inputs: tuple[Any, ...], attrs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `op` as it computes them on a `kind` of device: float64, and what is not floating,
    stay.
    """
    if how == "as given":
        return inputs, attrs
    lower = casting().dtype(kind)
    if how == "refused":
        raise RuntimeError(
            f"torch.nn.functional.{op.name} and torch.nn.BCELoss are unsafe to autocast.\n"
            "Many models use a sigmoid layer right before the binary cross entropy layer.\nIn this case, "
            "combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\nor "
            "torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\nsafe to "
            "autocast."
        )
    if how == "float32 result" and "dtype" in op.params:
        if attrs["dtype"] is None and _eligible(inputs[0]):
            attrs = {**attrs, "dtype": dtypes.float32}
        return inputs, attrs
    to = lower if how == "lower" else dtypes.float32
    if how == "widest" and not any(_eligible(t) and t.dtype is to for t in flat_tensors(inputs)):
        to = lower
    return tuple(_cast(x, to) for x in inputs), attrs


def _eligible(t: Any) -> bool:
    return isinstance(t, Tensor) and t.dtype.category == dtypes.FLOAT and t.dtype is not dtypes.float64


def _cast(x: Any, to: DType) -> Any:
    if x.__class__ in (list, tuple):
        return [_cast(e, to) for e in x]
    if not _eligible(x) or x.dtype is to:
        return x
    leaf = x.dtype is dtypes.float32 and x._requires_grad and x._fn is None and x._base is None
    apart = state.transform or state.vmaps or state.task is not None or state.inference is not None
    if not leaf or apart or to is dtypes.float32 or not casting().caching:
        return _copy(x, to)
    key = (id(x), x._vc.n, to, state.grad)
    held = _region.casts.get(key)
    if held is not None and held[0]() is x:
        return held[1]
    made = _copy(x, to)
    _region.casts[key] = weakref.ref(x), made
    return made


def _copy(x: Tensor, to: DType) -> Tensor:
    before = state.casting
    state.casting = None
    try:
        made: Tensor = named.to_copy(x, to)
    finally:
        state.casting = before
    return made
