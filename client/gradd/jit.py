"""TorchScript, of which nothing is compiled here: functions and modules stay what they are in Python.

As https://docs.pytorch.org/docs/stable/jit.html.
"""

from __future__ import annotations

from typing import Any

from .compiler import note
from .nn import Module as ScriptModule

__all__ = [
    "ScriptModule", "export", "freeze", "ignore", "is_scripting", "is_tracing", "optimize_for_inference",
    "script", "script_method", "trace", "trace_module", "unused",
]  # fmt: skip


def script(obj: Any, *_: Any, **options: Any) -> Any:
    """`obj` itself, a function, class or module; warns so once. Raises TypeError for anything else."""
    if not (callable(obj) or isinstance(obj, type)):
        raise TypeError(f"{type(obj)} is no function, class or module, which torch.jit.script takes")
    note("torch.jit.script")
    return obj


def trace(func: Any, example_inputs: Any = None, **options: Any) -> Any:
    """`func` itself, a function or module; warns so once."""
    note("torch.jit.trace")
    return func


def trace_module(mod: Any, inputs: Any, **options: Any) -> Any:
    """`mod` itself; warns so once."""
    note("torch.jit.trace_module")
    return mod


def freeze(mod: Any, *_: Any, **options: Any) -> Any:
    """`mod` itself."""
    return mod


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """`mod` itself."""
    return mod


def export(fn: Any) -> Any:
    """`fn` itself."""
    return fn


def script_method(fn: Any) -> Any:
    """`fn` itself."""
    return fn


def ignore(drop: Any = False, **options: Any) -> Any:
    """A decorator that returns what it is given, also without its parentheses."""
    return drop if callable(drop) else lambda given: given


def unused(fn: Any) -> Any:
    """`fn` itself."""
    return fn


def is_scripting() -> bool:
    """False."""
    return False


def is_tracing() -> bool:
    """False."""
    return False
