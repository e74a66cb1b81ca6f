"""A training client in a few lines: it sends frames, and sends them again until they are answered."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import msgspec
from gradd_protocol import frames, runtimefile
from gradd_protocol import messages as m

from tests.waiting import PATIENCE

PAUSE, LONGEST_PAUSE = 0.05, 0.5
"""Seconds between two attempts, which grow: who asks all the time keeps others from starting."""
AGAIN = {"recovering", "not-ready", "draining", "store-failed", "disk-full", "unauthenticated"}
FRAME = "application/vnd.gradd.frame"


class Client:
    """Sends the frames of one writer to the session `name` of the daemon at `url`, over http; of several
    addresses, with commas, to one after the other until it is answered.
    """

    def __init__(self, url: str, name: str, patience: float = PATIENCE, key: str = "") -> None:
        """`patience` (s): how long it waits for an answer before it asks again. `key`: an API key; without,
        that of the runtime file.
        """
        self._urls, self._key = url.split(","), key
        self._http = httpx.Client(timeout=patience, trust_env=False)
        self._base = f"/v1/sessions/{name}"
        self._rest = threading.Event()
        self.repeated = 0

    def call(self, method: str, path: str, **request: Any) -> httpx.Response:
        """An answer, however often it takes."""
        pause = PAUSE
        began = time.monotonic()
        while time.monotonic() < began + PATIENCE:
            try:
                url = self._urls[0] + self._base + path
                answer = self._http.request(method, url, **self._shown(request))
            except httpx.TransportError:
                self._urls.append(self._urls.pop(0))
            else:
                if answer.status_code < 400 or _slug(answer) not in AGAIN:
                    return answer
            self.repeated += 1
            self._rest.wait(pause)
            pause = min(1.5 * pause, LONGEST_PAUSE)
        raise AssertionError(f"{method} {path} was not answered")

    def _shown(self, request: dict[str, Any]) -> dict[str, Any]:
        """A request with the key of the daemon that runs: each has one of its own."""
        found = None if self._key else runtimefile.find(self._urls[0])
        shown = self._key or (found and found.key)
        key = {"authorization": f"Bearer {shown}"} if shown else {}
        return {**request, "headers": {**request.get("headers", {}), **key}}

    def begin(self) -> None:
        """Make the session, and become its first writer."""
        assert self.call("PUT", "").status_code in (200, 201)
        # An answer that was lost leaves a writer behind: the one of the frames is the first.
        attached = self.call("POST", ":attach", json={})
        assert attached.status_code == 200
        self._writer, self._epoch = attached.json()["writer"], attached.json()["epoch"]

    def send(self, frame: bytes) -> bytes | None:
        """The reply to a batch, which names this session's epoch; None for an upload."""
        message, buffers = frames.decode_request(frame)
        if isinstance(message, m.Stage):
            info = buffers[0]
            headers = {
                "content-type": "application/octet-stream",
                "gradd-dtype": info.dtype.name,
                "gradd-shape": ",".join(map(str, info.shape)),
            }
            put = self.call("PUT", f"/uploads/{message.key}", content=info.tobytes(), headers=headers)
            assert put.is_success, put.text
            return None
        assert isinstance(message, m.Batch)
        path = f"/writers/{message.writer}/batches/{message.seq}"
        headers = {"content-type": FRAME, "accept": FRAME, "gradd-epoch": str(self._epoch)}
        body = frames.join(frames.encode(msgspec.structs.replace(message, epoch=self._epoch), buffers))
        return self.call("PUT", path, content=body, headers=headers).content

    def numbered(self, seq: int, body: object) -> httpx.Response:
        """The answer to a batch of JSON under this number."""
        headers = {"gradd-epoch": str(self._epoch), "gradd-ack": str(seq - 1)}
        return self.call("PUT", f"/writers/{self._writer}/batches/{seq}", json=body, headers=headers)

    def tensors(self) -> dict[str, bytes]:
        """The octets of every tensor."""
        listed = self.call("GET", "/tensors").json()["tensors"]
        headers = {"accept": "application/octet-stream"}
        return {t["id"]: self.call("GET", f"/tensors/{t['id']}", headers=headers).content for t in listed}

    def applied(self) -> int:
        """How many batches the session has applied."""
        return int(self.call("GET", "").json()["batches"])

    def end(self) -> None:
        """Delete the session."""
        assert self.call("DELETE", "").status_code == 204
        self._http.close()


def train(client: Client, script: Sequence[bytes], acknowledged: Callable[[], None]) -> list[bytes]:
    """Send the frames of a script in order; the replies."""
    replies = []
    for frame in script:
        reply = client.send(frame)
        if reply is not None:
            replies.append(reply)
        acknowledged()
    return replies


def told(reply: bytes) -> Any:
    """A reply, whether it was sent once or again."""
    message, buffers = frames.decode_reply(reply)
    if isinstance(message, m.BatchReply):
        message = msgspec.structs.replace(message, replayed=False)
    return message, [(b.dtype.name, b.shape, b.tobytes()) for b in buffers]


def _slug(answer: httpx.Response) -> str:
    if answer.headers.get("content-type") == FRAME:
        message = frames.decode_reply(answer.content)[0]
        return message.problem.slug if isinstance(message, m.ProblemReply) else ""
    return str(answer.json()["type"]).rpartition("/")[2]
