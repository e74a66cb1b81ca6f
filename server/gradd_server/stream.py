"""The hot path: `/v1/sessions/{name}/stream`, a WebSocket of frames, with one reply per frame, in order.

The first message is Attach (which creates the session if needed), all others are Batches; a handshake that
has it as a header saves its way. The receiving task never waits for execution, so that pings are answered: it
submits batches, as many as the window has, and a second task answers them.

A stream lasts as long as its key: each message looks, and the front looks once a second for those that are
silent. It ends with a ProblemReply that says why.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from time import perf_counter

import msgspec
from gradd_protocol import frames, names, strictjson
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import Attach, ProblemReply
from gradd_protocol.problems import Malformed, Problem, ProtocolError
from gradd_protocol.profiles import FrontTime
from gradd_protocol.version import WIRE
from gradd_runtime.process import Pending
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from gradd_server import audit
from gradd_server.errors import Refused, send_problem
from gradd_server.front import Front
from gradd_server.keyring import unauthenticated
from gradd_server.keys import Key
from gradd_server.media import EXTENDED
from gradd_server.news import News
from gradd_server.open_session import OpenSession
from gradd_server.timing import Timing
from gradd_server.traffic import Load
from gradd_server.wire import MessageHead, may_be, message_head

PROTOCOL_ERROR, UNSUPPORTED, POLICY, TOO_BIG, INTERNAL, RESTART = 1002, 1003, 1008, 1009, 1011, 1012
"""Close codes of RFC 6455 that the daemon sends."""
ABNORMAL = 1006
"""The one of a connection that is gone."""

ATTACH = b"gradd-attach"
"""The header of a handshake that has the body of POST :attach."""
ATTACHED = b"gradd-attached"
"""The header of the answer to one: no message has to attach."""

logger = logging.getLogger("gradd.server")
_attach = msgspec.json.Decoder(Attach)


class Closing(Exception):
    """Ends the stream with a close code and reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class StreamEndpoint:
    """The ASGI app of the stream route."""

    def __init__(self, front: Front) -> None:
        self._front = front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            name = names.session(scope["path_params"]["name"])
            if WIRE not in scope["subprotocols"]:
                raise Refused("bad-request", f"a stream speaks the subprotocol {WIRE}", supported=[WIRE])
            first = _attaching(scope)
        except ProtocolError as refused:
            await send_problem(scope, receive, send, refused)
            return
        websocket = WebSocket(scope, receive, send)
        told = [(name.encode(), value.encode()) for name, value in EXTENDED.items()]
        if first is not None:
            told.append((ATTACHED, b"1"))
        await websocket.accept(subprotocol=WIRE, headers=told)
        try:
            await _converse(websocket, receive, self._front, name, first)
        except Closing as closing:
            await websocket.close(closing.code, closing.reason)
        except WebSocketDisconnect:
            logger.debug("stream of session %s dropped", name, extra={"members": audit.who(scope)})
        except Exception:
            logger.exception("stream of session %s failed", name, extra={"members": audit.who(scope)})
            await websocket.close(INTERNAL, "internal error")


def _attaching(scope: Scope) -> bytes | None:
    """The Attach that the handshake has, as a frame; None if it has none. Raises Refused."""
    text = next((value for name, value in scope["headers"] if name == ATTACH), None)
    if text is None:
        return None
    return frames.join(frames.encode(strictjson.decode(_attach, text, _no_attach)))


def _no_attach(why: str) -> Refused:
    return Refused("bad-request", f"Gradd-Attach is no attach: {why}")


async def _converse(
    websocket: WebSocket, receive: Receive, front: Front, name: str, first: bytes | None
) -> None:
    key: Key = websocket.scope["key"]
    attach = first
    try:
        async with asyncio.timeout(front.settings.body_timeout):
            first = first or await _next_frame(websocket.receive)
    except TimeoutError:
        raise Closing(POLICY, "no attach came") from None
    try:
        message, _ = frames.decode_request(first)
        if not isinstance(message, Attach):
            raise Malformed("the first message of a stream is attach")
        entry = await front.sessions.attached(key.tenant, name, message)
        with front.sessions.stream(entry):
            await websocket.send_bytes(bytes(await front.sessions.submit(entry, first)))
            stream = _Stream(websocket.scope, receive, front, entry, key, attach)
            front.counts.streams += 1
            audit.stream("opened", websocket.scope)
            try:
                await stream.run()
            finally:
                audit.stream("ended", websocket.scope, batches=stream.batches, bytes=stream.bytes)
    except ProtocolError as refused:
        front.counts.refused[refused.problem.slug] += 1
        await websocket.send_bytes(_refusal(refused))
        code = POLICY if refused.problem.status == 401 else PROTOCOL_ERROR
        raise Closing(code, refused.problem.title) from None


class _Stream:
    """An attached stream: batches without an answer, a task that takes them in and one that answers them in
    order. It uses ASGI itself, not Starlette's WebSocket or what the gate makes of `send`: their checks have
    been made.
    """

    def __init__(
        self, scope: Scope, receive: Receive, front: Front, entry: OpenSession, key: Key, attach: bytes | None
    ) -> None:
        self.batches = self.bytes = 0
        self._attach = attach
        self._key = key
        self._load: Load = scope["load"]
        self._turn: Callable[[int], Awaitable[None]] = scope["turn"]
        self._revoked = asyncio.Event()
        self._scope, self._next = scope, receive
        self._send: Send = scope["send"]
        self._front = front
        self._entry = entry
        self._unanswered: deque[_Batch] = deque()
        self._waiting: deque[_Batch] = deque()
        """Those at the end of them that the session has not yet."""
        self._unanswered_bytes = 0
        self._news = News()
        """The session's reply to a batch, or the end."""
        self._ending = False
        self._told = audit.requests.isEnabledFor(logging.DEBUG) or front.traces is not None

    async def run(self) -> None:
        """Serve until the client leaves (returns) or the stream must end (raises Closing, or Refused where
        its key is not valid any more).
        """
        receiver = asyncio.create_task(self._receive())
        worker = asyncio.create_task(self._work())
        draining = asyncio.create_task(self._front.draining.wait())
        revoked = asyncio.create_task(self._revoked.wait())
        tasks = {receiver, worker, draining, revoked}
        self._front.streams.add(self)
        self._entry.stops.add(self._stop)
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if revoked in done:
                raise unauthenticated(self._fault())
            if draining in done and not receiver.done():
                receiver.cancel()
                self._ending = True
                self._news.wake()
                await worker
                raise Closing(RESTART, "the daemon is shutting down")
            for task in done:
                await task
        finally:
            self._front.streams.discard(self)
            self._entry.stops.discard(self._stop)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._front.unanswered -= len(self._unanswered)

    def check(self) -> None:
        """See Revocable."""
        if self._fault():
            self._revoked.set()

    def _fault(self) -> str:
        keys = self._front.keys
        return "" if keys is None else keys.fault(self._key)

    async def _receive(self) -> None:
        while True:
            frame = await _next_frame(self._next)
            if frame == self._attach:  # a proxy kept it from the client that the handshake's was taken
                continue
            nbytes = len(frame)
            await self._turn(nbytes)
            if fault := self._fault():
                raise unauthenticated(fault)
            self.batches += 1
            self.bytes += nbytes
            self._front.counts.received["stream"] += nbytes
            batch = _Batch(frame)
            self._load.take(nbytes)
            self._unanswered.append(batch)
            self._waiting.append(batch)
            self._unanswered_bytes += nbytes
            self._front.unanswered += 1
            if len(self._unanswered) > LIMITS.window_batches or self._unanswered_bytes > LIMITS.window_bytes:
                raise Closing(POLICY, "more unanswered messages than the window allows")
            self._begin()

    def _begin(self) -> None:
        """Submit batches before those ahead are answered, so that the session does not idle. A batch that
        waits for uploads is submitted only when it is first, and alone.
        """
        while self._waiting:
            first, batch = self._unanswered[0], self._waiting[0]
            if first is not batch and (first.awaits_uploads or batch.awaits_uploads):
                return
            self._waiting.popleft()
            batch.begin(self._front, self._entry, self._news)

    def _stop(self, why: Problem, writer: int | None, seq: int | None) -> None:
        """The session has not heard of some batches, and one that lacks an upload may come to it again."""
        for batch in self._unanswered:
            if batch.replying is None or batch.awaits_uploads:
                batch.stop(why, writer, seq)

    async def _work(self) -> None:
        while self._unanswered or not self._ending:
            if not self._unanswered:
                await self._news.wait()
                continue
            batch = self._unanswered[0]
            try:
                reply = await self._run_in_order(batch)
            except ProtocolError as refused:
                reply = _refusal(refused)
            except Exception:
                members = {**audit.who(self._scope), **batch.id()}
                logger.exception("a batch of session %s failed", self._entry.name, extra={"members": members})
                reply = _refusal(Refused("internal"))
            # Counted as answered before it is sent, since the client may use the freed window at once.
            nbytes = len(batch.frame)
            self._unanswered.popleft()
            self._begin()
            self._unanswered_bytes -= nbytes
            self._load.give(nbytes)
            self._front.unanswered -= 1
            self._front.counts.sent["stream"] += len(reply)
            if (passages := self._entry.passages) is not None and passages.wants:
                passages.add(batch.passage())
            if self._told:
                self._note(batch, reply)
            try:
                await self._send({"type": "websocket.send", "bytes": reply})
            except OSError:
                raise WebSocketDisconnect(ABNORMAL) from None
            del batch, reply  # they may be large

    def _note(self, batch: _Batch, reply: bytes) -> None:
        said = (self._scope, batch.id(), message_head(reply).status, len(batch.frame))
        audit.batch(*said, batch.timing.seconds)
        if self._front.traces is not None:
            self._front.traces.batch(*said, batch.timing, batch.trace())

    async def _run_in_order(self, batch: _Batch) -> bytes:
        """The reply to `batch`. Waits for its uploads, and so do the batches behind it."""
        give_up = batch.submitted + self._front.settings.upload_wait_seconds
        while True:
            while (reply := batch.reply()) is None:
                await self._news.wait()
            if self._told:
                batch.note()
            if not (batch.names_uploads and _lacks_upload(reply)):
                return reply
            wait = give_up - perf_counter()
            if batch.awaits_uploads and not await self._entry.upload_after(batch.uploads, wait):
                return reply
            batch.begin(self._front, self._entry, self._news)


class _Replying(Pending):
    """A batch that was submitted; tells who waits for the `news` that there is a reply, or an error."""

    reply: frames.Bytes | None = None
    error: BaseException | None = None

    def __init__(self, news: News) -> None:
        self._news = news

    def set_result(self, reply: frames.Bytes, /) -> None:
        """See Pending.set_result."""
        self.reply = reply
        self._news.tell()

    def set_exception(self, error: BaseException, /) -> None:
        """There will be no reply."""
        self.error = error
        self._news.tell()


class _Batch:
    """A frame, and once submitted, the session's reply."""

    replying: _Replying | None = None
    why: Problem | None = None
    """Why it is not to begin, if it is not."""
    uploads = 0
    """How many had been staged when it was submitted."""

    def __init__(self, frame: bytes) -> None:
        self.frame = frame
        self.timing = Timing()
        self.submitted = self.timing.came
        self.names_uploads = self.awaits_uploads = _names_uploads(frame)

    def begin(self, front: Front, entry: OpenSession, news: News) -> None:
        """Submit it to the session, again if needed; its reply is `news`."""
        self.uploads, self.submitted = entry.uploads, perf_counter()
        self.replying = _Replying(news)
        try:
            front.sessions.begin(entry, self.frame, self.replying, self.why)
        except ProtocolError as refused:
            self.replying.set_exception(refused)

    def stop(self, why: Problem, writer: int | None, seq: int | None) -> None:
        """If it is of that writer and has no higher number than `seq`, it fails once it is submitted."""
        head = self._head()
        if head.type and writer in (None, head.writer) and (seq is None or head.seq <= seq):
            self.why, self.awaits_uploads = why, False

    def passage(self) -> FrontTime:
        """Its way through here, which is over."""
        head = self._head()
        return FrontTime(head.writer, head.seq, self.timing.came, self.submitted, perf_counter())

    def id(self) -> dict[str, str]:
        """Its writer and number, for the log."""
        head = self._head()
        return {"batch": f"{head.writer}.{head.seq}"} if head.type else {}

    def trace(self) -> dict[str, str]:
        """The headers of W3C Trace Context that it has."""
        head = self._head()
        return {"traceparent": head.traceparent, "tracestate": head.tracestate}

    def _head(self) -> MessageHead:
        """Without a type where the frame is malformed: the session reports what is wrong."""
        try:
            return message_head(self.frame)
        except ProtocolError:
            return MessageHead()

    def reply(self) -> bytes | None:
        """The session's reply, once it has come. Raises what came instead."""
        assert self.replying is not None
        if self.replying.error is not None:
            raise self.replying.error
        return None if self.replying.reply is None else bytes(self.replying.reply)

    def note(self) -> None:
        """Note when it was submitted and answered."""
        if self.replying is not None:
            self.timing.note(self.submitted, self.replying)


def _names_uploads(frame: bytes) -> bool:
    if not may_be(frame, '"uploads"'):
        return False
    try:
        return any(isinstance(upload, str) for upload in message_head(frame).uploads)
    except ProtocolError:
        return False  # the session reports what is wrong


def _lacks_upload(reply: bytes) -> bool:
    if not may_be(reply, "upload-missing"):
        return False
    problem = message_head(reply).problem
    return problem is not None and problem.type.endswith("/upload-missing")


def _refusal(error: ProtocolError) -> bytes:
    return frames.join(frames.encode(ProblemReply(error.problem)))


async def _next_frame(receive: Receive) -> bytes:
    """The next binary message. Raises WebSocketDisconnect at the end, Closing for any other message."""
    message = await receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005), message.get("reason"))
    frame: bytes | None = message.get("bytes")
    if frame is None:
        raise Closing(UNSUPPORTED, "a stream speaks binary frames")
    if len(frame) > LIMITS.server_message_bytes:
        raise Closing(TOO_BIG, f"a message has at most {LIMITS.server_message_bytes} bytes")
    return frame
