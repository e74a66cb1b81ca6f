"""`gradd doctor`, other commands and `gradd.connect` say the next step in what a stranger runs into."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import gradd
import pytest
from gradd_protocol import advice
from gradd_protocol.version import VERSION, WIRE
from gradd_server import cli
from gradd_server.keyring import Keyring
from gradd_server.keys import KeyFile, mint

from tests.server.one_front import front
from tests.server.test_reach import certificate

TRANSPORTS = ("stream", "http")


@pytest.fixture(autouse=True)
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the environment says who one is, or where a daemon is."""
    for name in [name for name in os.environ if name.startswith("GRADD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GRADD_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def keyless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No runtime file gives this user a key."""
    monkeypatch.setenv("GRADD_RUNTIME_DIR", str(tmp_path / "run"))


@pytest.fixture
def closed() -> Iterator[int]:
    """A port at which nobody listens, and nobody else will."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


class _OtherServer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def other() -> Iterator[str]:
    """An HTTP server that is no daemon."""
    server = HTTPServer(("127.0.0.1", 0), _OtherServer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


Capture = pytest.CaptureFixture[str]


def doctor(capsys: Capture, url: str, code: int) -> dict[str, tuple[str, str]]:
    """What it finds, by check: status and text."""
    assert cli.main(["doctor", "--url", url, "--json"]) == code
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {line["check"]: (line["status"], line["said"]) for line in lines}


def wrong(capsys: Capture, url: str) -> tuple[str, str]:
    """The last check, which is wrong, and what is said of it; all before it are well."""
    *before, (check, (status, said)) = doctor(capsys, url, 69).items()
    assert status == "wrong"
    assert [name for name, (status, _) in before if status == "wrong"] == []
    return check, said


def refused(url: str, kind: type[Exception], *words: str) -> None:
    """A script is told so, over each transport."""
    for transport in TRANSPORTS:
        with pytest.raises(kind) as caught:
            gradd.connect(url, transport=transport, reconnect=0.1)
        for word in words:
            assert word in str(caught.value)


def test_all_is_well_with_a_daemon_that_runs(
    daemon: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = doctor(capsys, daemon, 0)
    assert list(found) == [
        "installed", "address", "data", "daemon", "key", "version", "ready", "stream", "gradient",
    ]  # fmt: skip
    assert {status for status, _ in found.values()} <= {"ok", "note"}
    assert VERSION in found["version"][1]
    assert cli.main(["sessions", "--url", daemon]) == 0
    assert "doctor-" not in capsys.readouterr().out
    monkeypatch.setenv("GRADD_URL", daemon)
    assert cli.main(["doctor"]) == 0
    assert f"{daemon}, by GRADD_URL" in capsys.readouterr().out


def test_a_url_that_is_none(capsys: Capture) -> None:
    check, said = wrong(capsys, "gpu-box:4733")
    assert check == "address"
    assert "Write http://gpu-box:4733" in said
    refused("gpu-box:4733", ValueError, "Write http://gpu-box:4733, or local:")
    assert cli.main(["health", "--url", "gpu-box:4733"]) == 78
    assert "--url: " in (told := capsys.readouterr().err)
    assert "Write http://gpu-box:4733" in told


@pytest.mark.parametrize(
    ("url", "step"),
    [
        ("localhost", "Write http://localhost:4733"),
        ("127.0.0.1:99", "Write http://127.0.0.1:99"),
        ("ws://a:1", "Write http://a:1"),
        ("[::1]:5", "Write http://[::1]:5"),
        ("http://", "Write http://HOST:4733"),
        ("http://a:99999", "Write http://HOST:4733"),
        ("what is this", "Write http://HOST:4733"),
        ("http://a", ""),
        ("https://a.example:1/gradd", ""),
        ("http://[::1]:4733", ""),
    ],
)
def test_a_mistake_in_a_url_is_named(url: str, step: str) -> None:
    said = advice.mistake(url)
    assert said.endswith(step)
    assert bool(said) is bool(step)


def test_a_host_that_is_not_there(capsys: Capture) -> None:
    url = "http://nowhere.invalid:4733"
    assert wrong(capsys, url)[0] == "daemon"
    refused(url, gradd.ConnectionFailed, "Check the URL")


def test_no_daemon_at_the_port(capsys: Capture, closed: int) -> None:
    url = f"http://127.0.0.1:{closed}"
    check, said = wrong(capsys, url)
    assert check == "daemon"
    step = f"`gradd serve --port {closed}`"
    assert step in said
    refused(url, gradd.ConnectionFailed, "nothing listens there", step, "GRADD_URL")
    assert cli.main(["health", "--url", url]) == 69
    assert step in capsys.readouterr().err


def test_a_url_without_its_port() -> None:
    refused_there = ConnectionRefusedError(111, "Connection refused")
    assert "try http://gpu-box:4733." in advice.unreachable("http://gpu-box", refused_there)


def test_another_program_at_the_port(capsys: Capture, other: str) -> None:
    check, said = wrong(capsys, other)
    assert check == "daemon"
    assert "no gradd daemon (HTTP 404)" in said
    assert "`gradd serve --port 0`" in said
    refused(other, gradd.ConnectionFailed, "no gradd daemon (HTTP", "Check port and path")
    assert cli.main(["sessions", "--url", other]) == 69
    assert "no gradd daemon" in capsys.readouterr().err


@pytest.mark.parametrize(("version", "wire"), [("9.0.0", "gradd.v2"), ("0.0.1", "gradd.v0")])
def test_a_daemon_that_speaks_another_wire(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, version: str, wire: str
) -> None:
    monkeypatch.setattr("gradd_server.stream.WIRE", wire)
    monkeypatch.setattr("gradd_server.routes.about.WIRE", wire)
    monkeypatch.setattr("gradd_server.routes.about.VERSION", version)
    with front(auth=False) as url:
        check, said = wrong(capsys, url)
        with pytest.raises(gradd.ConnectionFailed) as caught:
            gradd.connect(url)
    assert check == "version"
    for told in (said, str(caught.value)):
        assert f"the daemon is gradd {version} ({wire}), this is gradd {VERSION} ({WIRE})" in told
        assert f"pip install 'gradd=={version}' here" in told
        assert f"'gradd[server]=={VERSION}' there" in told


def test_a_daemon_without_this_wires_paths(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """A daemon of a later version answers at /v2 alone, with a problem."""

    def get(handler: _OtherServer) -> None:
        live = handler.path == "/livez"
        problem = {
            "type": "/problems/not-found",
            "title": "Not found",
            "status": 404,
            "supported": ["gradd.v2"],
        }
        body = json.dumps({"status": "live"} if live else problem).encode()
        handler.send_response(200 if live else 404)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    monkeypatch.setattr(_OtherServer, "do_GET", get)
    monkeypatch.setattr(_OtherServer, "do_PUT", get, raising=False)
    check, said = wrong(capsys, other)
    assert check == "version"
    assert "gradd.v2" in said
    refused(other, gradd.ConnectionFailed, "another version of gradd (gradd.v2)", "pip install")


def test_a_client_of_a_later_wire_is_told_what_is_spoken_here() -> None:
    with front(auth=False) as url:
        from gradd_server.commands.asking import request

        problem = request(url, "GET", "/v2/sessions", 10.0).problem
        assert problem is not None
        assert problem["supported"] == [WIRE]
        plain = request(url, "GET", "/v1/nothing", 10.0).problem
        assert plain is not None
        assert "supported" not in plain


@pytest.mark.usefixtures("keyless")
def test_another_version_of_the_same_wire_is_a_note(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradd_server.routes.about.VERSION", "0.0.9")
    with front(auth=False) as url:
        found = doctor(capsys, url, 69)  # the fake placement computes no gradient
    assert found["version"][0] == "note"
    assert "gradd 0.0.9" in found["version"][1]
    assert found["key"][0] == "note"
    assert found["stream"][0] == "ok"
    assert found["gradient"][0] == "wrong"


@pytest.mark.usefixtures("keyless")
def test_a_missing_key(capsys: Capture, daemon: str) -> None:
    check, said = wrong(capsys, daemon)
    assert check == "key"
    assert "GRADD_API_KEY" in said
    assert "`gradd keys create`" in said
    refused(daemon, gradd.NotAllowed, "GRADD_API_KEY", "`gradd keys create`")


def test_a_key_that_is_not_known(capsys: Capture, daemon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADD_API_KEY", mint())
    check, said = wrong(capsys, daemon)
    assert check == "key"
    assert "refuses the API key of GRADD_API_KEY" in said
    assert "`gradd keys list`" in said
    refused(daemon, gradd.NotAllowed, "not known here", "`gradd keys create`")


@pytest.mark.usefixtures("keyless")
def test_a_key_that_is_known(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    file = KeyFile(tmp_path)
    monkeypatch.setenv("GRADD_API_KEY", file.create("acme")[0])
    with front(keys=Keyring(file, mint())) as url:
        assert doctor(capsys, url, 69)["key"] == ("ok", "taken: that of GRADD_API_KEY")


@pytest.mark.usefixtures("keyless")
def test_tls_and_a_url_without(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain, key = certificate(tmp_path)
    with front(auth=False, tls=(chain, key)) as url:
        plain = url.replace("https", "http")
        assert wrong(capsys, plain) == (
            "daemon", f"{plain} does not answer: it speaks TLS. Write https:// in the URL: {url}"
        )  # fmt: skip
        refused(plain, gradd.ConnectionFailed, f"Write https:// in the URL: {url}")
        assert "SSL_CERT_FILE" in wrong(capsys, url)[1]
        refused(url, gradd.ConnectionFailed, "not trusted", "SSL_CERT_FILE")
        monkeypatch.setenv("SSL_CERT_FILE", str(chain))
        assert doctor(capsys, url, 69)["stream"][0] == "ok"


def test_a_url_with_tls_where_none_is(capsys: Capture) -> None:
    with front(auth=False) as url:
        secure = url.replace("http", "https")
        assert f"Write http:// in the URL: {url}" in wrong(capsys, secure)[1]
        refused(secure, gradd.ConnectionFailed, f"Write http:// in the URL: {url}")


def test_a_host_that_the_daemon_does_not_take(capsys: Capture) -> None:
    with front(auth=False, address="127.0.0.2") as url:
        assert "--allowed-hosts" in wrong(capsys, url)[1]
        refused(url, gradd.GraddError, "--allowed-hosts")


@pytest.mark.usefixtures("keyless")
def test_a_data_directory_that_others_can_read(capsys: Capture, tmp_path: Path, closed: int) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    found = doctor(capsys, f"http://127.0.0.1:{closed}", 69)
    assert found["data"] == (
        "wrong",
        f"{tmp_path / 'data'} is open to other users: chmod 700 {tmp_path / 'data'}",
    )


def test_local_needs_no_daemon(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADD_URL", "local:")
    assert cli.main(["doctor"]) == 0
    assert "in their own process" in capsys.readouterr().out
