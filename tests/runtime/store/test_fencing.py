"""What could not be recorded was not done: no answer, no trace, and applied once when it is sent again."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.session import Session, frame_batches, json_batches, replay
from gradd_runtime.store import Entry

from tests.runtime.peer import Peer
from tests.runtime.store.scripts import ListStore, differences, every_kind, opened, told

pytestmark = pytest.mark.usefixtures("settled")


class FailingStore(ListStore):
    """Its append number `at` raises; `kept`: and the entry is there all the same."""

    def __init__(self, at: int, error: Exception, kept: bool = False) -> None:
        super().__init__()
        self._at, self._error, self._keeps = at, error, kept

    def append(self, entry: Entry) -> None:
        failing = len(self.kept) + 1 == self._at
        if not failing or self._keeps:
            super().append(entry)
        if failing:
            raise self._error


def full() -> Exception:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


ERRORS: dict[str, tuple[Callable[[], Exception], str]] = {
    "ENOSPC": (lambda: OSError(errno.ENOSPC, "No space left on device"), "disk-full"),
    "EDQUOT": (lambda: OSError(errno.EDQUOT, "Disk quota exceeded"), "disk-full"),
    "full": (full, "disk-full"),
    "EIO": (lambda: OSError(errno.EIO, "Input/output error"), "store-failed"),
    "sqlite": (lambda: sqlite3.OperationalError("disk I/O error"), "store-failed"),
    "memory": (MemoryError, "store-failed"),
}


@pytest.fixture(scope="module")
def script() -> list[bytes]:
    return every_kind()


@pytest.fixture(scope="module")
def undisturbed(script: list[bytes]) -> tuple[Session, list[Any]]:
    session = opened()
    return session, [told(session.submit(frame)) for frame in script]


def slug(reply: bytes) -> str:
    message = frames.decode_reply(reply)[0]
    return message.problem.slug if isinstance(message, m.ProblemReply) else ""


def test_every_append_of_a_session_of_every_kind(
    script: list[bytes], undisturbed: tuple[Session, list[Any]]
) -> None:
    whole, replies = undisturbed
    for at in range(1, whole.entries + 1):
        make, expected = list(ERRORS.values())[at % len(ERRORS)]
        session = opened(FailingStore(at, make()))
        answers = [session.submit(frame) for frame in script]
        fenced = next(n for n, answer in enumerate(answers) if slug(answer) == expected)
        assert [told(answer) for answer in answers[:fenced]] == replies[:fenced], at
        assert {slug(answer) for answer in answers[fenced:]} == {expected}, at
        assert len(session.store.entries()) == session.entries == at - 1
        again = opened()
        replay(again, ListStore(session.store.entries()))
        assert [told(again.submit(frame)) for frame in script[fenced:]] == replies[fenced:], at
        assert differences(whole, again, ignored=["counts"]) == [], at


def test_an_entry_that_is_kept_although_append_raised(
    script: list[bytes], undisturbed: tuple[Session, list[Any]]
) -> None:
    whole, replies = undisturbed
    tried = 0
    for at, entry in enumerate(whole.store.entries(), 1):
        message = frames.decode_request(entry.frame)[0]
        if not isinstance(message, m.Batch):
            continue
        session = opened(FailingStore(at, OSError(errno.EIO, "Input/output error"), kept=True))
        answers = [session.submit(frame) for frame in script]
        fenced = next(n for n, answer in enumerate(answers) if slug(answer) == "store-failed")
        again = opened()
        replay(again, ListStore(session.store.entries()))
        first = frames.decode_reply(again.submit(script[fenced]))[0]
        assert isinstance(first, m.BatchReply)
        assert first.replayed
        assert [told(again.submit(frame)) for frame in script[fenced + 1 :]] == replies[fenced + 1 :]
        assert differences(whole, again, ignored=["counts"]) == []
        tried += 1
    assert tried > 15


@pytest.mark.parametrize("error", ERRORS)
def test_a_fenced_session_answers_nothing_and_says_why(error: str) -> None:
    make, expected = ERRORS[error]
    peer = Peer(opened(FailingStore(2, make())))
    reply, _ = peer.ask(m.PutTensor("x"), [np.ones(2)])
    assert (reply.problem.slug, reply.problem.retry_after) == (expected, 1)
    for message in (m.GetTensor("x"), m.Info(), m.ListTensors(), m.Acquire()):
        again, _ = peer.ask(message)
        assert again == reply


#: what a batch goes through from when its number is consumed to when it is recorded
PLACES: dict[str, list[tuple[Any, str]]] = {
    "batch": [
        (frame_batches, "frame_work"), (frame_batches, "perform"), (frame_batches, "_results"),
        (frame_batches, "_turn"), (frame_batches, "_reply"), (frame_batches, "_run"),
    ],
    "json": [(json_batches, "compile_batch"), (json_batches, "perform"), (json_batches, "json_answer")],
}  # fmt: skip


@pytest.mark.parametrize("error", [MemoryError("no memory"), RuntimeError("a bug"), KeyError("x")], ids=repr)
@pytest.mark.parametrize(("form", "place"), [(f, p) for f in PLACES for p in PLACES[f]], ids=str)
def test_an_exception_leaves_neither_a_hole_nor_an_expired_reply(
    form: str, place: tuple[Any, str], error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = Peer(opened())
    peer.put("x", np.ones(2))

    def send() -> bytes:
        if form == "batch":
            peer.batch(inputs=["x"], fetch=["x"])
        else:
            text = frames.text_buffer(b'{"steps": [], "fetch": ["x"]}')
            seq = peer.seq = peer.seq + 1
            peer.ask(m.JsonBatch(writer=peer.writer, epoch=peer.epoch, seq=seq), [text])
        return peer.replies[-1]

    def fail(*args: Any, **options: Any) -> Any:
        raise error

    send()
    with monkeypatch.context() as patch:
        patch.setattr(*place, fail)
        first = send()
    assert [entry.n for entry in peer.session.store.entries()] == list(range(1, peer.session.entries + 1))
    assert peer.session.store.entries()[-1].frame == peer.sent[-1]
    assert peer.session.store.entries()[-1].outcome in ("internal", "quota-exceeded")
    peer.frame(peer.sent[-1])
    assert slug(peer.replies[-1]) == ""
    assert told(peer.replies[-1])[1] == told(first)[1]
    message = frames.decode_reply(peer.replies[-1])[0]
    assert message.replayed
    last = send()
    assert slug(last) == ""
