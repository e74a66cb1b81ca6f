"""What there is to see of a session by REST: its memory, how its batches ran, the latest measured ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.program import Program, Step
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server import answers
from gradd_server.app import create_app
from gradd_server.media import FRAME
from gradd_server.settings import Settings

from tests.server.conftest import Caller, Expect

SESSION = "/v1/sessions/demo"


class Writer:
    """A session `demo` in a daemon, and a writer of it that sends frames over HTTP."""

    def __init__(self) -> None:
        self.placement = InlinePlacement()
        self.app = create_app(Settings(auth=False), self.placement, ops())
        self.call = Caller(self.app)
        assert self.call("PUT", SESSION).status_code == 201
        assert self.call("POST", f"{SESSION}:attach").json()["writer"] == 1
        self.seq = 0

    def run(self, count: int) -> None:
        program = Program(0, [Step("ones", [], {"size": [64], "dtype": "float32"}), Step("exp", [0])])
        for _ in range(count):
            self.send(program, keep=[1], first=self.seq + 1, free=[f"@1.{self.seq}"])

    def send(self, program: Program, **members: Any) -> None:
        self.seq += 1
        batch = m.Batch(
            writer=1, epoch=1, seq=self.seq, ack=self.seq - 1, program=program.id(), definition=program,
            **members,
        )  # fmt: skip
        answer = self.call(
            "PUT", f"{SESSION}/writers/1/batches/{self.seq}", content=frames.join(frames.encode(batch)),
            headers={"content-type": FRAME, "gradd-epoch": "1"},
        )  # fmt: skip
        assert answer.status_code == 200

    def get(self, what: str) -> Any:
        answer = self.call("GET", f"{SESSION}/{what}")
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def writer() -> Iterator[Writer]:
    made = Writer()
    yield made
    made.call.close()
    made.placement.shutdown()


def test_memory_is_told_by_block_and_course(writer: Writer) -> None:
    writer.run(3)
    form = {"data": [1.0] * 32, "dtype": "float32", "requires_grad": True}
    assert writer.call("PUT", f"{SESSION}/tensors/w", json=form).status_code == 201
    said = msgspec.convert(writer.get("memory"), answers.MemoryInfo)
    assert [(b.label, b.kind, b.bytes, b.holders) for b in said.blocks] == [
        ("@1.3", "tensor", 256, ["@1.3"]), ("w", "leaf", 128, ["w"]),
    ]  # fmt: skip
    assert said.bytes == 384
    assert said.watched.batches == [3]
    layers = {(layer.kind, layer.label): layer.bytes for layer in said.watched.layers}
    assert layers["tensor", "@1.3"] == [256]
    assert layers["leaf", "w"] == [128]
    assert layers["beside", "plans"] == [said.beside["plans"]] != [0]
    assert sum(nbytes for (nbytes,) in layers.values()) == said.watched.bytes[0]
    writer.run(1)
    assert writer.get("memory")["watched"]["batches"] == [4]


def test_activity_has_counts_reasons_and_the_front_of_what_was_measured(writer: Writer) -> None:
    writer.run(3)
    before = msgspec.convert(writer.get("activity"), m.Activity)
    assert (before.planned, before.eager, before.reasons) == (2, 1, {"first sighting": 1})
    assert not before.profile.batches
    assert set(writer.get("activity")["profile"]) == set(m.Profiled.__struct_fields__)
    assert writer.call("POST", f"{SESSION}:measure", json={"batches": 2}).status_code == 204
    writer.run(4)
    said = msgspec.convert(writer.get("activity"), m.Activity)
    assert [(b.writer, b.seq, b.how) for b in said.profile.batches] == [(1, 4, "planned"), (1, 5, "planned")]
    assert [(f.writer, f.seq) for f in said.profile.front] == [(1, 4), (1, 5)]
    for batch, front in zip(said.profile.batches, said.profile.front, strict=True):
        assert front.came <= front.submitted <= batch.came <= batch.began
        assert batch.began + batch.seconds <= front.answered
    assert {call.name for call in said.profile.calls} == {"ones", "exp"}
    assert not said.measuring


def test_a_measured_batch_has_the_time_in_which_it_was_recorded(writer: Writer) -> None:
    assert writer.call("POST", f"{SESSION}:measure", json={"batches": 2}).status_code == 204
    ones = Program(0, [Step("ones", [], {"size": [64], "dtype": "float32"})])
    writer.send(ones, recording=0.25)
    writer.send(ones)
    said = msgspec.convert(writer.get("activity"), m.Activity)
    assert [batch.recording for batch in said.profile.batches] == [0.25, 0.0]


def test_all_fronts_are_told_whoever_else_measures_and_whatever_comes_between(writer: Writer) -> None:
    for _ in range(2):
        assert writer.call("POST", f"{SESSION}:measure", json={"batches": 3}).status_code == 204
        writer.send(Program(0, []))  # as a read: it has no steps, so it is not measured
        writer.run(2)
    writer.run(1)
    said = msgspec.convert(writer.get("activity"), m.Activity)
    assert [f.seq for f in said.profile.front] == [b.seq for b in said.profile.batches] == [2, 3, 5, 6, 7]
    assert not said.measuring


def test_a_profile_goes_on_beside_it(writer: Writer) -> None:
    assert writer.call("POST", f"{SESSION}:profile", json={"on": True}).status_code == 200
    writer.run(2)
    assert writer.call("POST", f"{SESSION}:measure").status_code == 204
    writer.run(1)
    assert writer.get("activity")["measuring"]
    report = writer.call("POST", f"{SESSION}:profile", json={"on": False}).json()
    assert [b["seq"] for b in report["batches"]] == [f["seq"] for f in report["front"]] == [1, 2, 3]


@pytest.mark.parametrize("body", [{"batches": 0}, {"batches": LIMITS.measured_batches + 1}, {"on": True}, []])
def test_bad_options_measure_nothing(writer: Writer, problem: Expect, body: Any) -> None:
    problem(writer.call("POST", f"{SESSION}:measure", json=body), "invalid-json", 400)
    assert not writer.get("activity")["measuring"]


@pytest.mark.parametrize("path", ["GET {}/memory", "GET {}/activity", "POST {}:measure"])
def test_there_has_to_be_a_session(writer: Writer, problem: Expect, path: str) -> None:
    method, target = path.format("/v1/sessions/none").split()
    problem(writer.call(method, target), "session-not-found", 404)
