"""Where the tests of this room compute: on the first GPU, or on the stand-in for CuPy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from gradd_runtime.process import InlinePlacement

from tests import standin
from tests.device.runs import backend
from tests.gpu.held import held
from tests.standin.sessions import sessions_on, sessions_there

T = TypeVar("T")
#: of a GPU's cases every so many, under a tool that makes each of them slow
EVERY = int(os.environ.get("GRADD_GPU_EVERY", "1"))
#: of the stand-in's, all of which stand in other tests, so many
FEW = 1


@dataclass(frozen=True)
class GpuPlace:
    """`xp`: CuPy or its stand-in. `backend` makes the engine's backend on it, `sessions` lets `local:`
    sessions compute there for as long as a block, and `unwaited` fails where its block waits for the device.
    `near` and `half`: what numbers, and those of 16 bits, may differ from NumPy's by.
    """

    gpu: bool
    xp: Any
    backend: Callable[[], Any]
    sessions: Callable[[], AbstractContextManager[InlinePlacement]]
    unwaited: Callable[[], AbstractContextManager[None]]
    near: float
    half: float

    def some(self, items: Sequence[T]) -> Sequence[T]:
        """Which of the cases are run here."""
        return items[::EVERY] if self.gpu else items[:FEW]

    def lost(self) -> bool:
        """Whether the device answers nothing any more: after a fault no process gets it back."""
        try:
            self.xp.cuda.get_current_stream().synchronize()
        except Exception:
            return True
        return False

    def faults(self, items: Sequence[T], check: Callable[[T], object]) -> dict[str, str]:
        """What a check says of each case, where it says or raises something."""
        found: dict[str, str] = {}
        for item in self.some(items):
            try:
                said = check(item)
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
            if said:
                found[str(item)] = str(said)[:500]
                if self.lost():
                    found["and after it"] = "the device does not answer any more"
                    break
        return found


@contextmanager
def _counted() -> Iterator[None]:
    standin.reset()
    yield
    assert not standin.WAITS, f"waited for the device: {dict(standin.WAITS)}"


@cache
def stand_in() -> GpuPlace:
    """NumPy, as strict as CuPy."""
    return GpuPlace(False, standin.CUPY, backend, sessions_there, _counted, 1e-5, 1e-5)


@cache
def the_gpu() -> GpuPlace:
    """The first one. ImportError or RuntimeError where there is none."""
    import cupy
    from gradd_engine.backends.cupy import CupyBackend

    made = CupyBackend()
    if os.environ.get("GRADD_GPU_BARE"):
        cupy.cuda.set_allocator(None)  # a pool gives more than it was asked for, and hides who goes past that
    return GpuPlace(
        True, cupy, lambda: made, lambda: sessions_on(InlinePlacement("cuda")), lambda: held(cupy), 1e-4, 2e-2
    )
