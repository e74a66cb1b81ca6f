"""Fuzzed frames over the stream of a daemon: each is answered, none with `internal`, none takes a second of
work, and the daemon grows by less than a body.

`GRADD_STREAMED` says how many (`make faults`: 100,000), `GRADD_STREAMED_SEED` which.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from gradd._transports.websocket import Closed, WebSocket
from gradd_protocol import frames
from gradd_protocol import messages as m

from tests.faults.daemon import Daemon
from tests.processes import children
from tests.protocol.test_fuzz import _make_frame as bent_frame
from tests.runtime.session.test_malformed import FIELDS, KINDS, framed, message, spoil
from tests.waiting import PATIENCE

COUNT = int(os.environ.get("GRADD_STREAMED", "1500"))
SEED = os.environ.get("GRADD_STREAMED_SEED", "0")
#: frames that are on their way at a time
WINDOW = 16
GROWTH = 512 << 20
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path, "--no-auth") as made:
        yield made


class Stream:
    """A stream that is opened again where the daemon has closed it. It has what `message` wants of a peer."""

    def __init__(self, daemon: Daemon) -> None:
        self._url = f"{daemon.url.replace('http', 'ws')}/v1/sessions/fuzzed/stream"
        self._socket: WebSocket | None = None
        self.closed = 0
        self.writer = self.epoch = self.seq = self.ack = 0

    def ask(self, sent: list[bytes]) -> list[Any]:
        """The replies that come before it is closed."""
        if self._socket is None:
            self._open()
        assert self._socket is not None
        replies = []
        try:
            for frame in sent:
                self._socket.send(frame)
            for _ in sent:
                data = self._socket.receive(block=True)
                assert isinstance(data, bytes)
                replies.append(frames.decode_reply(data)[0])
        except Closed:
            self.closed += 1
            self._socket = None
        return replies

    def _open(self) -> None:
        self._socket = WebSocket(self._url, "gradd.v1", {}, max_size=1 << 26, silence=PATIENCE)
        self._socket.send(frames.join(frames.encode(m.Attach("fuzz"))))
        data = self._socket.receive(block=True)
        assert isinstance(data, bytes)
        attached = frames.decode_reply(data)[0]
        assert isinstance(attached, m.Attached)
        self.writer, self.epoch, self.seq, self.ack = attached.writer, attached.epoch, 0, 0

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


def _frame(dice: random.Random, stream: Stream) -> bytes:
    if dice.random() < 0.4:
        return bent_frame(dice.getrandbits(48))
    kind = dice.choice(KINDS)
    header, rest = message(kind, stream)  # type: ignore[arg-type]
    body = header["message"]
    fields = FIELDS.get(kind) or tuple(k for k in body if k != "type") or ("extra",)
    field = dice.choice(fields)
    body[field] = spoil(dice, body.get(field))
    return framed(header, rest)


def _processes(daemon: Daemon) -> list[int]:
    return [daemon.process.pid, *children(daemon.process.pid)]


def _used(pids: list[int]) -> tuple[float, int]:
    """Seconds of work and bytes of memory, of all together."""
    seconds, size = 0.0, 0
    for pid in pids:
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        seconds += (int(stat[11]) + int(stat[12])) / _TICKS
        size += int(stat[21]) * _PAGE
    return seconds, size


def test_whatever_comes_over_a_stream(daemon: Daemon, tally: Callable[..., None]) -> None:
    dice = random.Random(SEED)
    stream = Stream(daemon)
    put = {"content-type": "application/octet-stream", "gradd-dtype": "float32", "gradd-shape": "2"}
    with httpx.Client(base_url=daemon.url, trust_env=False) as client:
        client.put("/v1/sessions/fuzzed")
        data = np.ones(2, np.float32).tobytes()
        client.put("/v1/sessions/fuzzed/tensors/x", content=data, headers=put)
    stream.ask([])
    pids = _processes(daemon)
    began, size = _used(pids)
    worst, internal, slugs = 0.0, 0, set()
    for at in range(0, COUNT, WINDOW):
        sent = [_frame(dice, stream) for _ in range(WINDOW)]
        before = _used(pids)[0]
        for reply in stream.ask(sent):
            problem = getattr(reply, "problem", None)
            slug = "" if problem is None else problem.slug
            slugs.add(slug)
            internal += slug == "internal"
            if isinstance(reply, (m.BatchReply, m.JsonReply)):
                stream.seq += 1
                stream.ack = stream.seq
        worst = max(worst, _used(pids)[0] - before)
        assert worst < 1.0, (at, sent)
    stream.close()
    assert _processes(daemon) == pids  # none died
    assert _used(pids)[1] - size < GROWTH
    assert len(slugs) > 5
    assert began > 0
    tally("fuzzed frames over a stream", COUNT, differing=internal)
