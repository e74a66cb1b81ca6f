"""Modules without initial values (torch.nn.utils.init)."""

from __future__ import annotations

import inspect
from typing import Any

from ..module import Module


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module of a class that takes a `device`, its parameters without values of their own.

    RuntimeError for other classes. They are drawn and then forgotten, all in the session.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs).to_empty(device=device)
