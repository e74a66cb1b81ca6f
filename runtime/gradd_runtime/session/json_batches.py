"""Batches in JSON form, numbered by the session (writer 0, with idempotency keys) or by their writer."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from gradd_engine.data import TENSOR_BYTES
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import Problem, ProtocolError, problem

from ..batch import Outcome, compile_backward, compile_batch, json_answer
from ..program import broken
from .perform import perform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..batch import Work
    from .state import SessionState

#: bytes of answers that a session stores by key; the oldest are dropped
KEY_BYTES = 32 << 20
_encoder = msgspec.json.Encoder()


class JsonDesk:
    """Runs the JSON batches of a session."""

    def __init__(self) -> None:
        self._keys: OrderedDict[str, tuple[bytes, bytes, int]] = OrderedDict()
        #: bytes of the answers under keys
        self.bytes = 0
        self._seq = 0

    def take(
        self, session: SessionState, message: m.JsonBatch, text: bytes
    ) -> tuple[m.JsonReply, list[Any]] | bytes:
        """Answer a batch; if its writer numbered and sent it before, with the stored reply frame."""
        digest = hashlib.blake2b(text, digest_size=16).digest()
        if message.writer is not None:
            return self._numbered(session, message, text, digest)
        key = message.idempotency_key
        if key is not None and key in self._keys:
            seen, body, status = self._keys[key]
            if seen != digest:
                raise ProtocolError.of("idempotency-conflict", f"key {key!r} was used with another body")
            session.outcomes["replayed"] += 1
            return m.JsonReply(status, replayed=True), [frames.text_buffer(body)]
        body, status = self._run(session, lambda: compile_batch(text, session.table))
        session.change.reply = body
        if key is not None:
            session.change.keep = partial(self._keep, session, key, digest, body, status)
        return m.JsonReply(status), [frames.text_buffer(body)]

    @property
    def seq(self) -> int:
        """Batches that the session numbered."""
        return self._seq

    def answers(self) -> Iterator[tuple[str, bytes, bytes, int]]:
        """What is remembered under keys: key, digest of what was asked, the answer and its status."""
        for key, kept in self._keys.items():
            digest, body, status = kept
            yield key, digest, body, status

    def restore(
        self, session: SessionState, seq: int, answers: Iterable[tuple[str, bytes, bytes, int]]
    ) -> None:
        """Be as another desk was."""
        self._seq = seq
        for key, digest, body, status in answers:
            self._keys[key] = digest, body, status
            self._count(session, key, body)

    def _keep(self, session: SessionState, key: str, digest: bytes, body: bytes, status: int) -> None:
        """Store an answer under its key."""
        self._keys[key] = (digest, body, status)
        self._count(session, key, body)
        while len(self._keys) > DEFAULT.stored_keys or (self.bytes > KEY_BYTES and len(self._keys) > 1):
            old, (_, other, _) = self._keys.popitem(last=False)
            self._count(session, old, other, -1)

    def _count(self, session: SessionState, key: str, body: bytes, sign: int = 1) -> None:
        nbytes = sign * (len(key) + len(body) + TENSOR_BYTES)
        self.bytes += nbytes
        session.account.charge(nbytes)

    def backward(self, session: SessionState, name: str, text: bytes) -> tuple[m.JsonReply, list[Any]]:
        """Answer `POST .../tensors/{name}:backward`."""
        body, status = self._run(session, lambda: compile_backward(name, text, session.table))
        session.change.reply = body
        return m.JsonReply(status), [frames.text_buffer(body)]

    def _numbered(
        self, session: SessionState, message: m.JsonBatch, text: bytes, digest: bytes
    ) -> tuple[m.JsonReply, list[Any]] | bytes:
        assert message.writer is not None
        writer = session.writers.find(message.writer, message.epoch)
        stored = writer.stored(message.seq, digest)
        if stored is not None:
            session.outcomes["replayed"] += 1
            reply, buffers = frames.decode_reply(stored)
            assert isinstance(reply, m.JsonReply)
            return frames.join(frames.encode(msgspec.structs.replace(reply, replayed=True), buffers))
        ack = message.seq - 1 if message.ack is None else message.ack
        writer.check_window(message.seq, ack)
        change = session.change
        change.begun = True
        held = writer.held
        if writer.consume(message.seq, ack):
            body, status = self._run(
                session, lambda: compile_batch(text, session.table), writer.id, message.seq
            )
            if status >= 400:
                writer.failed = message.seq
        else:
            change.skipped = True
            session.counts["batches"] += 1
            skipped = problem(
                "skipped", f"batch {writer.failed} of this writer failed and was not acknowledged"
            )
            body, status = _encoder.encode(skipped), skipped.status
        found = m.JsonReply(status), [frames.text_buffer(body)]
        change.reply = frames.join(frames.encode(*found))
        writer.position = session.position

        def keep() -> None:
            writer.store(message.seq, digest, change.reply)
            session.account.charge(writer.held - held)

        change.keep = keep
        return change.reply

    def _run(
        self, session: SessionState, compile: Callable[[], Work], writer: int = 0, seq: int | None = None
    ) -> tuple[bytes, int]:
        """Compile and perform; errors are answers too."""
        session.change.begun = True
        if seq is None:
            self._seq += 1
            seq = self._seq
        outcome = Outcome()
        try:
            session.position += 1
            session.counts["batches"] += 1
            session.table.turn(writer, session.position - 1)
            work = _compiled(compile)
            if isinstance(work, Problem):
                outcome = Outcome(problem=work)
            else:
                outcome = perform(work, session, writer, seq)
                if outcome.problem is None:
                    outcome.problem = session.curves.take_results(work, outcome)
            session.change.problem = outcome.problem
            session.counts["steps"] += outcome.applied
            if isinstance(work, Problem):
                return _encoder.encode(work), work.status
            return json_answer(seq, session.position, work, outcome)
        except Exception as error:
            # The number is consumed, so it needs an answer, and a key must not run twice.
            fault = session.change.problem = broken(session.name, error)
            return _encoder.encode(fault), fault.status
        finally:
            session.account.charge(-outcome.copied)
            session.settle()


def _compiled(compile: Callable[[], Work]) -> Work | Problem:
    """The work of a batch, or why it is refused, which is an answer too."""
    try:
        return compile()
    except ProtocolError as refused:
        return refused.problem
