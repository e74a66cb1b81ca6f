"""Which GPU computes: the one that was asked for, in every thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from unittest import mock

import gradd
import pytest
from gradd._transports import local
from gradd_engine.backends.cupy import CupyBackend
from gradd_engine.data import DeviceFailed, Meta
from gradd_engine.data.dtypes import float32
from gradd_runtime.process import InlinePlacement

from tests import standin
from tests.standin.machine import MACHINE

xp = standin.CUPY


@pytest.fixture(autouse=True)
def two() -> Iterator[None]:
    MACHINE.devices = 2
    yield
    MACHINE.renew()
    MACHINE.current = 0


def backend(index: int) -> CupyBackend:
    with standin.installed():
        return CupyBackend(index)


def test_a_backend_selects_its_device() -> None:
    one = backend(1)
    assert MACHINE.current == 1
    t = one.empty(Meta((4,), float32))
    assert t.array._mem.device_id == 1
    first = backend(0)
    with pytest.raises(ValueError, match="array device = 1 while current = 0"):
        t.array + 1
    one.select()
    t.array + 1
    assert (str(first.device), str(one.device)) == ("cuda:0", "cuda:1")


@pytest.mark.parametrize(("devices", "there"), [(1, "cuda:0 "), (2, "cuda:0 to cuda:1 ")])
def test_a_device_that_is_not_there_is_refused(devices: int, there: str) -> None:
    MACHINE.devices = devices
    with pytest.raises(RuntimeError, match=f"device cuda:2: CUDA shows this process {there}"):
        backend(2)


def test_each_has_its_own_memory() -> None:
    MACHINE.memory = 1 << 30
    one = backend(1)
    MACHINE.current = 0
    assert one.memory_bytes == 1 << 30
    assert MACHINE.current == 0


def test_selecting_a_device_that_has_failed() -> None:
    one = backend(1)
    MACHINE.plant(700, "exp")
    xp.exp(xp.ones(3))
    with pytest.raises(DeviceFailed):
        one.select()


def test_sessions_compute_on_the_device_that_was_asked_for() -> None:
    with standin.installed():
        placement = InlinePlacement("cuda:1")
    MACHINE.current = 0
    before = MACHINE.taken.copy()
    with mock.patch.object(local, "_placement", placement), gradd.connect("local:"):
        x = gradd.rand(1 << 22, requires_grad=True)
        (x * x).sum().backward()
        assert x.grad is not None
        assert x.grad.sum().item() == pytest.approx(2 * x.sum().item())
        assert MACHINE.taken[0] == before[0]
        assert MACHINE.taken[1] > before[1]
    # Another thread goes on with the same sessions, as in a child process.
    placement.shutdown()
    placement.revive()
    placement.open("t/a", {})
    with mock.patch.object(local, "_placement", placement), gradd.connect("local:"):
        assert (gradd.ones(1 << 23) + 1).sum().item() == 1 << 24
    assert MACHINE.taken[0] == before[0]
    placement.shutdown()


def test_threads_have_devices_of_their_own() -> None:
    one, found = backend(1), []

    def run() -> None:
        found.append(MACHINE.current)
        one.select()
        found.append(MACHINE.current)

    MACHINE.current = 0
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [0, 1]
    assert MACHINE.current == 0
