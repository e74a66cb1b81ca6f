"""Training loops on the stand-in: NumPy's losses, planned steps, and no step that waits for the device."""

from __future__ import annotations

import numpy as np
import pytest
from gradd_engine.kernels.table import KernelTable

from tests.device import loops
from tests.device.loops import LOOPS, curve, measured
from tests.standin.sessions import sessions_there


@pytest.mark.parametrize("name", LOOPS)
def test_losses_are_those_of_a_numpy_session(name: str) -> None:
    want = curve(name, 5)
    with sessions_there():
        got = curve(name, 5)
    assert len(set(want)) == 5
    np.testing.assert_allclose(got, want, rtol=2e-3 if name == "bfloat16" else 1e-5)


@pytest.mark.parametrize("name", LOOPS)
def test_no_step_waits_and_plans_launch_no_more(name: str) -> None:
    planned, eager = measured(name, planned=True), measured(name, planned=False)
    assert (planned.planned > 0, eager.planned) == (True, 0)
    assert planned.losses == pytest.approx(eager.losses, rel=1e-6)
    assert (dict(planned.waits), dict(eager.waits)) == ({}, {})
    # a plan copies what it is given into places of its own
    assert 0 < planned.launches <= max(1.02 * eager.launches, eager.launches + 2)


def test_a_step_that_waits_is_counted_by_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = KernelTable.__missing__

    def asking(self: KernelTable, op: object) -> object:
        kernel = missing(self, op)  # type: ignore[arg-type]
        if getattr(op, "name", "") != "native_layer_norm":
            return kernel

        def asks(xp: object, x: object, *args: object, **attrs: object) -> object:
            assert x.any()  # type: ignore[attr-defined]
            return kernel(xp, x, *args, **attrs)

        self[op] = asks  # type: ignore[index]
        return asks

    monkeypatch.setattr(KernelTable, "__missing__", asking)
    for planned in (True, False):
        ((what, line), count), *others = loops.measured("mlp sgd", planned=planned).waits.items()
        assert (what, count, others) == ("bool", 1, [])
        assert "test_loops.py:" in line
