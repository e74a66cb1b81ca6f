"""What libraries ask of torch._C, PyTorch's part in C++: they see that nothing is traced or dispatched, and
keep functions from being overridden.

https://docs.pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

from contextlib import nullcontext
from enum import Enum

from ._tensor import Without as DisableTorchFunctionSubclass
from ._tensor import WithoutAny as DisableTorchFunction
from ._tensor import disabled as _disabled_torch_function_impl

__all__ = [
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "DispatchKey", "DispatchKeySet",
    "_disabled_torch_function_impl",
]  # fmt: skip

DispatchKey = Enum(
    "DispatchKey",
    "CPU CUDA XPU MPS Meta Autograd AutogradCPU AutogradCUDA AutocastCPU AutocastCUDA AutocastXPU "
    "AutocastMPS CompositeExplicitAutograd CompositeImplicitAutograd",
)


class DispatchKeySet:
    """Some of `DispatchKey`."""

    def __init__(self, *keys: DispatchKey) -> None:
        self._keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        """The keys of both."""
        return DispatchKeySet(*self._keys | other._keys)

    def has(self, key: DispatchKey) -> bool:
        """Whether `key` is one of them."""
        return key in self._keys


class _ExcludeDispatchKeyGuard(nullcontext[None]):
    """Context without some keys, of which nothing here depends."""

    def __init__(self, keys: DispatchKeySet) -> None:
        super().__init__()


def _get_tracing_state() -> None:
    """None: nothing is being traced."""


def _log_api_usage_once(event: str) -> None:
    """Nothing is reported to anyone."""
