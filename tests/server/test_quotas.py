"""A hostile tenant takes all it can get of one thing: it is told what, how much and until when, the daemon's
memory stays within bounds, and others notice nothing.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradd
import httpx
import msgspec
import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.problems import TABLE
from gradd_protocol.program import Program, Step
from gradd_protocol.version import WIRE
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.faults.daemon import Daemon
from tests.processes import children
from tests.waiting import PATIENCE

MIB = 1 << 20
FLAGS = (
    "--traffic-bytes", "96MiB", "--tenant-traffic-bytes", "48MiB", "--connections", "60",
    "--tenant-connections", "20", "--sessions", "12", "--tenant-sessions", "5",
    "--process-bytes", "240MiB", "--tenant-bytes", "160MiB", "--session-bytes", "128MiB",
    "--tenant-disk-bytes", "48MiB", "--body-timeout", "300",
)  # fmt: skip
QUOTA = 128 * MIB
#: what the daemon's processes may come to hold beside what they had
BOUND = 300 * MIB


@dataclass
class Refusal:
    """What the hostile tenant was told."""

    status: int
    problem: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Tenant:
    """One of two tenants."""

    http: httpx.Client
    daemon: Daemon
    key: str
    stack: ExitStack

    def connection(self) -> socket.socket:
        """A connection that reads little, to be used by hand."""
        made = self.stack.enter_context(socket.socket())
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.settimeout(PATIENCE)
        made.connect(("127.0.0.1", self.daemon.port))
        return made

    def head(self, method: str, path: str, **headers: str) -> bytes:
        """The head of a request."""
        said = {"Host": "localhost", "Authorization": f"Bearer {self.key}", **headers}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in said.items())]
        return "\r\n".join([*lines, "", ""]).encode()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path_factory.mktemp("quotas"), *FLAGS)
    yield daemon
    daemon.drop()


def tenant(daemon: Daemon, name: str, role: str, stack: ExitStack) -> Tenant:
    command = ["-m", "gradd_server", "keys", "create", "--tenant", name, "--role", role]
    made = subprocess.run(
        [sys.executable, *command, "--data-dir", str(daemon.data)], capture_output=True, check=True, text=True
    )
    key = made.stdout.strip()
    headers = {"Authorization": f"Bearer {key}"}
    http = stack.enter_context(httpx.Client(base_url=daemon.url, headers=headers, timeout=PATIENCE))
    return Tenant(http, daemon, key, stack)


@pytest.fixture(scope="module")
def tenants(daemon: Daemon) -> Iterator[tuple[Tenant, Tenant]]:
    with ExitStack() as stack:
        yield tenant(daemon, "hostile", "user", stack), tenant(daemon, "other", "operator", stack)


def held(daemon: Daemon) -> int:
    """Bytes of memory that the daemon's processes hold, with files in memory that none of them has mapped."""
    total, files = 0, {}
    for pid in (daemon.process.pid, *children(daemon.process.pid)):
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text().split()
        total += int(rollup[rollup.index("Pss:") + 1]) << 10
        for entry in os.scandir(f"/proc/{pid}/fd"):
            try:
                if "memfd:gradd" in os.readlink(entry.path):
                    found = os.stat(entry.path)
                    files[found.st_ino] = found.st_blocks * 512
            except FileNotFoundError:
                continue
    return total + sum(files.values())


def run(tenant: Tenant, *steps: dict[str, Any], session: str = "s", **more: Any) -> httpx.Response:
    """A batch of a session of the tenant."""
    return tenant.http.post(f"/v1/sessions/{session}/batches", json={"steps": list(steps), **more})


def ones(name: str, mib: float) -> dict[str, Any]:
    return {"op": "ones", "attrs": {"size": [int(mib * (1 << 18))]}, "outputs": [name]}


def first_refusal(connections: Sequence[socket.socket]) -> Refusal:
    """What the first of the connections that was refused was told."""
    for connection in connections:
        status = int(connection.recv(12).decode().split()[1])
        if status >= 400:
            return _rest(connection)
    raise AssertionError(f"{len(connections)} were all served")


def _told(answers: Sequence[httpx.Response]) -> Refusal:
    """What the first of them that refuses says."""
    found = next(answer for answer in answers if answer.status_code >= 400)
    return Refusal(found.status_code, found.json(), dict(found.headers))


def _rest(connection: socket.socket) -> Refusal:
    """The rest of an answer whose first 12 bytes were read."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1 << 16)
    head, _, body = data.partition(b"\r\n\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head.decode().splitlines()[1:])
    while len(body) < int(headers["content-length"]):
        body += connection.recv(1 << 16)
    found = json.loads(body)
    return Refusal(found["status"], found, headers)


# -- what a hostile tenant does ----------------------------------------------------------------------


def answers_that_are_not_read(tenant: Tenant) -> Refusal:
    run(tenant, ones("x", 16)).raise_for_status()
    connections = [tenant.connection() for _ in range(8)]
    for connection in connections:
        connection.sendall(tenant.head("GET", "/v1/sessions/s/tensors/x", Accept="application/octet-stream"))
    return first_refusal(connections)


def answers_in_json_that_are_not_read(tenant: Tenant) -> Refusal:
    body = json.dumps({"steps": [ones("%x", 1)], "fetch": ["%x"]}).encode()
    head = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    connections = [tenant.connection() for _ in range(6)]
    for connection in connections:
        connection.sendall(tenant.head("POST", "/v1/sessions/s/batches", **head) + body)
    return first_refusal(connections)


def bodies_that_trickle(tenant: Tenant) -> Refusal:
    said = {"Content-Type": "application/octet-stream", "Gradd-Dtype": "uint8"}
    size = {"Content-Length": str(16 * MIB), "Gradd-Shape": str(16 * MIB)}
    connections = [tenant.connection() for _ in range(8)]
    for n, connection in enumerate(connections):
        connection.sendall(tenant.head("PUT", f"/v1/sessions/s/tensors/x{n}", **said, **size) + bytes(1000))
    return first_refusal(connections[3:])


def frames_that_wait_for_an_upload(tenant: Tenant) -> Refusal:
    """Streams of large messages, none of which can be answered before the first is."""
    url = tenant.daemon.url.replace("http", "ws") + "/v1/sessions/s/stream"
    key = {"Authorization": f"Bearer {tenant.key}"}
    program = Program(0, [Step("upload", [], {"dtype": "uint8", "shape": [900_000]})])
    upload: Any = np.zeros(900_000, np.uint8)
    streams = []
    for _ in range(4):
        stream = tenant.stack.enter_context(connect(url, subprotocols=[WIRE], additional_headers=key))
        streams.append(stream)
        stream.send(frames.join(frames.encode(m.Attach("test"))))
        attached, _ = frames.decode_reply(bytes(stream.recv()))
        assert isinstance(attached, m.Attached)
        who = {"writer": attached.writer, "epoch": attached.epoch, "ack": 0}
        with suppress(ConnectionClosed):
            for seq in range(1, 31):
                uploads, buffers = ([f"{attached.writer}.1"], []) if seq == 1 else ([0], [upload])
                batch = m.Batch(**who, seq=seq, program=program.id(), definition=program, uploads=uploads)
                stream.send(frames.join(frames.encode(batch, buffers)))
    for stream in itertools.cycle(streams):
        with suppress(TimeoutError):
            reply, _ = frames.decode_reply(bytes(stream.recv(timeout=0.05)))
            assert isinstance(reply, m.ProblemReply)
            return Refusal(reply.problem.status, json.loads(msgspec.json.encode(reply.problem)))
    raise AssertionError("nobody was told")


def more_than_its_quota_by_reading(tenant: Tenant) -> Refusal:
    """What is 4 bytes in the session is to be a GiB in an answer."""
    wide = {"op": "expand", "inputs": ["one"], "attrs": {"size": [1 << 28]}, "outputs": ["wide"]}
    one = {"op": "ones", "attrs": {"size": [1]}, "outputs": ["one"]}
    run(tenant, one, wide).raise_for_status()
    refused = [
        tenant.http.get("/v1/sessions/s/tensors/wide", headers={"Accept": "application/octet-stream"}),
        run(tenant, {**wide, "outputs": ["%w"]}, {"op": "sin", "inputs": ["%w"], "outputs": ["%s"]}),
    ]
    for answer in refused:
        assert (answer.status_code, answer.json()["limit"]) == (507, QUOTA)
    return Refusal(refused[0].status_code, refused[0].json())


def sessions_without_end(tenant: Tenant) -> Refusal:
    found = [tenant.http.put(f"/v1/sessions/s{n}") for n in range(8)]
    assert tenant.http.post("/v1/sessions/more:attach").status_code == 429
    return _told(found)


def connections_without_end(tenant: Tenant) -> Refusal:
    connections = [tenant.connection() for _ in range(30)]
    for connection in connections:
        connection.sendall(tenant.head("GET", "/v1/sessions/s"))
    return first_refusal(connections)


def silent_connections(tenant: Tenant) -> Refusal:
    """Nobody knows whose they are: they make room for others."""
    connections = [tenant.connection() for _ in range(150)]
    return first_refusal(connections)


def sessions_that_are_each_within_their_quota(tenant: Tenant) -> Refusal:
    found = []
    for n in range(4):
        tenant.http.put(f"/v1/sessions/s{n}", json={"durability": "memory"}).raise_for_status()
        found.append(run(tenant, ones("x", 50), session=f"s{n}"))
    refusal = _told(found)
    assert (refusal.problem["whose"], refusal.problem["limit"]) == ("tenant", 160 * MIB)
    assert "of the tenant's 167772160 bytes are in use" in refusal.problem["detail"]
    # What is there can be read, and given back.
    assert tenant.http.get("/v1/sessions/s0/tensors").status_code == 200
    assert tenant.http.delete("/v1/sessions/s0/tensors/x").status_code == 204
    assert run(tenant, ones("x", 25), session="s3").status_code == 200
    return refusal


def records_without_end(tenant: Tenant) -> Refusal:
    """The same tensor over and over: the session holds little, and its record grows."""
    said = {"Content-Type": "application/octet-stream", "Gradd-Dtype": "uint8", "Gradd-Shape": "4000000"}
    found = []
    for n in range(30):
        values = bytes([n]) * 4_000_000
        found.append(tenant.http.put("/v1/sessions/s/tensors/x", content=values, headers=said))
        if found[-1].status_code >= 400:
            break
    refusal = _told(found)
    assert (refusal.problem["whose"], refusal.headers["retry-after"]) == ("tenant", "5")
    folder = tenant.daemon.data / "sessions"
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 64 * MIB
    octets = {"Accept": "application/octet-stream"}
    assert len(tenant.http.get("/v1/sessions/s/tensors/x", headers=octets).content) == 4_000_000
    return refusal


HOSTILE: dict[Callable[[Tenant], Refusal], str] = {
    answers_that_are_not_read: "rate-limited",
    answers_in_json_that_are_not_read: "rate-limited",
    bodies_that_trickle: "rate-limited",
    frames_that_wait_for_an_upload: "rate-limited",
    more_than_its_quota_by_reading: "quota-exceeded",
    sessions_without_end: "too-many",
    connections_without_end: "too-many",
    silent_connections: "too-many",
    sessions_that_are_each_within_their_quota: "quota-exceeded",
    records_without_end: "disk-full",
}


@pytest.mark.parametrize("act", HOSTILE, ids=lambda act: act.__name__)
def test_a_hostile_tenant_is_told_and_others_go_on(
    act: Callable[[Tenant], Refusal], daemon: Daemon, tenants: tuple[Tenant, Tenant]
) -> None:
    hostile, other = tenants
    for one in tenants:
        one.http.put("/v1/sessions/s", json={"quota_bytes": QUOTA}).raise_for_status()
    work = [ones("%a", 0.001), {"op": "add", "inputs": ["%a", "%a"], "outputs": ["%b"]}]
    before = held(daemon)
    with ExitStack() as stack:
        refusal = act(dataclasses.replace(hostile, stack=stack))
        grown = held(daemon) - before
        assert run(other, *work, fetch=["%b"]).status_code == 200
        assert hostile.http.get("/v1/sessions/s").status_code == 200
    said = refusal.problem
    slug = HOSTILE[act]
    assert (said["type"], said["status"]) == (f"/problems/{slug}", TABLE[slug].status)
    assert (refusal.status, said["used"] + said["requested"] > said["limit"]) == (said["status"], True)
    if slug == "rate-limited" or "connections" in said["detail"]:
        assert said["retry_after"] == 1
        assert refusal.headers.get("retry-after", "1") == "1"
    assert grown < BOUND, f"{grown / MIB:.0f} MiB"

    # Nothing is left of it.
    wait_for(lambda: other.http.get("/v1/status").json()["connections"] <= 4)
    wait_for(lambda: other.http.get("/v1/status").json()["traffic_bytes"] == 0)
    if slug != "disk-full":
        assert run(hostile, *work, fetch=["%b"]).status_code == 200
    for session in hostile.http.get("/v1/sessions").json()["sessions"]:
        assert hostile.http.delete(f"/v1/sessions/{session['name']}").status_code == 204
    wait_for(lambda: bytes_of(other, "hostile") == 0)
    wait_for(lambda: hostile.http.put("/v1/sessions/s").status_code == 201)
    assert run(hostile, *work, fetch=["%b"]).status_code == 200


def bytes_of(operator: Tenant, tenant: str) -> int:
    """What counts against the quotas of a tenant's sessions."""
    found = operator.http.get("/v1/status").json()["tenants"]
    return next((one["bytes"] for one in found if one["tenant"] == tenant), 0)


def wait_for(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        threading.Event().wait(0.05)


def test_the_sdk_says_what_and_how_much(daemon: Daemon, tenants: tuple[Tenant, Tenant]) -> None:
    hostile, _ = tenants
    brief = {"durability": "memory"}
    hostile.http.delete("/v1/sessions/s").raise_for_status()
    for n in range(4):
        hostile.http.put(f"/v1/sessions/s{n}", json=brief).raise_for_status()
    run(hostile, ones("x", 100), session="s0").raise_for_status()
    run(hostile, ones("x", 40), session="s1").raise_for_status()
    session = gradd.connect(daemon.url, session="s2", token=hostile.key)
    try:
        with pytest.raises(
            RuntimeError, match=r"tried to allocate .* of the tenant's 167772160 bytes are in use"
        ):
            gradd.ones(40 << 18).sum().item()
        assert gradd.ones(4).sum().item() == 4.0
    finally:
        session.close()
    gradd.connect(daemon.url, session="s4", token=hostile.key).close()
    with pytest.raises(gradd.ServerError, match="the tenant has 5 sessions, and 5 are the most: delete"):
        gradd.connect(daemon.url, session="s5", token=hostile.key)
    for n in range(5):
        assert hostile.http.delete(f"/v1/sessions/s{n}").status_code == 204
