"""The stream: attach, replies in order, a batch that waits for its upload, and every way it ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from gradd_protocol import frames
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import Attach, Attached, Batch, BatchReply, Info, ProblemReply
from gradd_protocol.version import EXTENSIONS
from gradd_server.app import create_app
from gradd_server.gate import Gate
from gradd_server.settings import Settings

from tests.server.asgi_socket import Socket
from tests.server.conftest import OPS, Caller
from tests.server.fake_placement import FakePlacement

STREAM = "/v1/sessions/demo/stream"
OCTETS = {"content-type": "application/octet-stream", "gradd-dtype": "uint8", "gradd-shape": "1"}


def batch(seq: int, *uploads: str, program: str = "p") -> Batch:
    return Batch(writer=1, epoch=1, seq=seq, ack=seq - 1, program=program, uploads=list(uploads))


async def seqs(socket: Socket, count: int) -> list[int]:
    replies = [await socket.reply() for _ in range(count)]
    return [reply.seq for reply in replies if isinstance(reply, BatchReply)]


def test_a_stream_makes_its_session_and_answers_in_order(call: Caller, gate: Gate) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            attached = await socket.attach()
            assert (attached.writer, attached.session.name) == (1, "demo")
            assert socket.accepted[b"gradd-extensions"].decode().split(", ") == list(EXTENSIONS)
            for seq in range(1, 11):
                socket.send(batch(seq))
            assert await seqs(socket, 10) == list(range(1, 11))

    call.run(talk())
    assert gate.front.sessions.find("default", "demo").streams == 0
    assert gate.front.idle


def test_a_failed_batch_is_a_reply_like_another(call: Caller, gate: Gate) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            socket.send(batch(1, program="fails"))
            reply = await socket.reply()
            assert isinstance(reply, BatchReply)
            assert reply.problem is not None
            assert reply.problem.slug == "op-failed"

    call.run(talk())


def test_the_session_has_batches_before_those_ahead_are_answered(
    call: Caller, gate: Gate, placement: FakePlacement
) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            placement.hold()
            asked = placement.asked
            for seq in (1, 2, 3):
                socket.send(batch(seq))
            socket.send(batch(4, "1.1"))  # this one comes when it is the first, and those behind it after it
            socket.send(batch(5))
            while gate.front.unanswered < 5:
                await asyncio.sleep(0)
            assert placement.asked == asked + 3
            placement.release()
            assert await seqs(socket, 3) == [1, 2, 3]
            staged = await call.send("PUT", "/v1/sessions/demo/uploads/1.1", headers=OCTETS, content=b"x")
            assert staged.status_code == 201
            assert await seqs(socket, 2) == [4, 5]

    call.run(talk())
    assert placement.sessions["demo"].applied == [1, 2, 3, 4, 5]


def test_a_batch_waits_for_its_upload_and_those_behind_it_wait_too(
    call: Caller, gate: Gate, placement: FakePlacement
) -> None:
    """An upload goes another way than its batch and may come later; who is faster must not matter."""

    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            socket.send(batch(1, "1.1"))
            socket.send(batch(2))
            for key in ("1.7", "1.1"):  # the first is someone else's
                staged = await call.send(
                    "PUT", f"/v1/sessions/demo/uploads/{key}", headers=OCTETS, content=b"x"
                )
                assert staged.status_code == 201
            assert await seqs(socket, 2) == [1, 2]

    call.run(talk())
    assert placement.sessions["demo"].applied == [1, 2]


def test_an_upload_that_never_comes_is_named(call: Caller, placement: FakePlacement) -> None:
    gate = create_app(Settings(auth=False, upload_wait_seconds=0), placement, OPS)

    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            socket.send(batch(1, "1.1"))
            reply = await socket.reply()
            assert isinstance(reply, ProblemReply)
            assert reply.problem.slug == "upload-missing"

    call.run(talk())


def test_a_batch_that_hides_its_uploads_does_not_wait_for_them(
    call: Caller, gate: Gate, placement: FakePlacement
) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            header = frames.join(frames.encode(batch(1, "1.1")))[8:].strip()
            hidden = header.replace(b'"uploads"', rb'"\u0075ploads"')
            length = len(hidden) + -len(hidden) % 8
            asked = placement.asked
            socket.send_raw(bytes=length.to_bytes(8, "little") + hidden.ljust(length))
            reply = await socket.reply()
            assert isinstance(reply, ProblemReply)
            assert reply.problem.slug == "upload-missing"
            assert placement.asked == asked + 1

    call.run(talk())


def test_deleting_the_session_wakes_a_waiting_batch(call: Caller, gate: Gate) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            socket.send(batch(1, "1.1"))
            assert (await call.send("DELETE", "/v1/sessions/demo")).status_code == 204
            reply = await socket.reply()
            assert isinstance(reply, ProblemReply)
            assert reply.problem.slug == "session-not-found"

    call.run(talk())


@pytest.mark.parametrize(
    ("order", "stopped"), [({}, [1, 2, 3]), ({"writer": 1, "seq": 2}, [1, 2]), ({"writer": 2}, [])]
)
def test_what_waits_for_an_upload_is_cancelled_and_so_is_what_waits_behind_it(
    call: Caller, gate: Gate, placement: FakePlacement, order: dict[str, int], stopped: list[int]
) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            socket.send(batch(1, "1.1"))
            socket.send(batch(2))
            socket.send(batch(3, "1.2"))
            while gate.front.unanswered < 3:
                await asyncio.sleep(0)
            cancelled = await call.send("POST", "/v1/sessions/demo:cancel", json=order)
            assert cancelled.status_code == 204
            for seq in stopped:
                reply = await socket.reply()
                assert isinstance(reply, BatchReply)
                assert reply.problem is not None
                assert (reply.seq, reply.problem.slug) == (seq, "cancelled")
            # what came later, or is another writer's, waits on
            socket.send(batch(4, "1.1"))
            for key in ("1.1", "1.2"):
                await call.send("PUT", f"/v1/sessions/demo/uploads/{key}", headers=OCTETS, content=b"x")
            assert await seqs(socket, 4 - len(stopped)) == list(range(1 + len(stopped), 5))

    call.run(talk())
    assert placement.sessions["demo"].applied == list(range(1 + len(stopped), 5))


@pytest.mark.parametrize("measured", [False, True])
def test_a_frame_that_is_none_is_answered_and_the_stream_goes_on(
    call: Caller, gate: Gate, measured: bool
) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            if measured:
                gate.front.sessions.find("default", "demo").measure()
            socket.send_raw(bytes=b"\xff" * 100)
            reply = await socket.reply()
            assert isinstance(reply, ProblemReply)
            assert reply.problem.slug == "malformed-frame"
            socket.send(batch(1))
            assert await seqs(socket, 1) == [1]

    call.run(talk())


def test_a_failing_placement_says_internal_and_no_more(
    call: Caller, gate: Gate, placement: FakePlacement
) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            placement.broken = True
            socket.send(batch(1))
            reply = await socket.reply()
            assert isinstance(reply, ProblemReply)
            assert reply.problem.slug == "internal"
            assert "secret" not in str(reply)

    call.run(talk())


def test_a_handshake_may_attach(call: Caller, gate: Gate) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM, {"gradd-attach": '{"client": "test"}'}) as socket:
            accepted = await socket.event()
            assert accepted["type"] == "websocket.accept"
            assert dict(accepted["headers"])[b"gradd-attached"] == b"1"
            socket.send(Attach("test"))  # by who was not told
            socket.send(batch(1))
            attached = await socket.reply()
            assert isinstance(attached, Attached)
            assert (attached.writer, attached.session.name) == (1, "demo")
            assert await seqs(socket, 1) == [1]

    call.run(talk())
    assert gate.front.idle


@pytest.mark.parametrize("first", [Info(), batch(1)], ids=["info", "batch"])
def test_the_first_message_must_attach(call: Caller, gate: Gate, first: Any) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.event()
            socket.send(first)
            reply = await socket.reply()
            assert isinstance(reply, ProblemReply)
            assert reply.problem.slug == "malformed-frame"
            assert await socket.closed() == 1002

    call.run(talk())
    assert len(gate.front.sessions) == 0


def test_text_is_refused(call: Caller, gate: Gate) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            socket.send_raw(text="{}")
            assert await socket.closed() == 1003

    call.run(talk())


def test_a_message_over_the_limit_is_refused(call: Caller, gate: Gate) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            socket.send_raw(bytes=bytes(LIMITS.server_message_bytes + 1))
            assert await socket.closed() == 1009

    call.run(talk())


def test_the_inbox_is_bounded(call: Caller, gate: Gate, placement: FakePlacement) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            placement.hold()
            for seq in range(1, LIMITS.window_batches + 2):
                socket.send(batch(seq))
            assert await socket.closed() == 1008
            placement.release()

    call.run(talk())
    assert gate.front.idle


def test_who_says_nothing_is_shut_out(call: Caller, placement: FakePlacement) -> None:
    gate = create_app(Settings(auth=False, body_timeout=0), placement, OPS)

    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.event()
            assert await socket.closed() == 1008

    call.run(talk())


def test_draining_answers_what_came_and_then_closes(
    call: Caller, gate: Gate, placement: FakePlacement
) -> None:
    async def talk() -> None:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            placement.hold()
            socket.send(batch(1))
            socket.send(batch(2))
            while gate.front.unanswered < 2:
                await asyncio.sleep(0)
            gate.front.draining.set()
            placement.release()
            assert await seqs(socket, 2) == [1, 2]
            assert await socket.closed() == 1012
        assert gate.front.idle

    call.run(talk())


async def refusal(socket: Socket) -> tuple[int, dict[str, Any]]:
    """The HTTP answer to a handshake that was refused."""
    start, body = await socket.event(), await socket.event()
    assert start["type"] == "websocket.http.response.start"
    assert (b"content-type", b"application/problem+json") in start["headers"]
    return start["status"], json.loads(body["body"])


@pytest.mark.parametrize(
    ("path", "headers", "protocol", "status", "slug"),
    [
        (STREAM, {"origin": "http://evil.example"}, "gradd.v1", 403, "origin-refused"),
        (STREAM, {"host": "evil.example"}, "gradd.v1", 421, "host-refused"),
        (STREAM, {}, "", 400, "bad-request"),
        (STREAM, {}, "gradd.v2", 400, "bad-request"),
        (STREAM, {"gradd-attach": "{"}, "gradd.v1", 400, "bad-request"),
        (STREAM, {"gradd-attach": '{"client": 1}'}, "gradd.v1", 400, "bad-request"),
        ("/v1/sessions/-bad/stream", {}, "gradd.v1", 400, "invalid-name"),
    ],
)
def test_refused_handshakes(
    call: Caller, gate: Gate, path: str, headers: dict[str, str], protocol: str, status: int, slug: str
) -> None:
    async def talk() -> tuple[int, dict[str, Any]]:
        async with Socket(gate, path, headers, protocol) as socket:
            return await refusal(socket)

    code, body = call.run(talk())
    assert (code, body["type"]) == (status, f"/problems/{slug}")


def test_the_daemons_own_origin_may_connect(call: Caller, gate: Gate) -> None:
    async def talk() -> Attached:
        async with Socket(gate, STREAM, {"origin": "http://127.0.0.1:4733"}) as socket:
            return await socket.attach()

    assert call.run(talk()).window == LIMITS.window_batches


def test_an_allowed_origin_may_connect_and_no_other(placement: FakePlacement) -> None:
    """A browser says the origin of the page with each handshake, and asks nobody first."""
    gate = create_app(Settings(auth=False, allow_origin="https://app.example"), placement, OPS)
    call = Caller(gate)

    async def talk() -> list[int]:
        async with Socket(gate, STREAM, {"origin": "https://app.example"}) as socket:
            assert (await socket.attach()).window == LIMITS.window_batches
        refused = []
        for headers in (
            {"origin": "https://other.example"}, {"origin": "null"}, {"origin": "http://app.example"},
            {"origin": "https://app.example", "host": "app.example"},
        ):  # fmt: skip
            async with Socket(gate, STREAM, headers) as socket:
                refused.append((await refusal(socket))[0])
        return refused

    assert call.run(talk()) == [403, 403, 403, 421]
    call.close()


def test_no_handshake_while_draining(call: Caller, gate: Gate) -> None:
    async def talk() -> tuple[int, dict[str, Any]]:
        gate.front.draining.set()
        async with Socket(gate, STREAM) as socket:
            return await refusal(socket)

    assert call.run(talk())[0] == 503


def test_a_reply_is_the_sessions_frame_octet_for_octet(call: Caller, gate: Gate) -> None:
    async def talk() -> bytes:
        async with Socket(gate, STREAM) as socket:
            await socket.attach()
            socket.send(batch(1))
            event = await socket.event()
            return bytes(event["bytes"])

    expected = frames.join(frames.encode(BatchReply(seq=1, position=1)))
    assert call.run(talk()) == expected
