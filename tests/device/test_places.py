"""What the tests in `tests/gpu` stand on, without a GPU: how a device is held, and what if it is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.cuda import nvrtc
from tests.gpu import held as holding
from tests.gpu.held import held
from tests.gpu.placed import placed
from tests.gpu.places import stand_in


class HeldDevice:
    """As much of CuPy as holds a device, which is done when it is let go or somebody waits for it."""

    def __init__(self) -> None:
        self.memory = bytearray(4)
        self.events: list[str] = []
        self.waited = False
        self.cuda = SimpleNamespace(
            alloc_pinned_memory=lambda size: self.memory,
            Event=lambda disable_timing: self,
            get_current_stream=lambda: SimpleNamespace(synchronize=lambda: self.events.append("settled")),
        )

    def RawKernel(self, source: str, name: str) -> Any:
        """A kernel that notes that it is started."""
        assert f"void {name}(" in source
        return self

    def compile(self) -> None:
        """Nothing is to be compiled."""

    def __call__(self, grid: Any, block: Any, args: Any) -> None:
        assert (grid, block, args[1]) == ((1,), (1,), holding.MOST)
        self.events.append("held")

    def record(self) -> None:
        """The event stands behind the kernel."""
        self.events.append("recorded")

    @property
    def done(self) -> bool:
        """Whether the kernel has run."""
        return self.waited or self.memory != bytearray(4)

    def synchronize(self) -> None:
        """Somebody waits, which is in order once it is let go."""
        assert self.memory != bytearray(4)
        self.events.append("over")


class PinnedBytes(bytearray):
    """A host's memory with an address, as CuPy's pinned one."""

    ptr = 4096


@pytest.mark.parametrize("waits", [False, True])
def test_a_block_that_waited_for_a_held_device_is_told(waits: bool) -> None:
    xp = HeldDevice()
    xp.memory = PinnedBytes(4)

    def block() -> None:
        with held(xp):
            xp.waited = waits
            assert xp.events == ["settled", "held", "recorded"]

    if waits:
        with pytest.raises(AssertionError, match="waited for the device"):
            block()
    else:
        block()
    assert xp.events[-1] == "over"
    assert np.frombuffer(xp.memory, np.int32)[0] == 1


@pytest.mark.skipif(nvrtc.library() is None, reason="needs NVRTC: pip install --group cuda-compile")
def test_the_kernel_that_holds_it_compiles() -> None:
    assert nvrtc.compile(holding.SOURCE, ["hold"], ["--gpu-architecture=sm_90"])


def _fails_from(first: int) -> Callable[[int], str]:
    def check(item: int) -> str:
        if item == first + 1:
            raise ValueError("raised")
        return "wrong" if item >= first else ""

    return check


def test_faults_are_told_by_case_until_the_device_is_lost() -> None:
    place = replace(stand_in(), gpu=True)
    assert place.faults(range(4), _fails_from(2)) == {"2": "wrong", "3": "ValueError: raised"}

    def fault() -> None:
        raise RuntimeError("an illegal memory access was encountered")

    stream = SimpleNamespace(synchronize=fault)
    lost = replace(place, xp=SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: stream)))
    assert lost.lost()
    assert lost.faults(range(4), _fails_from(1)) == {
        "1": "wrong",
        "and after it": "the device does not answer any more",
    }


@pytest.mark.parametrize(
    "a", [np.arange(6.0).reshape(2, 3).T, np.arange(6)[::2], np.float32(3) * np.ones(()), np.zeros((0, 2))]
)
def test_arrays_keep_their_geometry_on_a_device(a: Any) -> None:
    xp = stand_in().xp
    made = placed(xp, a)
    assert (made.shape, made.strides, made.dtype) == (a.shape, a.strides, a.dtype)
    np.testing.assert_array_equal(xp.asnumpy(made), a)
