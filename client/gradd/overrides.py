"""Overriding PyTorch's functions, by classes with ``__torch_function__`` and by modes (torch.overrides).

https://docs.pytorch.org/docs/stable/torch.overrides.html. Of a tensor's properties those that are tensors
themselves (T, mT, H, mH, real, imag, data) are overridden; `shape`, `dtype` and their like are read as they
are.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from ._surface import begin
from ._tensor import NAMES, Tensor, decided, deciding, here, overrides

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_overridable_functions",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]


class TorchFunctionMode:
    """A context in which all functions ask it first: subclasses say in ``__torch_function__(self, func,
    types, args, kwargs)`` what a call gives, and are not asked within (torch.overrides.TorchFunctionMode).
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What a call gives; to be written by subclasses: NotImplementedError."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        begin()
        here.modes = (*here.modes, self)
        return self

    def __exit__(self, *_: object) -> None:
        here.modes = here.modes[:-1]

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Self:
        """A mode, to be entered; warns, since the class does as well."""
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls every function as it is."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The function's own result."""
        return func(*args, **(kwargs or {}))


def has_torch_function(args: Iterable[Any]) -> bool:
    """Whether a mode, or one of the arguments, overrides functions (torch.overrides.has_torch_function)."""
    return bool(here.modes) or (here.classes and any(overrides(type(x)) for x in args))


def has_torch_function_unary(arg: Any) -> bool:
    """`has_torch_function` of one argument."""
    return has_torch_function((arg,))


def has_torch_function_variadic(*args: Any) -> bool:
    """`has_torch_function` of several arguments."""
    return has_torch_function(args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Sequence[Any], *args: Any, **kwargs: Any
) -> Any:
    """What modes and the relevant arguments make of a call of `public_api`; TypeError where all say
    NotImplemented (torch.overrides.handle_torch_function).
    """
    begin()
    return decided(public_api, deciding(relevant_args) if here.classes else [], args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Any]) -> Callable[..., Any]:
    """Has a function ask first; `dispatcher` takes its arguments and gives those that are relevant
    (torch.overrides.wrap_torch_function).
    """

    def wrap(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return wrap


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or of a class that overrides functions (torch.overrides.is_tensor_like)."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """The functions that may be overridden, by the namespace that they are found in
    (torch.overrides.get_overridable_functions).
    """
    begin()
    found: dict[Any, list[Callable[..., Any]]] = defaultdict(list)
    for function, name in NAMES.items():
        holder: Any = sys.modules[__package__]
        *space, last = name.removeprefix("torch.").removesuffix(".__get__").split(".")
        for part in space:
            holder = getattr(holder, part)
        found[getattr(holder, last) if name.endswith("__get__") else holder].append(function)
    return found


def resolve_name(f: Any) -> str | None:
    """The name of a function that may be overridden, ``torch.Tensor.add``; None of any other
    (torch.overrides.resolve_name).
    """
    begin()
    return NAMES.get(f)


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether it is a method, or what reads a property, of tensors."""
    begin()
    return NAMES.get(func, "").startswith("torch.Tensor.")
