"""Properties that may not be assigned or deleted, with PyTorch's refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def read_only(cls: type, *names: str) -> None:
    """Make assigning or deleting these properties of a class raise AttributeError."""
    for name in names:
        no = _refuse(name)
        setattr(cls, name, getattr(cls, name).setter(no).deleter(no))


def _refuse(name: str) -> Callable[..., None]:
    def refuse(*_: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return refuse


def no_deletion(name: str, instead: str = "") -> Callable[..., None]:
    """The deleter of a property that has none: RuntimeError, with what to do `instead`."""

    def refuse(_: Any) -> None:
        raise RuntimeError(f"Deletion of {name} not allowed.{instead}")

    return refuse
