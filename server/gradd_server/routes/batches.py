"""Batches, as JSON (numbered by the session or by a writer) and as frames."""

from __future__ import annotations

import functools
import re
from collections.abc import Awaitable, Callable
from time import perf_counter

from gradd_protocol import frames
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import GetReply, JsonBatch, ProblemReply
from gradd_protocol.problems import ProtocolError
from gradd_protocol.profiles import FrontTime
from gradd_runtime.process import Bulk
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gradd_server.bodies import Body, expect, json_frame
from gradd_server.errors import Refused
from gradd_server.media import FRAME, JSON
from gradd_server.replies import PartsResponse, respond_to_batch
from gradd_server.routes import entry_of, front_of, load_of
from gradd_server.wire import MessageHead, message_head

MAX_KEY_CHARS = 256


Handler = Callable[[Request], Awaitable[Response]]


def _framed(handler: Handler) -> Handler:
    """`handler`, with refusals as frames too if the client explicitly accepts frames."""

    @functools.wraps(handler)
    async def framed(request: Request) -> Response:
        try:
            return await handler(request)
        except ProtocolError as refused:
            if FRAME not in request.headers.get("accept", ""):
                raise
            parts = frames.encode(ProblemReply(refused.problem))
            return PartsResponse(parts, media_type=FRAME, status=refused.problem.status)

    return framed


@_framed
async def post_batch(request: Request) -> Response:
    """Run a batch: JSON, or a frame of a writer that numbers its batches.

    A frame is `application/vnd.gradd.frame`, and so is its reply. `Idempotency-Key` makes a JSON batch safe
    to retry: the same key with the same body gets the stored answer.
    """
    front = front_of(request)
    entry = entry_of(request)
    within = _within(request)
    if expect(request, JSON, FRAME) == FRAME:
        frame, _ = await _batch_frame(request)
        return respond_to_batch(await front.sessions.submit(entry, frame, within))
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= MAX_KEY_CHARS:
        raise Refused("bad-request", f"Idempotency-Key has 1 to {MAX_KEY_CHARS} characters")
    return respond_to_batch(await front.sessions.submit(entry, await _json(request, JsonBatch(key)), within))


@_framed
async def put_batch(request: Request) -> Response:
    """Run batch `seq` of a writer, once: if sent again, it gets the stored answer (`Gradd-Replayed: ?1`).

    The body is JSON or a frame, `application/vnd.gradd.frame`.
    """
    came = perf_counter()
    front = front_of(request)
    entry = entry_of(request)
    writer, seq = _number(request, "writer"), _number(request, "seq")
    within = _within(request)
    epoch = request.headers.get("gradd-epoch", "")
    if not (epoch.isascii() and epoch.isdigit() and len(epoch) < 20):
        raise Refused("bad-request", "Gradd-Epoch must say the epoch that attaching returned")
    if expect(request, FRAME, JSON) == JSON:
        told = request.headers.get("gradd-ack")
        ack = None if told is None else _number_of(told, "Gradd-Ack")
        said = await _json(request, JsonBatch(writer=writer, epoch=int(epoch), seq=seq, ack=ack))
        return respond_to_batch(await front.sessions.submit(entry, said, within))
    frame, head = await _batch_frame(request)
    if (head.writer, head.epoch, head.seq) != (writer, int(epoch), seq):
        raise Refused("bad-request", "path and Gradd-Epoch say other numbers than the frame")
    submitted = perf_counter()
    reply = await front.sessions.submit(entry, frame, within)
    if entry.passages is not None and entry.passages.wants:
        entry.passages.add(FrontTime(writer, seq, came, submitted, perf_counter()))
    return respond_to_batch(reply)


@_framed
async def get_batch(request: Request) -> Response:
    """Get the stored reply to batch `seq` of writer `writer`."""
    front = front_of(request)
    entry = entry_of(request)
    question = GetReply(_number(request, "writer"), _number(request, "seq"))
    return respond_to_batch(await front.sessions.submit(entry, frames.join(frames.encode(question))))


async def _json(request: Request, message: JsonBatch) -> frames.Bytes | Bulk:
    """A batch as JSON, with room for its answer. Raises Refused: 429 where there is none."""
    frame = await json_frame(request, message, front_of(request).settings.body_timeout)
    if isinstance(frame, Bulk) or b'"fetch"' in bytes(frame):
        load_of(request).take(LIMITS.json_bytes)
    return frame


async def _batch_frame(request: Request) -> tuple[bytearray, MessageHead]:
    body = Body(request, LIMITS.window_bytes, front_of(request).settings.body_timeout)
    frame = await body.read()
    said = message_head(frame)
    if said.type != "batch":
        raise Refused("malformed-frame", f"a batch is due here, not {said.type[:32]!r}")
    return frame, said


def _within(request: Request) -> float | None:
    """Seconds after which the batch is stopped, from its header."""
    said = request.headers.get("request-timeout")
    if said is None:
        return None
    if not re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,6})?", said):
        raise Refused("bad-request", f"Request-Timeout is a number of seconds as 2.5, not {said[:32]!r}")
    return float(said)


def _number(request: Request, what: str) -> int:
    return _number_of(request.path_params[what], what)


def _number_of(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Refused("bad-request", f"{what} is a number below 10^18, not {text[:32]!r}")
    return int(text)


routes = [
    Route("/v1/sessions/{name}/batches", post_batch, methods=["POST"]),
    Route("/v1/sessions/{name}/writers/{writer}/batches/{seq}", put_batch, methods=["PUT"]),
    Route("/v1/sessions/{name}/writers/{writer}/batches/{seq}", get_batch, methods=["GET"]),
]
