"""`session.log`: no wait, no round trip, the values of the moment, and the errors of what is no number."""

from __future__ import annotations

import json
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradd
import pytest
from gradd_protocol import messages as m

from tests.bearer import bearer


@pytest.fixture
def session() -> Iterator[Any]:
    with gradd.connect("local:") as made:
        yield made


def curves(session: Any) -> Any:
    """What the session has, as JSON."""
    session.flush()
    _, (text,) = session.wire.transport._begin(m.GetSeries(), ())()
    return json.loads(bytes(text))["series"]


def answered(daemon: str, name: str) -> Any:
    """What the daemon answers for them."""
    request = urllib.request.Request(f"{daemon}/v1/sessions/{name}/series", headers=bearer(daemon))
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


def test_a_loop_logs_without_a_round_trip(session: Any) -> None:
    w = gradd.ones(3, requires_grad=True)
    optimizer = gradd.optim.SGD([w], lr=0.25)
    for n in range(5):
        optimizer.zero_grad()
        loss = (w * w).sum()
        session.log({"loss": loss, "lr": 0.5 * n})
        loss.backward()
        optimizer.step()
        session.log({"late": loss}, step=10 * n)
    assert session.stats()["round_trips"] == 0
    found = curves(session)
    assert found["loss"]["values"] == [3.0 * 0.25**n for n in range(5)] == found["late"]["values"]
    assert found["lr"] == {
        "count": 5,
        "every": 1,
        "steps": [0, 1, 2, 3, 4],
        "values": [0.0, 0.5, 1.0, 1.5, 2.0],
    }
    assert found["late"]["steps"] == [0, 10, 20, 30, 40]


def test_the_steps_stay_one_program(session: Any) -> None:
    w = gradd.ones(3, requires_grad=True)
    optimizer = gradd.optim.SGD([w], lr=0.25)
    with session.profile() as profile:
        for _ in range(6):
            optimizer.zero_grad()
            loss = (w * w).sum()
            session.log({"loss": loss})
            loss.backward()
            optimizer.step()
    assert profile.planned >= 3
    assert profile.new_programs <= 2


def test_it_is_the_value_of_the_moment(session: Any) -> None:
    x = gradd.zeros(1)
    session.log({"x": x})
    x.add_(1)
    session.log({"x": x})
    session.flush()
    x.add_(1)
    session.log({"x": x})
    assert curves(session)["x"]["values"] == [0.0, 1.0, 2.0]


def test_logging_changes_no_graph(session: Any) -> None:
    x = gradd.tensor(3.0, requires_grad=True)
    y = x * x
    session.log({"y": y, "flag": True})
    y.backward()
    assert x.grad is not None
    assert x.grad.item() == 6.0
    assert curves(session)["flag"]["values"] == [1.0]


def test_a_failing_batch_is_told_as_ever_and_its_values_are_left_out(session: Any) -> None:
    x = gradd.ones(2)
    session.log({"before": x.sum()})
    session.flush()
    bad = gradd.gather(x, 0, gradd.tensor([5]))
    session.log({"bad": bad})
    with pytest.raises(RuntimeError, match="out of bounds"):
        session.flush()
    session.log({"after": x.sum()})
    assert set(curves(session)) == {"before", "after"}


@pytest.mark.parametrize("value", [[1.0, 2.0], 1j])
def test_what_is_no_real_number_is_refused_at_once(session: Any, value: Any) -> None:
    with pytest.raises(ValueError, match="no real number"):
        session.log({"x": gradd.tensor(value)})


def test_other_misuse(session: Any) -> None:
    with pytest.raises(TypeError, match="neither a number nor a tensor"):
        session.log({"x": "1"})
    for name in ("", "x" * 129):
        with pytest.raises(ValueError, match="a curve's name"):
            session.log({name: 1.0})


def test_a_function_that_logs_is_run_each_time(session: Any) -> None:
    @gradd.function
    def step(x: Any) -> Any:
        y = (x * x).sum()
        session.log({"y": y})
        return y

    for n in range(4):
        step(gradd.full((2,), float(n)))
    assert curves(session)["y"]["values"] == [0.0, 2.0, 8.0, 18.0]


def test_a_daemon_answers_them_over_rest(daemon: str) -> None:
    name = f"curves-{uuid.uuid4().hex}"
    with gradd.connect(daemon, session=name) as session:
        session.log({"loss": gradd.tensor(0.5)})
    said = answered(daemon, name)
    assert said == {"series": {"loss": {"count": 1, "every": 1, "steps": [0], "values": [0.5]}}, "dropped": 0}
    gradd.delete_session(name, daemon)


@pytest.mark.parametrize("by", ["file", "kept"])
def test_a_session_that_begins_at_a_snapshot_goes_on_with_them(daemon: str, tmp_path: Path, by: str) -> None:
    names = [f"curves-{uuid.uuid4().hex}" for _ in range(2)]
    with gradd.connect(daemon, session=names[0]) as session:
        for n in range(3):
            session.log({"loss": gradd.tensor(1.0 / (n + 1)), "nan": float("nan")})
        taken = tmp_path / "half.safetensors"
        kept = session.snapshot(taken) if by == "file" else session.snapshot()
        session.log({"loss": 9.0})
    source = taken if by == "file" else kept
    with gradd.connect(daemon, session=names[1], from_snapshot=source) as session:
        session.log({"loss": gradd.tensor(0.25)})
    found = [answered(daemon, name)["series"] for name in names]
    third = gradd.tensor(1.0 / 3).item()
    assert found[0]["loss"]["values"] == [1.0, 0.5, third, 9.0]
    assert found[1]["loss"] == {
        "count": 4,
        "every": 1,
        "steps": [0, 1, 2, 3],
        "values": [1.0, 0.5, third, 0.25],
    }
    assert found[1]["nan"]["values"] == ["NaN"] * 3
    for name in names:
        gradd.delete_session(name, daemon)
