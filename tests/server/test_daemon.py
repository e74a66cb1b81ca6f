"""The daemon as a process: start line, lock, exit codes, drain, a real WebSocket, what is not HTTP."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradd_protocol import frames
from gradd_protocol.messages import Attach, Attached, Batch, BatchReply, Message
from gradd_protocol.version import VERSION
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.waiting import PATIENCE

COMMAND = [sys.executable, str(Path(__file__).parent / "fake_daemon.py")]


@dataclass
class Daemon:
    process: subprocess.Popen[str]
    url: str
    start_line: str
    data: Path

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        return httpx.request(method, self.url + path, timeout=PATIENCE, trust_env=False, **request)

    def stream(self, name: str, **options: Any) -> ClientConnection:
        url = f"{self.url.replace('http', 'ws')}/v1/sessions/{name}/stream"
        return connect(url, subprotocols=["gradd.v1"], compression=None, proxy=None, **options)  # type: ignore[list-item]


def start(data: Path, *flags: str) -> Daemon:
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--no-auth", "--data-dir", str(data), *flags],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = ""
    while not (found := re.search(r"https?://\S+:\d+", said)):
        line = process.stderr.readline()
        assert line, said
        said += line
    return Daemon(process, found.group(), line, data)


def stop(daemon: Daemon, how: int = signal.SIGTERM) -> int:
    """Send the signal; the exit code."""
    daemon.process.send_signal(how)
    _, _ = daemon.process.communicate(timeout=PATIENCE)
    return daemon.process.returncode


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environ or None,
        check=False,
    )


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    daemon = start(tmp_path_factory.mktemp("served") / "data")
    yield daemon
    assert stop(daemon) == 0


def send(stream: ClientConnection, message: Message) -> Message:
    stream.send(frames.join(frames.encode(message)))
    answer = stream.recv(timeout=PATIENCE)
    assert isinstance(answer, bytes)
    return frames.decode_reply(answer)[0]


def batch(seq: int, *uploads: str, program: str = "p") -> Batch:
    return Batch(writer=1, epoch=1, seq=seq, ack=seq - 1, program=program, uploads=list(uploads))


def test_the_start_line_says_where_and_who_may_connect(daemon: Daemon) -> None:
    assert f"gradd {VERSION}" in daemon.start_line
    assert "every local user can connect" in daemon.start_line
    assert str(daemon.data) in daemon.start_line


def test_the_data_directory_is_private(daemon: Daemon) -> None:
    assert daemon.data.stat().st_mode & 0o777 == 0o700


def test_a_second_daemon_on_the_same_data_exits_75(daemon: Daemon) -> None:
    second = run("serve", "--port", "0", "--data-dir", str(daemon.data))
    assert second.returncode == 75
    assert daemon.url in second.stderr
    assert "--data-dir" in second.stderr


def test_a_taken_port_exits_69(daemon: Daemon, tmp_path: Path) -> None:
    port = daemon.url.rpartition(":")[2]
    second = run("serve", "--port", port, "--data-dir", str(tmp_path / "data"))
    assert second.returncode == 69
    assert "Address already in use. `gradd doctor` says whether it is a daemon" in second.stderr
    assert "--port 0 a free one" in second.stderr


def test_listening_beyond_this_machine_exits_78(tmp_path: Path) -> None:
    refused = run("serve", "--host", "0.0.0.0", "--data-dir", str(tmp_path / "data"))
    assert refused.returncode == 78
    assert "--tls-cert" in refused.stderr
    assert not (tmp_path / "data").exists()


def test_no_data_directory_exits_73(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert run("serve", "--port", "0", "--data-dir", str(tmp_path / "file")).returncode == 73


@pytest.mark.parametrize("arguments", [[], ["sevre"], ["serve", "--port", "x"], ["serve", "--device", "tpu"]])
def test_usage_exits_2(arguments: list[str]) -> None:
    assert run(*arguments).returncode == 2


def test_every_flag_tells_its_variable() -> None:
    said = run("serve", "--help").stdout
    flags = set(re.findall(r"^  --([a-z-]+)", said, re.MULTILINE))
    assert "port" in flags
    for flag in flags:
        assert f"[env: GRADD_{flag.upper().replace('-', '_')}" in " ".join(said.split())


def test_version() -> None:
    assert run("version").stdout == f"gradd {VERSION}\n"
    assert json.loads(run("version", "--json").stdout)["wire"] == "gradd.v1"


def test_health_and_sessions_find_the_daemon(daemon: Daemon) -> None:
    daemon.ask("PUT", "/v1/sessions/listed")
    for environ in ({"GRADD_URL": daemon.url}, {"GRADD_DATA_DIR": str(daemon.data)}):
        assert run("health", **environ).stdout == "ready\n"
        assert "listed\t0 tensors" in run("sessions", **environ).stdout
    lines = run("sessions", "--json", "--url", daemon.url).stdout.splitlines()
    assert "listed" in [json.loads(line)["name"] for line in lines]


def test_no_daemon_is_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert run("health", "--url", f"http://127.0.0.1:{port}").returncode == 69
    assert run("health", "--url", "ftp://127.0.0.1").returncode == 78


def test_a_real_websocket(daemon: Daemon) -> None:
    with daemon.stream("real") as stream:
        assert stream.subprotocol == "gradd.v1"
        assert isinstance(send(stream, Attach()), Attached)
        reply = send(stream, batch(1))
        assert isinstance(reply, BatchReply)
        assert reply.seq == 1


def test_compression_is_not_spoken(daemon: Daemon) -> None:
    url = f"{daemon.url.replace('http', 'ws')}/v1/sessions/plain/stream"
    with connect(url, subprotocols=["gradd.v1"], proxy=None) as stream:  # type: ignore[list-item]
        assert stream.protocol.extensions == []


@pytest.mark.parametrize(
    ("headers", "status"), [({"Origin": "http://evil.example"}, 403), ({"Host": "evil.example"}, 421)]
)
def test_refused_websockets(daemon: Daemon, headers: dict[str, str], status: int) -> None:
    url = f"{daemon.url.replace('http', 'ws')}/v1/sessions/real/stream"
    options: dict[str, Any] = (
        {"origin": headers["Origin"]} if "Origin" in headers else {"additional_headers": headers}
    )
    if "Host" in headers:
        answer = talk(daemon, HANDSHAKE.replace(b"Host: localhost", b"Host: evil.example"))
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        return
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(url, subprotocols=["gradd.v1"], proxy=None, **options),
    ):  # type: ignore[list-item]
        pytest.fail("the handshake was accepted")
    assert refused.value.response.status_code == status


def test_a_stream_where_none_is(daemon: Daemon) -> None:
    answer = talk(daemon, HANDSHAKE.replace(b"/v1/sessions/real/stream", b"/v1/stream"))
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b"/problems/not-found" in answer


def test_a_large_message_closes_1009(daemon: Daemon) -> None:
    with daemon.stream("large") as stream:
        send(stream, Attach())
        sent = False
        with suppress(ConnectionClosed):  # it may hang up before all is sent
            stream.send(bytes(3 << 20))
            sent = True
        with pytest.raises(ConnectionClosed) as closed:
            stream.recv(timeout=PATIENCE)
    said = closed.value.rcvd
    # What it says may be lost with the bytes that it did not read.
    assert said.code == 1009 if said is not None else not sent or closed.value.__cause__ is not None


def test_upload_over_http_meets_batch_over_the_stream(daemon: Daemon) -> None:
    headers = {"content-type": "application/octet-stream", "gradd-dtype": "uint8", "gradd-shape": "1"}
    with daemon.stream("meet") as stream:
        send(stream, Attach())
        answers: list[Message] = []
        waiting = threading.Thread(target=lambda: answers.append(send(stream, batch(1, "1.1"))))
        waiting.start()
        staged = daemon.ask("PUT", "/v1/sessions/meet/uploads/1.1", headers=headers, content=b"x")
        assert staged.status_code == 201
        waiting.join(PATIENCE)
        (reply,) = answers
        assert isinstance(reply, BatchReply)


HANDSHAKE = (
    b"GET /v1/sessions/real/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: gradd.v1\r\n\r\n"
)


def talk(daemon: Daemon, request: bytes) -> bytes:
    """What the daemon answers to those bytes, until it hangs up or has said a whole answer."""
    host, _, port = daemon.url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(request)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
            head, _, body = answer.partition(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            if length and len(body) >= int(length[1]):
                break
        return answer


PUT = b"PUT /v1/sessions/a HTTP/1.1\r\nHost: localhost\r\n"
NOT_HTTP = {
    "noise": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "two lengths": PUT + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "length and chunks": PUT + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "negative length": PUT + b"Content-Length: -1\r\n\r\n",
    "length beyond 2^64": PUT + b"Content-Length: 99999999999999999999\r\n\r\n",
    "connect": b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "method": b"FROB /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "space in the target": b"GET /li vez HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "nul in a value": b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
}


@pytest.mark.parametrize("request_", NOT_HTTP.values(), ids=NOT_HTTP)
def test_what_is_not_http(daemon: Daemon, request_: bytes) -> None:
    head, _, body = talk(daemon, request_).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"application/problem+json" in head
    assert json.loads(body)["type"] == "/problems/bad-request"


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /livez HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * (1 << 20) + b"\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 100_000 + b"\r\n",
    ],
    ids=["200 headers", "1 MiB header", "100,000 headers"],
)
def test_headers_without_end(daemon: Daemon, request_: bytes) -> None:
    try:
        answer = talk(daemon, request_)
    except ConnectionError:  # it hung up while we were still talking
        answer = b"HTTP/1.1 431 "
    assert answer.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("said", [b"", b"GET /livez HTTP/1.1\r\nHost: loc"])
def test_headers_that_never_come(tmp_path: Path, said: bytes) -> None:
    daemon = start(tmp_path / "data", "--body-timeout", "0.2")
    assert talk(daemon, said).startswith(b"HTTP/1.1 408 ")
    assert stop(daemon) == 0


def test_http_1_0_and_pipelining(daemon: Daemon) -> None:
    assert talk(daemon, b"GET /livez HTTP/1.0\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    assert talk(daemon, b"GET /livez HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421 ")
    twice = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2
    assert talk(daemon, twice).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("pieces", [1, 2, 200])
def test_an_offer_of_another_protocol_is_no_matter(daemon: Daemon, pieces: int) -> None:
    """Java's client offers HTTP/2 with each request; the body comes all the same."""
    body = b'{"data": [1.0], "dtype": "float32"}'
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAA\r\n"
    said = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    request = PUT + offer + b"Content-Length: 0\r\n\r\n"
    request += PUT.replace(b"/a ", b"/a/tensors/x ") + offer + said + body
    request += b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    host, _, port = daemon.url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        for k in range(pieces):
            connection.sendall(request[k * len(request) // pieces : (k + 1) * len(request) // pieces])
        answer = b""
        while answer.count(b"HTTP/1.1 ") < 3:
            piece = connection.recv(65536)
            assert piece, answer
            answer += piece
    assert {*re.findall(rb"HTTP/1.1 (\d+) ", answer)} <= {b"200", b"201"}


def test_offers_may_follow_each_other_and_the_last_may_close(daemon: Daemon) -> None:
    offer = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    last = offer.replace(b"Upgrade\r", b"Upgrade, close\r", 1)
    host, _, port = daemon.url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(500 * offer + last + offer)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert re.findall(rb"HTTP/1.1 (\d+) ", answer) == 501 * [b"200"]


def test_expect_100_continue_is_refused_before_the_body(daemon: Daemon) -> None:
    request = (
        b"PUT /v1/sessions/real/tensors/w HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
        b"Content-Length: 1000000000\r\nExpect: 100-continue\r\n\r\n"
    )
    assert talk(daemon, request).startswith(b"HTTP/1.1 415 ")


@pytest.mark.parametrize("name", ["/v1/sessions/..", "/v1/sessions/a/../b", "/v1/sessions/%2e%2e"])
def test_dots_are_never_a_path(daemon: Daemon, name: str) -> None:
    answer = talk(daemon, f"PUT {name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert re.match(rb"HTTP/1.1 (400|404) ", answer)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_0_and_frees_the_data(tmp_path: Path, how: int) -> None:
    daemon = start(tmp_path / "data")
    with daemon.stream("idle") as stream:
        send(stream, Attach())
        assert stop(daemon, how) == 0
        with pytest.raises(ConnectionClosed) as closed:
            stream.recv(timeout=PATIENCE)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012
    again = start(tmp_path / "data")
    assert stop(again) == 0


def test_sigterm_finishes_what_is_in_flight(tmp_path: Path) -> None:
    """A batch is in flight; meanwhile the daemon says that it is not ready."""
    daemon = start(tmp_path / "data", "--drain-timeout", str(PATIENCE))
    with daemon.stream("busy") as stream:
        send(stream, Attach())
        stream.send(frames.join(frames.encode(batch(1, program="held"))))
        while daemon.ask("GET", "/readyz?verbose").json()["unanswered"] < 1:
            assert daemon.process.poll() is None
        daemon.process.send_signal(signal.SIGTERM)
        while (ready := daemon.ask("GET", "/readyz")).status_code == 200:
            assert daemon.process.poll() is None
        assert ready.status_code == 503
        assert ready.json()["type"] == "/problems/draining"
        assert daemon.ask("PUT", "/v1/sessions/new").status_code == 503
        daemon.process.send_signal(signal.SIGUSR1)
        answer = stream.recv(timeout=PATIENCE)
        assert isinstance(answer, bytes)
        assert isinstance(frames.decode_reply(answer)[0], BatchReply)
        with pytest.raises(ConnectionClosed):
            stream.recv(timeout=PATIENCE)
    assert daemon.process.wait(PATIENCE) == 0
    assert daemon.process.stderr is not None
    daemon.process.stderr.close()


def test_an_upload_that_trickles_is_given_up_before_all_of_it_is_due(tmp_path: Path) -> None:
    daemon = start(tmp_path / "data", "--body-timeout", "0.2")
    daemon.ask("PUT", "/v1/sessions/slow")
    head = (
        b"PUT /v1/sessions/slow/tensors/w HTTP/1.1\r\nHost: localhost\r\nGradd-Dtype: uint8\r\n"
        b"Content-Type: application/octet-stream\r\nGradd-Shape: 1000000000\r\n"
        b"Content-Length: 1000000000\r\n\r\n"
    )
    assert talk(daemon, head + bytes(1000)).startswith(b"HTTP/1.1 408 ")
    assert stop(daemon) == 0
