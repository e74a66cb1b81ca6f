"""Anomaly detection: a pass that gives NaN says which operation of the forward it came from.

Source: https://pytorch.org/docs/stable/autograd.html#anomaly-detection. Modes are per thread.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from typing import TYPE_CHECKING, Any

from ..data import state
from ..schema import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..schema import Op
    from ..tensor import Node

_KEY, _PARENT = "traceback_", "parent_"
_HERE = os.path.dirname(os.path.dirname(__file__))


def _lines() -> list[str]:
    """The stack from the program down to the operation that it called, formatted."""
    frames = traceback.extract_stack()
    while frames and frames[-1].filename.startswith(_HERE):
        frames.pop()
    return traceback.format_list(frames)


class Watcher:
    """Told of each node that the thread's ops make. In anomaly mode a node remembers its stack, and the node
    whose gradient it computes.
    """

    def append(self, node: Node) -> None:
        """A node was made."""
        if state.anomaly:
            node.metadata[_KEY] = _lines()
            if state.task is not None:
                node.metadata[_PARENT] = state.task.node

    def inside(self) -> Any:
        """The watcher for the forward of a Function, whose ops make no nodes."""
        return None

    def opens(self, op: Op) -> bool:
        """Whether a composite is recorded as the ops inside it."""
        return False

    def begin(self, op: Op, inputs: tuple[Any, ...]) -> None:
        """The operation is about to run: an exception stops it."""

    def end(self) -> None:
        """It ran, or raised."""

    def settle(self, inputs: tuple[Any, ...], outputs: Any) -> None:
        """The operation is done and recorded."""


def check_gradients(node: Node, found: Sequence[Any], number: int) -> None:
    """RuntimeError where `node`, the `number`-th of its pass, made a NaN."""
    for i, g in enumerate(found):
        if g is None or g.backend.is_meta or not g.dtype.differentiable:
            continue
        if bool(named.any(named.isnan(g)).array):
            raise _of_nan(f"Function '{node.short_name()}' returned nan values in its {i}th output.", number)


def _of_nan(message: str, number: int) -> RuntimeError:
    error = RuntimeError(message)
    error.visited = number  # type: ignore[attr-defined]
    return error


def tell_forward(node: Node | None) -> None:
    """Warn with the traceback of the forward call behind `node`, if one was kept, then of the call whose
    gradient that one computed, and so on. Printed where warnings are errors.
    """
    error, caused = "Error detected in ", "caused the error"
    while node is not None:
        lines = node.metadata.get(_KEY)
        if lines is None:
            said = "No forward pass information available."
            if caused == "caused the error":
                said += " Enable detect anomaly during forward pass for more information."
        else:
            said = f"Traceback of forward call that {caused}:\n" + "".join(lines)
        try:
            warnings.warn(f"{error}{node.short_name()}. {said}", UserWarning, stacklevel=3)
        except UserWarning as warning:  # an error by the program's filters: the pass's own goes before
            print(warning, file=sys.stderr)
        error, caused = "\n\nPrevious calculation was induced by ", "induced the previous calculation"
        node = node.metadata.get(_PARENT)


def is_anomaly_enabled() -> bool:
    """Whether passes of this thread look for NaN."""
    return state.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether NaN is an error in anomaly mode."""
    return state.check_nan


def _switch(on: bool, check_nan: bool) -> None:
    state.anomaly, state.check_nan = on, check_nan
    if not on and type(state.watcher) is Watcher:
        state.watcher = None
    elif state.watcher is None:
        state.watcher = Watcher()


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode on or off (torch.set_anomaly_enabled); `set_detect_anomaly` is also a context."""
    _switch(bool(enabled), bool(check_nan))


class set_detect_anomaly:
    """Switch anomaly mode on or off, at once; as a context it is restored at the end
    (torch.autograd.set_detect_anomaly).
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (state.anomaly, state.check_nan)
        _switch(bool(mode), bool(check_nan))

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        _switch(*self._before)


class detect_anomaly:
    """Context in which passes raise where a gradient is NaN, with the line of the forward
    (torch.autograd.detect_anomaly); UserWarning on construction, since it is slow.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self._check = bool(check_nan)
        self._before = (state.anomaly, state.check_nan)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._before = (state.anomaly, state.check_nan)
        _switch(True, self._check)

    def __exit__(self, *exc: object) -> None:
        _switch(*self._before)
