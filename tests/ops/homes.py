"""Which file of the engine declares what: ops, public functions, methods of tensors.

Seen while they are imported, in a process of its own: what a module adds to the registries is declared there,
however the declaration is spelled. ``python -m tests.ops.homes`` prints it as JSON.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from types import FrameType
from typing import Any

from gradd_engine.declare.surface import PUBLIC
from gradd_engine.schema import REGISTRY
from gradd_engine.tensor import Tensor


def _declared() -> dict[str, int]:
    """What there is now: ops as ``add``, functions as ``linalg.inv``, ``.add``, methods as ``Tensor.add``."""
    return {
        **{name: id(op) for name, op in REGISTRY.items()},
        **{f"{space}.{name}": id(function) for (space, name), function in PUBLIC.items()},
        **{f"Tensor.{name}": id(method) for name, method in vars(Tensor).items()},
    }


def _watched() -> dict[str, str]:
    """Import every declaration, and note the module that each is made in."""
    found: dict[str, str] = {}
    before = _declared()
    running: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal before
        if frame.f_code.co_name != "<module>" or event not in ("call", "return"):
            return
        now = _declared()
        found.update({name: running[-1] for name, made in now.items() if before.get(name) != made})
        before = now
        if event == "call":
            running.append(frame.f_globals.get("__name__", ""))
        else:
            running.pop()

    sys.setprofile(note)
    try:
        import gradd_engine.assembly
    finally:
        sys.setprofile(None)
    assert gradd_engine.assembly.__all__
    return found


@functools.cache
def modules() -> dict[str, str]:
    """The declaring module of each declaration."""
    command = [sys.executable, "-m", "tests.ops.homes"]
    found: dict[str, str] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found


def home(key: str) -> str:
    """The file that declares what a key of the table names: ``"nn/losses"``, ``"backward/autograd"``."""
    from tests.ops.table import lookup, place

    space, name = place(key)
    spot = name if space == "-" else f"{space}.{name}"
    if spot not in modules():  # a declared op is public under its namespace
        (spot,) = [op.name for op in REGISTRY.values() if op.call is lookup(key)]
    return modules()[spot].removeprefix("gradd_engine.").removeprefix("ops.").replace(".", "/")


if __name__ == "__main__":
    print(json.dumps(_watched()))
