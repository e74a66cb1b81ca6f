"""Fields that hold what they should not, in every kind of message: a stable problem, and numbers that are
consumed or are not. Nothing is `internal`.
"""

from __future__ import annotations

import json
import os
import random
from typing import Any

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.program import Program, Step
from gradd_runtime.session import Session

from tests.runtime.peer import FILL, Peer

CASES = int(os.environ.get("GRADD_MALFORMED", "3000"))

NAMES = [
    "", " ", ".", ".grad", "grad", "x.grad", "x.grad.grad", "@", "@1", "@1.", "@1.1", "@9.9", "@1.1.grad",
    "@" + "9" * 300, "0", "3", "3.grad", "0.grad", "\u00b2", "\u0663", "\u00b2.1", "-1", "1.1", "1.\u00b2",
    "%g", "x", "y", "\ud83d\ude00", "\x00", "x" * 512, "x" * 513, "nan", "a/b",
]  # fmt: skip
NUMBERS = [0, 1, 2, 3, 7, -1, 1 << 31, (1 << 63) - 1, 1 << 63, 1 << 64, -(1 << 63), 10**400, 0.5, 1e308]
OTHERS: list[Any] = [None, True, False, [], {}, [[]], [None], {"": ""}, {"x": "x"}, {"x": 0}, {"": 0}, "NaN",
                     ["x", "x"], [0, 0], ["x", 0], [1.5], [[1, 2]], "Infinity"]  # fmt: skip


def message(kind: str, peer: Peer) -> tuple[dict[str, Any], list[Any]]:
    """A good message of that kind, as its header has it, and its buffers."""
    text = frames.text_buffer(b'{"steps": [], "fetch": ["x"]}')
    program = Program(1, [FILL, Step("mul", [0, 1])])
    own = {"writer": peer.writer, "epoch": peer.epoch, "seq": peer.seq + 1, "ack": peer.ack}
    good: dict[str, tuple[m.Request, list[Any]]] = {
        "batch": (
            m.Batch(
                **own, program=program.id(), definition=program, inputs=["x"], keep=[1], first=peer.seq + 1,
                fetch=[1, "x", "x.grad"], bind={"y": 2}, state=["x"], free=["@1.0"], unbind=["z"],
            ),
            [],
        ),
        "json-batch": (m.JsonBatch("key", **own), [text]),
        "attach": (m.Attach("", peer.writer, peer.epoch), []),
        "put-tensor": (m.PutTensor("x"), [np.ones(2, np.float32)]),
        "put-json": (m.PutJson("x"), [frames.text_buffer(b'{"data": [1.0, 2.0]}')]),
        "get-tensor": (m.GetTensor("x"), []),
        "get-tensors": (m.GetTensors(["x", "x.grad"]), []),
        "delete-tensor": (m.DeleteTensor("q"), []),
        "list-tensors": (m.ListTensors(), []),
        "backward-json": (m.BackwardJson("x"), [frames.text_buffer(b"{}")]),
        "get-graph": (m.GetGraph("x"), []),
        "get-series": (m.GetSeries(), []),
        "get-memory": (m.GetMemory(), []),
        "get-activity": (m.GetActivity(), []),
        "measure": (m.Measure(20), []),
        "put-hook": (m.PutHook("h"), [frames.text_buffer(b'{"tensor": "x", "inputs": ["%g"]}')]),
        "get-hook": (m.GetHook("h"), []),
        "delete-hook": (m.DeleteHook("h"), []),
        "list-hooks": (m.ListHooks(), []),
        "stage": (m.Stage(f"{peer.writer}.1"), [np.ones(2)]),
        "get-result": (m.GetResult("1.1.0", 0, 8), []),
        "get-reply": (m.GetReply(peer.writer, 1), []),
        "info": (m.Info(), []),
        "profile": (m.ProfileSwitch(False), []),
    }  # fmt: skip
    found, buffers = good[kind]
    frame = frames.join(frames.encode(found, buffers))
    length = int.from_bytes(frame[:8], "little")
    header = json.loads(frame[8 : 8 + length])
    return header, [frame[8 + length :]]


KINDS = (
    "batch", "batch", "batch", "json-batch", "attach", "put-tensor", "put-json", "get-tensor",
    "get-tensors", "delete-tensor", "list-tensors", "backward-json", "get-graph", "put-hook", "get-hook",
    "delete-hook", "list-hooks", "stage", "get-result", "get-reply", "info", "profile", "get-memory",
    "get-activity", "measure",
)  # fmt: skip
FIELDS = {
    "batch": tuple(m.Batch.__struct_fields__),
    "json-batch": tuple(m.JsonBatch.__struct_fields__),
}


def spoil(choose: random.Random, value: Any) -> Any:
    """Something else in the place of `value`, or in a place inside it."""
    if isinstance(value, list) and value and choose.random() < 0.6:
        k = choose.randrange(len(value))
        return [*value[:k], spoil(choose, value[k]), *value[k + 1 :]]
    if isinstance(value, dict) and value and choose.random() < 0.6:
        key = choose.choice(list(value))
        if choose.random() < 0.3:
            return {choose.choice(NAMES) if k == key else k: v for k, v in value.items()}
        return {**value, key: spoil(choose, value[key])}
    pool: list[Any] = choose.choice((NAMES, NUMBERS, OTHERS))
    if isinstance(value, list) and choose.random() < 0.7:
        return [choose.choice(pool) for _ in range(choose.randrange(4))]
    return choose.choice(pool)


def framed(header: dict[str, Any], rest: list[bytes]) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + rest[0]


def slug_of(reply: Any) -> str:
    problem = getattr(reply, "problem", None)
    return "" if problem is None else str(problem.slug)


def fresh() -> Peer:
    peer = Peer(Session("test"))
    peer.put("x", np.ones(2, np.float32))
    return peer


@pytest.mark.parametrize("block", range(4))
def test_whatever_a_field_holds_the_numbers_stand(block: int) -> None:
    choose = random.Random(f"malformed {block}")
    peer = fresh()
    seen: dict[str, int] = {}
    for case in range(CASES // 4):
        if case % 50 == 0 or not isinstance(peer.get("x"), np.ndarray):
            peer = fresh()
        kind = choose.choice(KINDS)
        header, rest = message(kind, peer)
        body = header["message"]
        fields = FIELDS.get(kind) or tuple(k for k in body if k != "type") or ("extra",)
        for _ in range(choose.choice((1, 1, 2))):
            field = choose.choice(fields)
            body[field] = spoil(choose, body.get(field))
        frame = framed(header, rest)
        last = peer.session.writers[peer.writer].last
        reply, _ = peer.frame(frame)
        where = (block, case, body, reply)
        assert slug_of(reply) != "internal", where
        if isinstance(reply, m.JsonReply):
            assert reply.status < 500, where
        seen[slug_of(reply)] = seen.get(slug_of(reply), 0) + 1
        writer = peer.session.writers[peer.writer]
        numbered = isinstance(reply, (m.BatchReply, m.JsonReply)) and writer.last != last
        assert writer.last == last + numbered, where
        if numbered:
            again, _ = peer.frame(frame)
            assert slug_of(again) == slug_of(reply), where
            assert again.replayed, where
        peer.seq, peer.ack = writer.last, writer.last
        # The one behind it has its turn.
        good = peer.batch(FILL, fetch=[0])
        assert isinstance(good, m.BatchReply), where
        assert good.problem is None, where
        assert not good.skipped, where
    assert len(seen) > 5, seen


@pytest.mark.parametrize("what", ["", ".", "3", "3.grad", "\u00b2", "0.grad"])
def test_a_name_that_none_can_be_is_not_fetched(what: str) -> None:
    peer = fresh()
    reply = peer.batch(FILL, fetch=[what])
    assert slug_of(reply) == "tensor-not-found"
    assert peer.batch(FILL, fetch=[0]).problem is None


def test_a_batch_that_breaks_the_engine_is_answered_and_consumed(monkeypatch: pytest.MonkeyPatch) -> None:
    peer = fresh()
    for error, slug in ((ValueError("a bug"), "internal"), (MemoryError(), "quota-exceeded")):
        with monkeypatch.context() as patch:

            def raises(*args: Any) -> Any:
                raise error  # noqa: B023

            patch.setattr("gradd_runtime.session.perform.values_of", raises)
            broken = peer.batch(FILL, fetch=[0])
            assert slug_of(broken) == slug
            assert peer.json({"steps": [], "fetch": ["x"]})[0] in (500, 507)
        frame = next(f for f in reversed(peer.sent) if b'"batch"' in f)
        again, _ = peer.frame(frame)
        assert again.replayed
        assert slug_of(again) == slug
        assert peer.batch(FILL, fetch=[0]).problem is None
