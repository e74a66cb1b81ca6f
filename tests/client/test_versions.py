"""Daemons of other versions that speak the same wire: what is new in a profile is left out, and what cannot
be read says what to do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradd
import msgspec
import pytest
from gradd_protocol import frames
from gradd_protocol.messages import Profiled
from gradd_protocol.version import VERSION
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server.replies import json_response, respond

from tests.client.in_loops import run
from tests.server.one_front import front


@pytest.fixture
def url() -> Iterator[str]:
    with front(placement=InlinePlacement(), ops=ops(), auth=False) as at:
        yield at


def newer(reply: Profiled) -> dict[str, Any]:
    """What a later daemon might say: members, rows and kinds of which this one knows nothing."""
    said: dict[str, Any] = json.loads(msgspec.json.encode(reply))
    for rows in ("kernels", "batches", "misses", "front"):
        assert said[rows]
        for row in said[rows]:
            row["energy"] = {"joules": 1.5}
    for row in (*said["kernels"], *said["batches"]):
        row["how"] = "fused"
    assert said["calls"]
    said["calls"] = [[*call, "stream 7"] for call in said["calls"]]
    return said | {"transfers": [{"bytes": 7}], "clock": "ptp"}


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_a_profile_of_a_newer_daemon_is_read(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, transport: str
) -> None:
    def answer(reply: Any, buffers: Any) -> Any:
        return (
            json_response(newer(reply))
            if isinstance(reply, Profiled) and reply.batches
            else respond(reply, buffers)
        )

    monkeypatch.setattr("gradd_server.routes.sessions.respond", answer)
    with gradd.connect(url, transport=transport), gradd.profiler.profile() as p:
        for n in range(2):
            (gradd.ones(n + 1) * 2).sum().item()
    measured = p._latest
    assert (
        {batch.how for batch in measured.batches} == {kernel.how for kernel in measured.kernels} == {"fused"}
    )
    assert len(measured.calls) == sum(kernel.calls for kernel in measured.kernels)
    assert "fused" in str(measured)
    assert {e.key for e in p.key_averages()} >= {"mul", "sum"}
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    names = [e["name"] for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]]
    assert any(name.startswith("fused: ") for name in names)


def test_a_reply_that_cannot_be_read_says_what_to_do(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    session = gradd.connect(url)
    read = frames.decode_reply
    monkeypatch.setattr(frames, "decode_reply", lambda data: read(data.replace(b'"position"', b'"location"')))
    with pytest.raises(gradd.ConnectionFailed) as caught:
        gradd.ones(2).tolist()
    monkeypatch.undo()
    said = str(caught.value)
    assert f"what the daemon at {url} answered cannot be read (" in said
    assert "unknown field `location`" in said
    assert f"gradd {VERSION}: `gradd doctor` compares them" in said
    assert gradd.ones(2).tolist() == [1.0, 1.0]  # it goes on once it is understood
    session.close()


ASKED: dict[str, Callable[[gradd.Session], object]] = {
    "info": lambda session: session.info(),
    "tensors": lambda session: session.tensors(),
    "acquire": lambda session: session.acquire(),
    "profile": lambda session: session.profile(),
    "snapshot": lambda session: session.snapshot(),
    "snapshots": lambda session: session.snapshots(),
}


@pytest.mark.parametrize("what", ASKED)
def test_an_answer_that_cannot_be_read_says_what_to_do(
    url: str, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    with gradd.connect(url) as session:
        session.flush()
        with monkeypatch.context() as patch:
            patch.setattr("gradd._transports.control.Control.call", lambda *given, **more: b"[1]")
            with pytest.raises(gradd.ConnectionFailed, match=r"answered cannot be read .*`gradd doctor`"):
                ASKED[what](session)


def test_a_task_that_waits_for_a_reply_that_cannot_be_read_is_told(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = frames.decode_reply

    def unread(data: bytes) -> Any:
        return read(bytes(data).replace(b'"position"', b'"location"'))

    async def main() -> None:
        async with gradd.aconnect(url):
            with monkeypatch.context() as patch:
                patch.setattr(frames, "decode_reply", unread)
                with pytest.raises(gradd.ConnectionFailed, match="answered cannot be read"):
                    await gradd.ones(2).atolist()
            assert await gradd.ones(2).atolist() == [1.0, 1.0]  # as above

    run(main())
