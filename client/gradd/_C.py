"""What libraries ask of torch._C, PyTorch's part in C++: they see that nothing is traced or dispatched, keep
functions from being overridden, and turn switches of TorchScript that have no effect here.

https://docs.pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

from contextlib import nullcontext
from enum import Enum
from typing import Any

from gradd_engine.ops.linalg.linalg_common import LinAlgError

from ._tensor import Without as DisableTorchFunctionSubclass
from ._tensor import WithoutAny as DisableTorchFunction
from ._tensor import disabled as _disabled_torch_function_impl

__all__ = [
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "DispatchKey", "DispatchKeySet",
    "_disabled_torch_function_impl",
]  # fmt: skip

_LinAlgError = LinAlgError

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


class _OfScript:
    """A part of TorchScript's graphs; no value is of such a type."""


Graph, Node, Value, Block = (type(name, (_OfScript,), {}) for name in ("Graph", "Node", "Value", "Block"))


def _set_nothing(value: Any) -> None:
    """A switch of TorchScript's executors and fusers, of which nothing here depends."""


_jit_set_texpr_fuser_enabled = _jit_set_nvfuser_enabled = _jit_set_nvfuser_guard_mode = _set_nothing
_jit_override_can_fuse_on_cpu = _jit_override_can_fuse_on_gpu = _set_nothing
_jit_override_can_fuse_on_cpu_legacy = _set_graph_executor_optimize = _set_nothing
_debug_set_fusion_group_inlining = _set_nothing


def _jit_set_profiling_executor(value: bool) -> bool:
    """What PyTorch's switch was before: True, always."""
    return True


_jit_set_profiling_mode = _jit_set_profiling_executor


def _jit_can_fuse_on_cpu() -> bool:
    """False: nothing is fused by TorchScript."""
    return False


_jit_can_fuse_on_gpu = _jit_texpr_fuser_enabled = _jit_nvfuser_enabled = _jit_can_fuse_on_cpu
