"""Mixed precision on a device, from the script to its kernels: casts by CUDA's lists, products of 16-bit
numbers, scaled losses.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import gradd
import numpy as np
import pytest
from gradd_engine.kernels.cuda import cublas

from tests.client import test_autocast_lists as lists
from tests.device import loops
from tests.device.mixed import MODELS, Training, curve
from tests.oracle import HERE, module
from tests.standin.sessions import sessions_there

DTYPES = ("bfloat16", "float16")
STEPS = 7
#: by how much losses may differ where other ops are rounded, or in another order
CLOSE = {"bfloat16": 1e-2, "float16": 2e-3}


def _there(placement: Any, session: Any) -> Any:
    """The session where it computes."""
    return placement._sessions[session.name].session


@functools.cache
def _on_a_cpu(name: str, dtype: str) -> list[float]:
    with gradd.connect("local:"):
        return curve(gradd, name, "cpu", dtype, STEPS)


@pytest.mark.parametrize("planned", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MODELS)
def test_losses_are_near_those_of_a_cpu(name: str, dtype: str, planned: bool) -> None:
    with sessions_there() as placement, gradd.connect("local:") as session:
        plans = _there(placement, session).plans
        plans.enabled = planned
        got = curve(gradd, name, "cuda", dtype, STEPS)
        assert (plans.counts["planned"] > STEPS) is planned
    assert got[-1] < got[0] / 2
    np.testing.assert_allclose(got, _on_a_cpu(name, dtype), rtol=CLOSE[dtype])


@pytest.mark.oracle
@pytest.mark.skipif(not HERE, reason="trains the same models by PyTorch")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MODELS)
def test_losses_are_near_pytorchs(name: str, dtype: str) -> None:
    with sessions_there(), gradd.connect("local:"):
        got = curve(gradd, name, "cuda", dtype, STEPS)
    np.testing.assert_allclose(got, curve(module(), name, "cpu", dtype, STEPS), rtol=CLOSE[dtype])


def test_a_session_tells_its_device() -> None:
    with sessions_there(), gradd.connect("local:") as session:
        assert str(gradd.ones(1).device) == "cuda:0"
        assert session.info().device == "cuda"
        assert gradd.cuda.is_available()
        assert gradd.autocast("cuda")._enabled
    with gradd.connect("local:"):
        assert str(gradd.ones(1).device) == "cpu"
        assert not gradd.cuda.is_available()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MODELS)
def test_products_get_16_bit_operands_and_parameters_stay(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: list[int] = []
    multiply = cublas.Handle.multiply

    def noted(self: Any, precision: Any, *given: Any) -> bool:
        stored.append(precision.stored)
        return multiply(self, precision, *given)

    monkeypatch.setattr(cublas.Handle, "multiply", noted)
    with sessions_there(), gradd.connect("local:") as session:
        training = Training(gradd, name, "cuda", dtype)
        training.step()
        session.flush()
        assert training.seen == (getattr(gradd, dtype), gradd.float32)
        kept = {x.dtype for p in training.owned for x in (p, p.grad)}
        assert kept == {gradd.float32}
    assert len(stored) >= 3
    assert set(stored) == {14 if dtype == "bfloat16" else 2}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MODELS)
def test_a_planned_step_waits_for_nothing(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(loops.LOOPS, "mixed", lambda: Training(gradd, name, "cuda", dtype).step)
    planned, eager = loops.measured("mixed", planned=True), loops.measured("mixed", planned=False)
    assert (planned.planned > 0, dict(planned.waits), dict(eager.waits)) == (True, {}, {})
    assert planned.launches < 12 < eager.launches


def test_the_scale_takes_the_course_that_it_takes_on_a_cpu() -> None:
    def course(kind: str) -> list[tuple[float, list[float]]]:
        w = gradd.nn.Parameter(gradd.tensor([[1.0, 2.0]]))
        optimizer = gradd.optim.SGD([w], lr=0.125)
        scaler = gradd.amp.GradScaler(kind, init_scale=2.0**17, growth_interval=3)
        x = gradd.tensor([[1.0], [0.5]])
        found = []
        for _ in range(9):
            optimizer.zero_grad()
            with gradd.autocast(kind, dtype=gradd.float16):
                loss = (w @ x).float().sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            found.append((scaler.get_scale(), w.flatten().tolist()))
        return found

    with gradd.connect("local:"):
        want = course("cpu")
    with sessions_there(), gradd.connect("local:"):
        assert course("cuda") == want
    scales = [scale for scale, _ in want]
    assert min(scales) < 2.0**17
    assert scales.count(min(scales)) >= 3
    assert sum(b > a for a, b in itertools.pairwise(scales)) >= 2


@pytest.mark.filterwarnings("ignore::UserWarning")  # of old names
@pytest.mark.parametrize("dtype", DTYPES)
def test_kernels_give_what_the_lists_say(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(lists.LOWER, "cuda", dtype)
    different = []
    with sessions_there() as placement, gradd.connect("local:") as session:
        table = _there(placement, session).table
        assert gradd.cuda.is_available()
        given = lists._given(gradd, "cuda")
        gradd.set_autocast_dtype("cuda", getattr(gradd, dtype))
        gradd.set_autocast_enabled("cuda", True)
        try:
            for line, (_, want) in lists.LINES.items():
                if not want:
                    continue
                want = want.rstrip("*").replace("float16", dtype) if want != "bfloat16" else want
                found = eval(line, given)
                session.flush()
                there = table.ids[found._id].array.dtype.name
                said = str(found.dtype).removeprefix("torch.")
                if not (there == said == want):
                    different.append((line, want, said, there))
        finally:
            gradd.set_autocast_enabled("cuda", False)
            gradd.set_autocast_dtype("cuda", gradd.float16)
    assert different == []
