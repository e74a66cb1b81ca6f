"""TorchScript, of which nothing is compiled here: functions and modules stay what they are in Python.

As https://docs.pytorch.org/docs/stable/jit.html.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from ..compiler import note
from ..nn import Module

__all__ = [
    "Attribute", "Final", "ScriptFunction", "ScriptModule", "TracerWarning", "annotate", "export", "freeze",
    "ignore", "is_scripting", "is_tracing", "isinstance", "load", "optimize_for_inference", "save", "script",
    "script_if_tracing", "script_method", "trace", "trace_module", "unused",
]  # fmt: skip

_isinstance = isinstance
ScriptFunction = Callable[..., Any]


class ScriptModule(Module):
    """A module of a script that names this class as its base; `script` and `trace` give back what they are
    given, so that no other module is one.
    """

    @property
    def original_name(self) -> str:
        """The name of the class."""
        return type(self).__name__


#: what `script` makes of a module in PyTorch
RecursiveScriptModule = ScriptModule


class TracerWarning(Warning):
    """What a trace may have got wrong. Never warned of: there is no trace."""


def script(obj: Any, *_: Any, **options: Any) -> Any:
    """`obj` itself, a function, class or module; warns so once. Raises TypeError for anything else."""
    if not (callable(obj) or _isinstance(obj, type)):
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


def script_if_tracing(fn: Any) -> Any:
    """`fn` itself."""
    return fn


_script_if_tracing = script_if_tracing


def _overload(func: Any) -> Any:
    """`func` itself: of the declarations that follow one another, the last is called."""
    return func


_overload_method = _overload


def annotate(the_type: Any, the_value: Any) -> Any:
    """`the_value` itself (torch.jit.annotate)."""
    return the_value


def Attribute(value: Any, type: Any) -> Any:
    """`value` itself (torch.jit.Attribute)."""
    return value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether `obj` is of a type; of List[int] and its like, of the class (torch.jit.isinstance)."""
    kinds = target_type if _isinstance(target_type, tuple) else (target_type,)
    return _isinstance(obj, tuple(getattr(kind, "__origin__", kind) for kind in kinds))


def load(f: Any, *args: Any, **options: Any) -> NoReturn:
    """NotImplementedError: a TorchScript archive holds code. Load its state_dict with `gradd.load`."""
    raise NotImplementedError("torch.jit.load: gradd runs no TorchScript; save the state_dict instead")


def save(m: Any, f: Any, *args: Any, **options: Any) -> NoReturn:
    """NotImplementedError: no TorchScript is written. Save the state_dict with `gradd.save`."""
    raise NotImplementedError("torch.jit.save: gradd writes no TorchScript; save the state_dict instead")
