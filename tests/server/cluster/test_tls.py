"""Links that are encrypted by Ray's certificates: the same answers, and nobody without one is let in."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from gradd_server.placement.cluster import tls as module
from gradd_server.placement.cluster.host import EngineHost
from gradd_server.placement.cluster.links import far_link
from gradd_server.placement.cluster.tls import Tls

from tests.processes import children
from tests.server.cluster.hosts import TASK, nothing_left
from tests.server.cluster.same import SameOverOneHost
from tests.server.cluster.test_links import OverOneHost
from tests.server.fronts.test_relay import server
from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A certificate and its key, signed by an authority, and the same of another."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("certificates")
    files = {}
    for who in ("ours", "theirs"):
        for kind in ("authority", "key", "request", "certificate", "authority-key"):
            files[f"{who}-{kind}"] = folder / f"{who}-{kind}.pem"
        new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        authority = ["-x509", "-subj", f"/CN={who}", "-keyout", files[f"{who}-authority-key"]]
        asked = ["-subj", "/CN=node", "-keyout", files[f"{who}-key"], "-out", files[f"{who}-request"]]
        sign = ["openssl", "x509", "-req", "-days", "2", "-CAcreateserial", "-in", files[f"{who}-request"]]
        sign += ["-CA", files[f"{who}-authority"], "-CAkey", files[f"{who}-authority-key"]]
        for command in (
            [*new, *authority, "-out", files[f"{who}-authority"]],
            [*new, *asked],
            [*sign, "-out", files[f"{who}-certificate"]],
        ):
            subprocess.run(list(map(str, command)), check=True, capture_output=True)
    return files


def of(signed: dict[str, Path], who: str = "ours", trusts: str = "ours") -> Tls:
    return Tls(
        str(signed[f"{who}-certificate"]), str(signed[f"{who}-key"]), str(signed[f"{trusts}-authority"])
    )


@pytest.fixture
def tls(signed: dict[str, Path]) -> Tls:
    made = of(signed)
    one, other = module._pair()
    taking = threading.Thread(target=lambda: made.taken(one).close())
    taking.start()
    made.opened(other).close()  # what the first connection opens stays
    taking.join(PATIENCE)
    return made


@pytest.fixture
def host(tls: Tls) -> Iterator[EngineHost]:
    with nothing_left():
        made = EngineHost("127.0.0.1", tls)
        yield made
        made.close()


@pytest.fixture
def placement(host: EngineHost, tls: Tls) -> Iterator[OverOneHost]:
    made = OverOneHost(host, tls=tls)
    yield made
    made.shutdown()


class TestEncrypted(SameOverOneHost):
    """The same answers."""


@contextmanager
def listening_in(to: tuple[str, int]) -> Iterator[tuple[tuple[str, int], bytearray]]:
    """Where connections are passed on, and all that went by."""
    heard = bytearray()

    def carry(one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(1 << 16):
                heard.extend(data)
                other.sendall(data)
        with suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)

    def both(near: socket.socket) -> None:
        with socket.create_connection(to) as far:
            back = threading.Thread(target=carry, args=(far, near))
            back.start()
            carry(near, far)
            back.join(PATIENCE)

    with server(both) as there:
        yield there, heard


@pytest.mark.parametrize("encrypted", [False, True])
def test_who_listens_in_reads_nothing(signed: dict[str, Path], encrypted: bool) -> None:
    tls = of(signed) if encrypted else None
    host = EngineHost("127.0.0.1", tls)
    try:
        with listening_in((host.address.host, host.address.port)) as (there, heard):
            real, host.address = host.address, type(host.address)(*there, host.address.secret)
            placement = OverOneHost(host, tls=tls)
            placement.open("a-name-of-a-session", {})
            placement.shutdown()
            assert real.port != host.address.port
        assert (b"a-name-of-a-session" in heard) is not encrypted
        assert len(heard) > 500
    finally:
        host.close()


@pytest.mark.parametrize(
    ("who", "trusts"), [("theirs", "ours"), ("ours", "theirs"), ("theirs", "theirs"), ("", "")]
)
def test_without_a_certificate_of_the_authority_nobody_is_let_in(
    host: EngineHost, signed: dict[str, Path], who: str, trusts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradd_server.placement.cluster.links.HANDSHAKE_SECONDS", 1.0)
    before = children(os.getpid())
    with pytest.raises(OSError, match=r"."):
        far_link(host.address, TASK, tls=of(signed, who, trusts) if who else None)
    assert children(os.getpid()) == before


def test_a_host_that_encrypts_nothing_is_left(tls: Tls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HANDSHAKE_SECONDS", 0.5)
    host = EngineHost("127.0.0.1")
    try:
        with pytest.raises(OSError, match=r"."):
            far_link(host.address, TASK, tls=tls)
    finally:
        host.close()


def test_it_is_as_with_ray(signed: dict[str, Path]) -> None:
    said = {
        module.CERTIFICATE: str(signed["ours-certificate"]),
        module.KEY: str(signed["ours-key"]),
        module.AUTHORITY: str(signed["ours-authority"]),
    }
    assert Tls.of({}) is None
    assert Tls.of({**said, module.USES: "0"}) is None
    assert isinstance(Tls.of({**said, module.USES: "1"}), Tls)
    with pytest.raises(RuntimeError, match=f"{module.USES} is set, and {module.CERTIFICATE}"):
        Tls.of({module.USES: "1"})
    with pytest.raises(OSError, match="No such file"):
        Tls.of({**said, module.USES: "1", module.KEY: "/none"})
