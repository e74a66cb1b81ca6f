"""`:reduce`: sums and means over sessions, who may have them, what is refused, and what is held meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradd_server.reducing
import ml_dtypes
import numpy as np
import pytest
from gradd_protocol import dtypes, frames
from gradd_protocol.messages import Batch
from gradd_protocol.program import Program, Step
from gradd_runtime.catalog import ops
from gradd_runtime.process import BULK_BYTES, InlinePlacement
from gradd_runtime.tensors import combined
from gradd_server.open_session import OpenSession

from tests.server.conftest import Clock, Expect
from tests.server.test_auth import World

NAMES = ("a", "b", "c")
WHO = "acme user"
FRAME = "application/vnd.gradd.frame"


class Reducing(World):
    """With sessions `a`, `b` and `c` of acme, each with a writer, and `d` of globex."""

    def __init__(self, folder: Path, placement: Any) -> None:
        super().__init__(folder, Clock(), placement, ops())
        self.seqs = dict.fromkeys(NAMES, 0)
        for name in NAMES:
            assert self.ask(WHO, "PUT", f"/v1/sessions/{name}").status_code == 201
            assert self.ask(WHO, "POST", f"/v1/sessions/{name}:attach").json()["writer"] == 1
        assert self.ask("globex user", "PUT", "/v1/sessions/d").status_code == 201

    def put(self, session: str, tensor: str, array: Any, who: str = WHO) -> None:
        headers = {
            "content-type": "application/octet-stream", "gradd-dtype": dtypes.of(array.dtype).name,
            "gradd-shape": ",".join(map(str, array.shape)),
        }  # fmt: skip
        path = f"/v1/sessions/{session}/tensors/{tensor}"
        assert self.ask(who, "PUT", path, content=array.tobytes(), headers=headers).is_success

    def reduce(self, op: str, *members: tuple[str, list[str], list[str]], who: str = WHO) -> Any:
        listed = [{"session": s, "tensors": t, "uploads": u} for s, t, u in members]
        return self.ask(who, "POST", "/v1/sessions:reduce", json={"op": op, "members": listed})

    def taken(self, session: str, key: str, array: Any) -> Any:
        """What was staged under `key`, by way of a batch; `array` has its shape and dtype."""
        attrs = {"dtype": dtypes.of(array.dtype).name, "shape": list(array.shape)}
        program = Program(0, [Step("upload", [], attrs)])
        self.seqs[session] += 1
        seq = self.seqs[session]
        epoch = self.ask(WHO, "GET", f"/v1/sessions/{session}").json()["epoch"]
        batch = Batch(
            writer=1, epoch=epoch, seq=seq, ack=seq - 1, program=program.id(), definition=program,
            uploads=[key], fetch=[0],
        )  # fmt: skip
        reply = self.ask(
            WHO, "POST", f"/v1/sessions/{session}/batches", content=frames.join(frames.encode(batch)),
            headers={"content-type": FRAME, "accept": FRAME},
        )  # fmt: skip
        message, buffers = frames.decode_reply(reply.content)
        assert message.problem is None, message.problem  # type: ignore[union-attr]
        return buffers[0]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Reducing]:
    placement = InlinePlacement()
    made = Reducing(tmp_path, placement)
    yield made
    made.call.close()
    placement.shutdown()


FLOATS = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64)


@pytest.mark.parametrize(
    ("op", "dtype"),
    [("sum", d) for d in (*FLOATS, np.int64, np.uint8)] + [("mean", d) for d in FLOATS],
    ids=lambda one: one if isinstance(one, str) else np.dtype(one).name,
)
def test_it_is_added_in_order_and_rounded_once(world: Reducing, op: str, dtype: Any) -> None:
    chance = np.random.default_rng(5)
    arrays = [(chance.normal(0, 50, (3, 5)) ** 2).astype(dtype) for _ in NAMES]
    for name, array in zip(NAMES, arrays, strict=True):
        world.put(name, "w", array)
    answer = world.reduce(op, *((name, ["w"], ["1.1"]) for name in NAMES))
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"results": [{"dtype": dtypes.of(np.dtype(dtype)).name, "shape": [3, 5]}]}
    wide: Any = np.float32 if np.dtype(dtype).itemsize == 2 else dtype
    expected = (arrays[0].astype(wide) + arrays[1].astype(wide)) + arrays[2].astype(wide)
    if op == "mean":
        expected = expected / wide(3)
    expected = expected.astype(dtype)
    for name in NAMES:
        assert world.taken(name, "1.1", expected).tobytes() == expected.tobytes()


def test_the_order_is_that_of_the_members(world: Reducing) -> None:
    arrays = [np.float32([1e8, 1.0]), np.float32([-1e8, 1.0]), np.float32([1.0, 1.0])]
    for name, array in zip(NAMES, arrays, strict=True):
        world.put(name, "w", array)
    for order, expected in ((NAMES, 1.0), (("a", "c", "b"), 0.0)):
        assert world.reduce("sum", *((name, ["w"], ["1.1"]) for name in order)).is_success
        assert world.taken("b", "1.1", arrays[0]).tolist() == [expected, 3.0]
        for name in ("a", "c"):
            world.taken(name, "1.1", arrays[0])


def test_what_is_large_goes_by_way_of_memory_files(world: Reducing, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr(
        gradd_server.reducing, "bulk_of", lambda parts: made.append(sum(map(len, parts))) or b"".join(parts)
    )
    array = np.arange(BULK_BYTES // 4 + 1, dtype=np.float32)
    for name in NAMES:
        world.put(name, "w", array)
    assert world.reduce("mean", *((name, ["w"], ["1.1"]) for name in NAMES)).is_success
    assert len(made) == 3
    assert min(made) > BULK_BYTES
    assert world.gate.front.traffic.used == 0


def test_several_at_once_and_members_that_only_give_or_get(world: Reducing) -> None:
    small, large = np.float32([2.0]), np.full((150, 150), 3.0, np.float64)
    for name in ("a", "b"):
        world.put(name, "s", small)
        world.put(name, "l", large)
    answer = world.reduce("sum", ("a", ["s", "l"], []), ("b", ["s", "l"], []), ("c", [], ["1.1", "1.2"]))
    assert answer.status_code == 200, answer.text
    assert world.taken("c", "1.1", small).tolist() == [4.0]
    assert (world.taken("c", "1.2", large) == 6.0).all()
    one = world.reduce("sum", ("a", ["s"], []), ("b", [], ["1.1"]), ("c", [], ["1.3"]))
    assert one.is_success
    assert world.taken("b", "1.1", small).tolist() == [2.0]
    assert world.taken("c", "1.3", small).tolist() == [2.0]


def test_asked_again_it_replaces_what_was_staged(world: Reducing) -> None:
    array = np.float32([1.0, 2.0])
    for name in NAMES:
        world.put(name, "w", array)
    before = world.ask(WHO, "GET", "/v1/sessions/a").json()["bytes"]
    sizes = []
    for _ in range(2):
        assert world.reduce("sum", *((name, ["w"], ["1.1"]) for name in NAMES)).is_success
        sizes.append(world.ask(WHO, "GET", "/v1/sessions/a").json()["bytes"])
    assert sizes[0] == sizes[1] >= before
    assert world.taken("a", "1.1", array).tolist() == [3.0, 6.0]


def _twice(world: Reducing) -> None:
    for name in NAMES:
        world.put(name, "w", np.float32([1.0, 2.0]))
    world.put("c", "v", np.float32([1.0]))
    world.put("c", "d", np.float64([1.0, 2.0]))
    world.put("c", "i", np.int32([1, 2]))
    world.put("c", "t", np.array([True, False]))
    world.put("d", "w", np.float32([1.0, 2.0]), "globex user")


@pytest.mark.parametrize(
    ("op", "members", "slug", "says"),
    [
        ("sum", (("a", ["w"], ["1.1"]), ("c", ["v"], ["1.1"])), "invalid-data", "'v' of session 'c'"),
        ("sum", (("a", ["w"], ["1.1"]), ("c", ["d"], ["1.1"])), "invalid-data", "float64 of shape [2]"),
        ("mean", (("c", ["i"], ["1.1"]),), "invalid-data", "no mean of int32"),
        ("sum", (("c", ["t", "t"], ["1.1", "1.2"]), ("c", ["t", "t"], [])), "invalid-data", "no sum"),
        ("sum", (("a", ["w", "w"], ["1.1"]),), "invalid-data", "as many"),
        ("sum", (("a", ["w"], []),), "invalid-data", "as many"),
        ("sum", (("a", [], ["1.1"]),), "invalid-data", "as many"),
        ("sum", (("a", ["w"], ["1.1"]), ("b", ["w", "w"], [])), "invalid-data", "[1, 2] entries"),
        ("sum", (("a", ["w"], ["1.1"]), ("b", ["gone"], ["1.1"])), "tensor-not-found", "session 'b': "),
        ("sum", (("a", ["w"], ["1.1"]), ("b", ["w.grad"], [])), "tensor-not-found", "no gradient"),
        ("sum", (("a", ["w"], ["1.1"]), ("gone", ["w"], [])), "session-not-found", "'gone'"),
        ("sum", (("a", ["w"], ["1.1"]), ("d", ["w"], [])), "session-not-found", "'d'"),
        ("sum", (("a", ["w"], ["1.1"]), ("d", [], ["1.1"])), "session-not-found", "'d'"),
        ("sum", (("a", ["w"], ["1.1"]), ("b", [], ["7.1"])), "writer-unknown", "session 'b': "),
        ("sum", (("a", ["w"], ["x"]),), "writer-unknown", "'x'"),
        ("sum", (("a", ["%w"], ["1.1"]), ("b", ["-"], [])), "invalid-name", "'-'"),
        ("max", (("a", ["w"], ["1.1"]),), "invalid-json", "max"),
        ("sum", (), "invalid-json", "length >= 1"),
    ],
)  # fmt: skip
def test_what_is_refused(
    world: Reducing, problem: Expect, op: str, members: Any, slug: str, says: str
) -> None:
    _twice(world)
    statuses = {"invalid-data": 422, "writer-unknown": 409, "invalid-name": 400, "invalid-json": 400}
    said = problem(world.reduce(op, *members), slug, statuses.get(slug, 404))
    assert says in said["detail"]
    assert world.gate.front.traffic.used == 0
    assert world.reduce("sum", ("a", ["w"], ["1.9"]), ("b", ["w"], ["1.9"])).is_success


def test_uploads_under_way_count_against_the_sessions_quota(world: Reducing, problem: Expect) -> None:
    assert world.ask(WHO, "PUT", "/v1/sessions/tiny", json={"quota_bytes": 4000}).is_success
    assert world.ask(WHO, "POST", "/v1/sessions/tiny:attach").is_success
    world.put("a", "w", np.zeros(2000, np.float32))
    said = problem(world.reduce("sum", ("a", ["w"], []), ("tiny", [], ["1.1"])), "quota-exceeded", 507)
    assert said["detail"].startswith("session 'tiny': ")
    assert (said["limit"], said["requested"]) == (4000, 8000)


def test_what_is_held_is_bounded(world: Reducing, problem: Expect) -> None:
    array = np.zeros(1 << 18, np.float32)
    for name in NAMES:
        world.put(name, "w", array)
    members = [(name, ["w"], ["1.1"]) for name in NAMES]
    front = world.gate.front
    front.traffic.tenant_limit = 4 * array.nbytes
    assert world.reduce("sum", *members).is_success  # one alone is let through
    busy = front.traffic.of("acme")
    busy.used = 1
    said = problem(world.reduce("sum", *members), "rate-limited", 429)
    assert said["requested"] == 7 * array.nbytes
    busy.used = 0
    assert world.reduce("sum", *members).is_success


def test_a_tensor_that_changes_while_it_is_looked_at(
    world: Reducing, problem: Expect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        world.put(name, "w", np.zeros(1 << 16, np.float32))
    read, asked = gradd_server.reducing._read, []

    async def late(sessions: Any, giver: Any, most: int) -> Any:
        asked.append(giver.entry.name)
        if asked.count("b") == 2 and giver.entry.name == "b":
            headers = {**world.head(WHO), "content-type": "application/json"}
            form = b'{"data": [1.0], "dtype": "float32"}'
            path = "/v1/sessions/b/tensors/w"
            assert (await world.call.send("PUT", path, content=form, headers=headers)).is_success
        return await read(sessions, giver, most)

    monkeypatch.setattr(gradd_server.reducing, "_read", late)
    members = [(name, ["w"], ["1.1"]) for name in NAMES]
    assert "'w' of session 'b'" in problem(world.reduce("sum", *members), "invalid-data", 422)["detail"]


def test_one_that_was_deleted_meanwhile(
    world: Reducing, problem: Expect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        world.put(name, "w", np.zeros(3, np.float32))
    real = OpenSession.receiving

    def gone(entry: OpenSession) -> Any:
        entry.closed = entry.name == "b"
        return real(entry)

    monkeypatch.setattr(OpenSession, "receiving", gone)
    members = [(name, ["w"], ["1.1"]) for name in NAMES]
    assert "'b'" in problem(world.reduce("sum", *members), "session-not-found", 404)["detail"]


def test_one_array_is_itself() -> None:
    array = np.array([True, False])
    assert combined([array], False) is array
    with pytest.raises(TypeError, match="no sum"):
        combined([array, array], False)
