"""Hooks common to all modules: when they are called, and when something is registered in them.

As PyTorch's in torch.nn.modules.module: state of the process, for debugging and profiling.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from ._registry import HookHandle, Hooks, add

if TYPE_CHECKING:
    from collections.abc import Callable

FORWARD_PRE: Hooks = OrderedDict()
FORWARD: Hooks = OrderedDict()
BACKWARD_PRE: Hooks = OrderedDict()
BACKWARD: Hooks = OrderedDict()
#: of those in FORWARD
WITH_KWARGS: dict[int, bool] = {}
ALWAYS: dict[int, bool] = {}
#: "is_full": whether those in BACKWARD are full ones, once one was registered
KIND: dict[str, bool] = {}
BUFFERS: Hooks = OrderedDict()
MODULES: Hooks = OrderedDict()
PARAMETERS: Hooks = OrderedDict()


def told(hooks: Hooks, module: Any, name: str, value: Any) -> Any:
    """What is registered: `value`, or what the hooks return instead."""
    for hook in hooks.values():
        changed = hook(module, name, value)
        value = value if changed is None else changed
    return value


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> HookHandle:
    """Call ``hook(module, args)`` before the forward of every module and before its own hooks.

    What it returns replaces the arguments.
    """
    return add(FORWARD_PRE, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> HookHandle:
    """Call ``hook(module, args, output)`` after the forward of every module and before its own hooks.

    With `with_kwargs`, ``hook(module, args, kwargs, output)``; what it returns replaces the output;
    `always_call`: also if the forward raised.
    """
    marks = [mark for mark, wanted in ((WITH_KWARGS, with_kwargs), (ALWAYS, always_call)) if wanted]
    return add(FORWARD, hook, *marks)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> HookHandle:
    """Call ``hook(module, grad_output)`` before every module's part of a backward pass."""
    return add(BACKWARD_PRE, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> HookHandle:
    """Call ``hook(module, grad_input, grad_output)`` after every module's part of a backward pass.

    RuntimeError if there are deprecated ones.
    """
    return _backward(hook, full=True)


def register_module_backward_hook(hook: Callable[..., Any]) -> HookHandle:
    """Deprecated: call ``hook(module, grad_input, grad_output)`` at the node that made a module's output.

    RuntimeError if there are full ones.
    """
    return _backward(hook, full=False)


def _backward(hook: Callable[..., Any], full: bool) -> HookHandle:
    if KIND.setdefault("is_full", full) is not full:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
            "Please use only one of them."
        )
    return add(BACKWARD, hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> HookHandle:
    """Call ``hook(module, name, buffer)`` whenever a buffer is registered; what it returns replaces it."""
    return add(BUFFERS, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> HookHandle:
    """Call ``hook(module, name, submodule)`` whenever a module is registered; what it returns replaces it."""
    return add(MODULES, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> HookHandle:
    """Call ``hook(module, name, param)`` whenever a parameter is registered; what it returns replaces it."""
    return add(PARAMETERS, hook)
