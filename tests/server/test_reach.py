"""Who reaches a daemon that runs: its own user, others with a key, over TLS, through a proxy."""

from __future__ import annotations

import json
import shutil
import signal
import ssl
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

import gradd
import httpx
import pytest
from gradd_protocol import runtimefile
from gradd_protocol.messages import Attach
from gradd_server import cli
from gradd_server import daemon as listening
from gradd_server.app import create_app
from gradd_server.datadir import DataDir
from gradd_server.keys import KeyFile
from gradd_server.settings import Settings

from tests.bearer import bearer
from tests.server.conftest import OPS, Caller, Expect
from tests.server.fake_placement import FakePlacement
from tests.server.test_daemon import Daemon, send, start, stop
from tests.waiting import PATIENCE


@pytest.fixture
def running() -> Iterator[list[Daemon]]:
    """Daemons that the test started, ended if it did not get that far."""
    daemons: list[Daemon] = []
    yield daemons
    for daemon in daemons:
        if daemon.process.poll() is None:
            stop(daemon)


@pytest.fixture
def daemon(tmp_path: Path, running: list[Daemon]) -> Daemon:
    running.append(start(tmp_path / "data", "--auth"))
    return running[-1]


class Said(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Command: TypeAlias = Callable[..., Said]


@pytest.fixture
def gradd_command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """The command line, in this process."""

    def run(*arguments: str) -> Said:
        try:
            code = cli.main(arguments)
        except SystemExit as ended:  # argparse's
            code = int(str(ended.code))
        return Said(code, *capsys.readouterr())

    return run


def test_the_runtime_file_is_private_and_goes_with_the_daemon(daemon: Daemon) -> None:
    found = runtimefile.find(daemon.url)
    assert found is not None
    assert (found.url, found.pid) == (daemon.url, daemon.process.pid)
    path = next(
        folder / f"127.0.0.1-{daemon.url.rpartition(':')[2]}.json"
        for folder in runtimefile.folders()
        if folder.exists()
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert str(path) in daemon.start_line
    assert found.key not in daemon.start_line
    assert stop(daemon) == 0
    assert not path.exists()


def test_a_daemon_that_comes_second_to_a_port_leaves_the_file_of_the_first(tmp_path: Path) -> None:
    """Both have bound it, as they do before engine processes start; the first listens."""
    with listening.bound("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with listening.bound("127.0.0.1", port) as second, DataDir(tmp_path) as data:
            url = f"http://127.0.0.1:{port}"
            first.listen()
            with listening.LocalKey(url) as local:
                with pytest.raises(listening.CannotListen, match="--port"):
                    listening.serve(Settings(auth=True), FakePlacement(), OPS, data, second)
                found = runtimefile.find(url)
                assert found is not None
                assert found.key == local.secret


def test_the_same_user_needs_no_key_and_others_do(
    daemon: Daemon, problem: Expect, gradd_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gradd_command("health", "--url", daemon.url).out == "ready\n"
    assert gradd_command("sessions", "--url", daemon.url).code == 0
    problem(daemon.ask("GET", "/v1/sessions"), "unauthenticated", 401)
    assert daemon.ask("GET", "/v1/sessions", headers=bearer(daemon.url)).status_code == 200
    monkeypatch.setenv("GRADD_RUNTIME_DIR", "/nowhere")
    stranger = gradd_command("sessions", "--url", daemon.url)
    assert stranger.code == 69
    assert "GRADD_API_KEY" in stranger.err


def test_keys_are_made_listed_rotated_and_revoked_beside_a_running_daemon(
    daemon: Daemon, gradd_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADD_DATA_DIR", str(daemon.data))

    def keys(*arguments: str) -> str:
        done = gradd_command("keys", *arguments)
        assert done.code == 0, done.err
        return done.out.strip()

    def status(secret: str) -> int:
        return daemon.ask("GET", "/v1", headers={"authorization": f"Bearer {secret}"}).status_code

    first = keys("create", "--tenant", "acme", "--role", "operator", "--name", "ci", "--expires", "30d")
    assert status(first) == 200
    assert first not in keys("list")
    (one,) = map(json.loads, keys("list", "--json").splitlines())
    assert (one["tenant"], one["role"], one["name"], one["state"]) == ("acme", "operator", "ci", "live")
    second = keys("rotate", one["id"], "--overlap", "1h")
    assert (status(first), status(second)) == (200, 200)
    keys("revoke", one["id"])
    assert (status(first), status(second)) == (401, 200)
    assert [line.split("\t")[-1] for line in keys("list").splitlines()] == ["revoked", "live"]
    assert status(keys("local")) == 200
    assert gradd_command("keys", "revoke", "knobody").code == 78
    assert gradd_command("keys", "create", "--tenant", "../x").code == 2
    assert gradd_command("keys", "create", "--expires", "soon").code == 2


def test_keys_can_be_made_before_the_first_start(tmp_path: Path, gradd_command: Command) -> None:
    made = gradd_command("keys", "create", "--data-dir", str(tmp_path / "new"))
    assert made.code == 0
    assert made.out.startswith("gradd_")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_a_daemon_takes_no_key_of_a_file_that_others_can_read(daemon: Daemon, gradd_command: Command) -> None:
    secret, _ = KeyFile(daemon.data).create()
    head = {"authorization": f"Bearer {secret}"}
    assert daemon.ask("GET", "/v1", headers=head).status_code == 200
    (daemon.data / "keys.json").chmod(0o644)
    assert daemon.ask("GET", "/v1", headers=head).status_code == 401
    assert gradd_command("keys", "list", "--data-dir", str(daemon.data)).code == 78
    (daemon.data / "keys.json").chmod(0o600)
    assert daemon.ask("GET", "/v1", headers=head).status_code == 200


def test_no_key_is_in_the_log_or_in_arguments(daemon: Daemon) -> None:
    secret, _ = KeyFile(daemon.data).create("acme")
    head = {"authorization": f"Bearer {secret}"}
    assert daemon.ask("PUT", "/v1/sessions/a", headers=head).status_code == 201
    daemon.ask("GET", f"/v1/sessions?token={secret}")
    daemon.ask("PUT", "/v1/sessions/a", headers={"authorization": f"Bearer {secret}0"})
    arguments = Path(f"/proc/{daemon.process.pid}/cmdline").read_bytes().decode()
    daemon.process.terminate()
    _, log = daemon.process.communicate(timeout=PATIENCE)
    lines = [json.loads(line) for line in log.splitlines()]
    assert [(line["audit"], line["status"]) for line in lines if "audit" in line] == [
        ("changed", 201), ("refused", 401)
    ]  # fmt: skip
    assert secret not in log + arguments
    assert secret[6:70] not in log


def test_the_sdk_knows_the_local_daemon_and_one_that_came_after_it(
    tmp_path: Path, running: list[Daemon]
) -> None:
    daemon = start(tmp_path / "data", "--auth")
    running.append(daemon)
    port = daemon.url.rpartition(":")[2]
    gradd.delete_session("none", daemon.url)
    gradd.delete_session("none", f"http://localhost:{port}")
    before = runtimefile.find(daemon.url)
    assert stop(daemon) == 0
    running.append(start(tmp_path / "data", "--auth", "--port", port))
    assert runtimefile.find(daemon.url) != before
    gradd.delete_session("none", daemon.url)


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_the_sdk_says_what_to_do_without_a_key(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch, transport: str
) -> None:
    monkeypatch.setenv("GRADD_RUNTIME_DIR", "/nowhere")
    with pytest.raises(gradd.NotAllowed, match="gradd keys create") as refused:
        gradd.connect(daemon.url, "a", transport=transport)
    assert isinstance(refused.value, PermissionError)
    assert refused.value.problem.slug == "unauthenticated"
    monkeypatch.setenv("GRADD_API_KEY", KeyFile(daemon.data).create()[0])
    gradd.delete_session("a", daemon.url)
    with pytest.raises(gradd.NotAllowed, match="mistyped"):
        gradd.delete_session("a", daemon.url, token="gradd_0")


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_a_script_whose_key_is_revoked_is_told_so(daemon: Daemon, transport: str) -> None:
    file = KeyFile(daemon.data)
    secret, key = file.create("acme")
    session = gradd.connect(daemon.url, "a", token=secret, transport=transport)
    assert session.info().name == "a"
    file.revoke(key.id)
    with pytest.raises(gradd.NotAllowed, match="this key was revoked"):
        gradd.ones(1).item()
    with pytest.raises(gradd.NotAllowed, match="this key was revoked"):
        session.info()
    with suppress(gradd.GraddError):
        session.close()


def test_a_hangup_reads_the_keys_again(daemon: Daemon) -> None:
    daemon.process.send_signal(signal.SIGHUP)
    assert daemon.process.stderr is not None
    assert "API keys and certificate are read again" in daemon.process.stderr.readline()
    assert daemon.ask("GET", "/livez").status_code == 200


# -- TLS -------------------------------------------------------------------------------------------


def certificate(folder: Path) -> tuple[Path, Path]:
    """A new self-signed certificate for 127.0.0.1, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    chain, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
               "-nodes", "-days", "2", "-subj", "/CN=gradd", "-addext", "subjectAltName=IP:127.0.0.1",
               "-keyout", str(key), "-out", str(chain)]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    return chain, key


def test_tls_serves_http_and_the_stream_and_takes_a_new_certificate(
    tmp_path: Path, running: list[Daemon], gradd_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain, key = certificate(tmp_path)
    running.append(start(tmp_path / "data", "--auth", "--tls-cert", str(chain), "--tls-key", str(key)))
    (daemon,) = running
    url = daemon.url
    assert url.startswith("https://127.0.0.1:")
    monkeypatch.setenv("SSL_CERT_FILE", str(chain))
    gradd.delete_session("a", url)
    context = ssl.create_default_context(cafile=str(chain))
    with daemon.stream("a", ssl=context, additional_headers=bearer(url)) as stream:
        assert send(stream, Attach())
    assert gradd_command("sessions", "--url", url).code == 0
    with pytest.raises(httpx.HTTPError):
        httpx.get(url.replace("https", "http") + "/livez", timeout=PATIENCE, trust_env=False)

    old = ssl.get_server_certificate(("127.0.0.1", int(url.rpartition(":")[2])))
    certificate(tmp_path)
    daemon.process.send_signal(signal.SIGHUP)
    assert daemon.process.stderr is not None
    while "the certificate was loaded" not in daemon.process.stderr.readline():
        assert daemon.process.poll() is None
    new = ssl.get_server_certificate(("127.0.0.1", int(url.rpartition(":")[2])))
    assert new != old
    assert new.split() == chain.read_text().split()


@pytest.mark.parametrize("files", [("none.pem", "none.pem"), ("bad.pem", "bad.pem")])
def test_a_certificate_that_does_not_load_exits_78(
    tmp_path: Path, files: tuple[str, str], gradd_command: Command
) -> None:
    (tmp_path / "bad.pem").write_text("no certificate")
    chain, key = (str(tmp_path / file) for file in files)
    refused = gradd_command(
        "serve", "--port", "0", "--data-dir", str(tmp_path / "d"), "--tls-cert", chain, "--tls-key", key
    )
    assert refused.code == 78
    assert "--tls-cert" in refused.err


def test_beyond_loopback_it_serves_those_with_a_key(tmp_path: Path, running: list[Daemon]) -> None:
    running.append(start(tmp_path / "data", "--auth", "--host", "0.0.0.0", "--insecure-http"))
    (daemon,) = running
    assert daemon.ask("GET", "/v1").status_code == 401
    assert daemon.ask("GET", "/v1", headers=bearer(daemon.url)).status_code == 200
    assert daemon.ask("GET", "/livez", headers={"host": "evil.example"}).status_code == 421


# -- names and proxies -----------------------------------------------------------------------------


@pytest.fixture
def proxied(placement: FakePlacement) -> Iterator[Caller]:
    settings = Settings(auth=False, allowed_hosts="gpu.example.org", root_path="/gradd")
    call = Caller(create_app(settings, placement, OPS))
    yield call
    call.close()


def test_allowed_hosts(proxied: Caller, problem: Expect) -> None:
    for host in ("gpu.example.org", "GPU.example.org:443", "localhost"):
        assert proxied("GET", "/livez", headers={"host": host}).status_code == 200
    for host in ("example.org", "gpu.example.org.evil.example", "a@gpu.example.org", "gpu.example.org:"):
        problem(proxied("GET", "/livez", headers={"host": host}), "host-refused", 421)


def test_any_host(placement: FakePlacement) -> None:
    call = Caller(create_app(Settings(auth=False, allowed_hosts="*"), placement, OPS))
    assert call("GET", "/livez", headers={"host": "any.example:99"}).status_code == 200
    call.close()


def test_a_proxy_may_leave_its_path_or_take_it_off(proxied: Caller, problem: Expect) -> None:
    for path in ("/gradd/v1", "/v1", "/gradd/livez"):
        assert proxied("GET", path).status_code == 200
    assert proxied("PUT", "/gradd/v1/sessions/a").status_code == 201
    assert proxied("GET", "/v1/sessions/a").status_code == 200
    for path in ("/graddx/v1", "/x/gradd/v1", "/gradd/gradd/v1"):
        problem(proxied("GET", path), "not-found", 404)


def test_forwarded_headers_are_believed_of_the_proxies_alone(tmp_path: Path, running: list[Daemon]) -> None:
    """Only where they are can an origin be https."""
    head = {"x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.7"}
    for flags, status in (
        (["--forwarded-allow-ips", "127.0.0.1"], 200),
        (["--forwarded-allow-ips", "192.0.2.1"], 403),
    ):
        daemon = start(tmp_path / f"data{status}", "--auth", *flags)
        running.append(daemon)
        origin = daemon.url.replace("http", "https")
        answer = daemon.ask("GET", "/v1", headers={**head, "origin": origin, **bearer(daemon.url)})
        assert answer.status_code == status
