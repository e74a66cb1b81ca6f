"""Batches over HTTP: the JSON form, frames, numbers in paths, replays."""

from __future__ import annotations

from typing import Any

import httpx
import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import Batch, BatchReply, Info, ProblemReply
from gradd_server.media import FRAME, JSON

from tests.server.conftest import Caller, Expect
from tests.server.fake_placement import RELEASED, FakePlacement

BATCHES = "/v1/sessions/demo/batches"


@pytest.fixture(autouse=True)
def session(call: Caller) -> None:
    assert call("PUT", "/v1/sessions/demo").status_code == 201


def frame(seq: int = 1, epoch: int = 1, **members: Any) -> bytes:
    batch = Batch(writer=1, epoch=epoch, seq=seq, ack=0, program="p", uploads=[0], **members)
    return frames.join(frames.encode(batch, [np.zeros(3, "f4")]))


def put(
    call: Caller, seq: object, content: bytes, epoch: str | None = "1", kind: str = FRAME
) -> httpx.Response:
    headers = {"content-type": kind} | ({} if epoch is None else {"gradd-epoch": epoch})
    response: httpx.Response = call(
        "PUT", f"/v1/sessions/demo/writers/1/batches/{seq}", content=content, headers=headers
    )
    return response


def reply(response: httpx.Response) -> BatchReply:
    assert response.headers["content-type"] == FRAME
    message, _ = frames.decode_reply(response.content)
    assert isinstance(message, BatchReply)
    return message


def test_the_json_form_reaches_the_session_as_it_is(call: Caller) -> None:
    call("PUT", "/v1/sessions/demo/tensors/w", json={"data": 2, "dtype": "float32"})
    done = call("POST", BATCHES, json={"steps": [], "fetch": ["w"]}, headers={"idempotency-key": "k1"})
    assert done.headers["content-type"] == JSON
    body = done.json()
    assert body["results"]["w"]["data"] == 2.0
    assert body["key"] == "k1"


def test_a_refusal_by_the_session_is_a_problem(call: Caller, problem: Expect) -> None:
    problem(call("POST", BATCHES, json={"steps": [], "fetch": ["gone"]}), "tensor-not-found", 404)


def test_a_key_without_end(call: Caller, problem: Expect) -> None:
    refused = call("POST", BATCHES, json={}, headers={"idempotency-key": "k" * 257})
    problem(refused, "bad-request", 400)


def test_a_frame_may_be_posted(call: Caller, placement: FakePlacement) -> None:
    done = call("POST", BATCHES, content=frame(), headers={"content-type": FRAME})
    assert reply(done).seq == 1
    assert placement.sessions["demo"].applied == [1]


def test_a_batch_is_stopped_at_its_deadline(call: Caller, placement: FakePlacement, problem: Expect) -> None:
    def late(*args: Any, **more: Any) -> None:
        stop(*args, **more)
        RELEASED.set()

    stop, placement.stop = placement.stop, late  # type: ignore[method-assign]
    held = frames.join(frames.encode(Batch(writer=1, epoch=1, seq=1, ack=0, program="held")))
    RELEASED.clear()
    done = call("POST", BATCHES, content=held, headers={"content-type": FRAME, "request-timeout": "0.05"})
    assert reply(done).seq == 1
    ((name, why, *_),) = placement.stopped
    assert (name, why.slug, why.detail) == (
        "demo",
        "deadline-exceeded",
        "the batch was not done within 0.05 s",
    )
    # one that is done in time is not
    assert call("POST", BATCHES, json={}, headers={"request-timeout": "600"}).status_code == 200
    assert len(placement.stopped) == 1
    for bad in ("", "-1", "1e3", "soon", "inf"):
        problem(call("POST", BATCHES, json={}, headers={"request-timeout": bad}), "bad-request", 400)


@pytest.mark.parametrize("kind", ["application/octet-stream", "application/x-npy"])
def test_a_batch_is_json_or_a_frame(call: Caller, problem: Expect, kind: str) -> None:
    refused = call("POST", BATCHES, content=b"12345678", headers={"content-type": kind})
    assert problem(refused, "unsupported-media-type", 415)["supported"] == [JSON, FRAME]


def test_a_numbered_batch_runs_once(call: Caller, placement: FakePlacement) -> None:
    first, again = put(call, 1, frame()), put(call, 1, frame())
    assert (first.status_code, again.status_code) == (200, 200)
    assert not reply(first).replayed
    assert "gradd-replayed" not in first.headers
    assert reply(again).replayed
    assert again.headers["gradd-replayed"] == "?1"
    assert placement.sessions["demo"].applied == [1]


def test_a_failed_batch_has_its_problems_status_and_its_whole_reply(call: Caller) -> None:
    batch = Batch(writer=1, epoch=1, seq=1, ack=0, program="fails")
    failed = put(call, 1, frames.join(frames.encode(batch)))
    assert failed.status_code == 422
    said = reply(failed)
    assert said.problem is not None
    assert said.problem.slug == "op-failed"


def test_did_it_land(call: Caller, problem: Expect) -> None:
    path = "/v1/sessions/demo/writers/1/batches/1"
    problem(call("GET", path), "batch-not-found", 404)
    put(call, 1, frame())
    landed = call("GET", path)
    assert reply(landed).seq == 1


@pytest.mark.parametrize("epoch", [None, "", "-1", "1.0", "9" * 20, "1 1"])
def test_the_epoch_must_be_said(call: Caller, problem: Expect, epoch: str | None) -> None:
    problem(put(call, 1, frame(), epoch), "bad-request", 400)


@pytest.mark.parametrize("number", ["-1", "1.0", "x", "9" * 19, "%D9%A3", "1%20"])
def test_numbers_in_paths(call: Caller, problem: Expect, number: str) -> None:
    problem(put(call, number, frame()), "bad-request", 400)
    problem(call("GET", f"/v1/sessions/demo/writers/{number}/batches/1"), "bad-request", 400)


def test_path_and_frame_must_agree(call: Caller, problem: Expect, placement: FakePlacement) -> None:
    problem(put(call, 2, frame(1)), "bad-request", 400)
    problem(put(call, 1, frame(1, epoch=2)), "bad-request", 400)
    assert placement.sessions["demo"].applied == []


def test_a_frame_of_another_message(call: Caller, problem: Expect) -> None:
    problem(put(call, 1, frames.join(frames.encode(Info()))), "malformed-frame", 400)


@pytest.mark.parametrize("content", [b"1234567", b"\xff" * 64, bytes(64)])
def test_bytes_that_are_no_frame(call: Caller, problem: Expect, content: bytes) -> None:
    problem(put(call, 1, content), "malformed-frame", 400)


def test_a_frame_cut_short_is_refused_by_the_session(call: Caller, problem: Expect) -> None:
    problem(put(call, 1, frame()[:-1]), "malformed-frame", 400)


def test_who_asks_for_frames_is_refused_in_frames(call: Caller) -> None:
    headers = {"content-type": FRAME, "gradd-epoch": "1", "accept": FRAME}
    for path, content, slug, status in (
        ("/v1/sessions/gone/writers/1/batches/1", frame(), "session-not-found", 404),
        ("/v1/sessions/demo/writers/1/batches/2", frame(), "bad-request", 400),
        ("/v1/sessions/demo/writers/1/batches/1", frame()[:-1], "malformed-frame", 400),
    ):
        refused = call("PUT", path, content=content, headers=headers)
        assert refused.status_code == status
        message, _ = frames.decode_reply(refused.content)
        assert isinstance(message, ProblemReply)
        assert message.problem.slug == slug


def test_too_large_batches(call: Caller, problem: Expect) -> None:
    def refused(kind: str, length: int) -> httpx.Response:
        headers = {"content-type": kind, "content-length": str(length)}
        response: httpx.Response = call("POST", BATCHES, headers=headers)
        return response

    assert problem(refused(JSON, LIMITS.json_bytes + 1), "body-too-large", 413)["limit"] == LIMITS.json_bytes
    problem(refused(FRAME, LIMITS.window_bytes + 1), "body-too-large", 413)


def test_an_empty_body_is_no_batch(call: Caller, problem: Expect) -> None:
    problem(call("POST", BATCHES, content=b"", headers={"content-type": FRAME}), "malformed-frame", 400)
