"""`torch._check` and its like: assertions with PyTorch's errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

_EXPECTED = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
    "enhancement request to PyTorch.)"
)

_OLD = (
    "_check_is_size will be removed in a future PyTorch release along with guard_size_oblivious. Use "
    "_check(i >= 0) instead."
)


def _check_with(error: type[Exception], cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise `error` where `cond` is False, with what `message` returns. TypeError for a cond that is no bool,
    or a message that is no function.
    """
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error(_EXPECTED if message is None else str(message()))


def _check(cond: Any, message: Callable[[], str] | None = None) -> None:
    """RuntimeError unless `cond` (torch._check)."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Callable[[], str] | None = None) -> None:
    """IndexError unless `cond`."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Callable[[], str] | None = None) -> None:
    """ValueError unless `cond`."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Callable[[], str] | None = None) -> None:
    """TypeError unless `cond`."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Callable[[], str] | None = None) -> None:
    """NotImplementedError unless `cond`."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Callable[[], str] | None = None, *, max: Any = None) -> None:
    """RuntimeError unless `i` is at least 0, and at most `max` where that is given. Warns that it is old."""
    warnings.warn(_OLD, FutureWarning, stacklevel=2)
    _check(i >= 0 and (max is None or i <= max), message)
