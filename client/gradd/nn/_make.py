"""New tensors in the current session, for layers and their initial values."""

from __future__ import annotations

from typing import Any

from .._surface import namespace

_FACTORY = frozenset({"device", "dtype", "memory_format"})

_TOP = namespace("")


def empty(size: tuple[int, ...], dtype: Any = None) -> Any:
    """A tensor with arbitrary values."""
    return _TOP["empty"](size, dtype=dtype)


def zeros(size: tuple[int, ...], dtype: Any = None) -> Any:
    """Zeros of `size`."""
    return _TOP["zeros"](size, dtype=dtype)


def ones(size: tuple[int, ...], dtype: Any = None) -> Any:
    """Ones of `size`."""
    return _TOP["ones"](size, dtype=dtype)


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """The options that say where and how a layer's tensors are made: device, dtype and memory_format.

    Also those of a dictionary "factory_kwargs" among them. TypeError for other options, and if one is given
    in both places (torch.nn.factory_kwargs).
    """
    given = dict(kwargs or {})
    found = dict(given.pop("factory_kwargs", {}))
    if not given.keys() <= _FACTORY:
        raise TypeError(f"unexpected kwargs {given.keys() - _FACTORY}")
    for name in given.keys() & found.keys():
        raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
    found.update(given)
    if not found.keys() <= _FACTORY:
        raise TypeError(f"unexpected kwargs {found.keys() - _FACTORY}")
    return found
