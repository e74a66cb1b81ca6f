"""Snapshots by hand: taken, listed, read, deleted; sessions that begin at them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.problems import ProtocolError
from gradd_runtime.catalog import ops
from gradd_runtime.process import FileOrder, InlinePlacement, refusal
from gradd_runtime.store import Bucket
from gradd_server.app import create_app
from gradd_server.bucket_stores import BucketStores
from gradd_server.folder_stores import FolderStores
from gradd_server.settings import Settings
from gradd_server.stores import Stores

from tests.faults.daemon import Daemon
from tests.objectstore import reached
from tests.server.conftest import Caller, expect_problem
from tests.waiting import PATIENCE

Call = Callable[..., httpx.Response]

W = [[0.5, -1.0], [0.25, 2.0]]
STEP = {
    "steps": [
        {"op": "randn_like", "inputs": ["w"], "outputs": ["%n"]},
        {"op": "matmul", "inputs": ["w", "w"], "outputs": ["%h"]},
        {"op": "mul", "inputs": ["%h", "%n"], "outputs": ["%q"]},
        {"op": "sum", "inputs": ["%q"], "outputs": ["loss"]},
        {"op": "backward", "inputs": ["loss"]},
        {"op": "mul_", "inputs": ["m", 0.9], "outputs": [None], "grad": False},
        {"op": "add_", "inputs": ["m", "w.grad"], "outputs": [None], "grad": False},
        {"op": "sub_", "inputs": ["w", "m"], "attrs": {"alpha": 0.1}, "outputs": [None], "grad": False},
    ]
}
"""A step of a training with momentum and noise."""


def begin(call: Call, name: str, **options: Any) -> None:
    """A session with a parameter and its momentum."""
    assert call("PUT", f"/v1/sessions/{name}", json=options).status_code == 201
    for tensor, leaf in (("w", True), ("m", False)):
        form = {"data": W if leaf else [[0.0] * 2] * 2, "dtype": "float32", "requires_grad": leaf}
        assert call("PUT", f"/v1/sessions/{name}/tensors/{tensor}", json=form).status_code == 201


def train(call: Call, name: str, steps: int) -> None:
    for _ in range(steps):
        answer = call("POST", f"/v1/sessions/{name}/batches", json=STEP)
        assert answer.status_code == 200, answer.text


def bits(call: Call, name: str) -> dict[str, str]:
    """All that a training ends with."""
    found = call("POST", f"/v1/sessions/{name}/tensors:fetch", json={"names": ["w", "m", "w.grad", "loss"]})
    assert found.status_code == 200, found.text
    return {key: json.dumps(value) for key, value in found.json()["results"].items()}


def take(call: Call, name: str) -> dict[str, Any]:
    answer = call("POST", f"/v1/sessions/{name}/snapshots")
    assert answer.status_code == 201, answer.text
    taken: dict[str, Any] = answer.json()
    return taken


def fork(call: Call, name: str, taken: dict[str, Any], **options: Any) -> httpx.Response:
    source = {"session": taken["session"], "id": taken["id"]}
    return call("PUT", f"/v1/sessions/{name}", json={"from_snapshot": source, **options})


def tensors_of(file: bytes) -> dict[str, np.ndarray]:
    """The tensors of a safetensors file, as its page describes it; nothing of gradd's is asked."""
    size = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + size])
    header.pop("__metadata__")
    codes = {"F32": "<f4", "U8": "|u1"}
    found, at = {}, 0
    for name, said in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = said["data_offsets"]
        assert begin == at
        dtype = np.dtype(codes[said["dtype"]])
        flat = np.frombuffer(file, dtype, (end - begin) // dtype.itemsize, 8 + size + begin)
        found[name] = flat.reshape(said["shape"])
        at = end
    assert 8 + size + at == len(file)
    return found


class Place:
    """A daemon's front over stores; `again` as one that was started later."""

    def __init__(self, stores: Callable[[], Stores]) -> None:
        self._stores = stores
        self._start()

    def _start(self) -> None:
        self._placement = InlinePlacement()
        stores = self._stores()
        self.call = Caller(create_app(Settings(auth=False), self._placement, ops(), stores=stores))
        self.call.run(self.call._gate.front.sessions.restore())

    def end(self) -> None:
        self.call.close()
        self._placement.shutdown()

    def again(self) -> Caller:
        self.end()
        self._start()
        return self.call


@pytest.fixture(params=["files", "objects"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with ExitStack() as stack:
        if request.param == "objects":
            bucket = Bucket(stack.enter_context(reached(request.getfixturevalue("object_store"))).url)
            made = Place(lambda: BucketStores(bucket))
        else:
            made = Place(lambda: FolderStores(tmp_path / "sessions"))
        yield made
        made.end()


IN_FILES = pytest.mark.parametrize("place", ["files"], indirect=True)


@pytest.fixture
def call(place: Place) -> Caller:
    return place.call


def test_the_file_is_plain_safetensors(call: Caller) -> None:
    begin(call, "a")
    train(call, "a", 2)
    taken = take(call, "a")
    answer = call("GET", f"/v1/sessions/a/snapshots/{taken['id']}")
    assert answer.headers["content-type"] == "application/vnd.safetensors"
    assert len(answer.content) == taken["bytes"]
    found = tensors_of(answer.content)
    for name, value in bits(call, "a").items():
        assert np.array_equal(found[name], np.float32(json.loads(value)["data"]))
    assert {name for name in found if not name.startswith("gradd/")} == {"w", "w.grad", "m", "loss"}


def test_other_readers_open_the_file(call: Caller, tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    begin(call, "a")
    train(call, "a", 1)
    file = call("GET", f"/v1/sessions/a/snapshots/{take(call, 'a')['id']}").content
    found = safetensors.load(file)
    assert np.array_equal(found["w.grad"], np.float32(json.loads(bits(call, "a")["w.grad"])["data"]))


def test_snapshots_stay_until_they_are_deleted(call: Caller, place: Place) -> None:
    begin(call, "a")
    first = take(call, "a")
    train(call, "a", 1)
    second = take(call, "a")
    assert first["position"] < second["position"]
    assert call("GET", "/v1/sessions/a/snapshots").json() == {"snapshots": [second, first]}
    call = place.again()
    assert call("GET", "/v1/sessions/a/snapshots").json() == {"snapshots": [second, first]}
    path = f"/v1/sessions/a/snapshots/{first['id']}"
    assert call("GET", path).status_code == 200
    for _ in range(2):
        assert call("DELETE", path).status_code == 204
        expect_problem(call("GET", path), "snapshot-not-found", 404)
    assert call("GET", "/v1/sessions/a/snapshots").json() == {"snapshots": [second]}
    call("DELETE", "/v1/sessions/a")
    begin(call, "a")
    assert call("GET", "/v1/sessions/a/snapshots").json() == {"snapshots": []}
    expect_problem(fork(call, "b", second), "snapshot-not-found", 404)


@pytest.mark.parametrize("durability", ["process", "disk", "memory"])
def test_a_fork_goes_its_own_way(call: Caller, place: Place, durability: str) -> None:
    begin(call, "a", durability=durability)
    attached = call("POST", "/v1/sessions/a:attach").json()
    train(call, "a", 3)
    taken = take(call, "a")
    answer = fork(call, "b", taken)
    assert answer.status_code == 201
    info = answer.json()
    assert (info["writers"], info["batches"], info["tensors"]) == (0, 0, 3)
    assert info["epoch"] != attached["epoch"]
    assert bits(call, "b") == bits(call, "a")
    train(call, "b", 4)
    train(call, "a", 2)
    then = bits(call, "a")
    assert then != bits(call, "b")
    train(call, "a", 2)
    assert bits(call, "a") == bits(call, "b")
    train(call, "a", 1)
    ends = bits(call, "a"), bits(call, "b")
    assert call("GET", "/v1/sessions/a").json()["writers"] == 1
    resumed = {"resume": attached["writer"], "epoch": attached["epoch"]}
    assert call("POST", "/v1/sessions/a:attach", json=resumed).status_code == 200
    expect_problem(call("POST", "/v1/sessions/b:attach", json=resumed), "writer-fenced", 409)
    if durability != "memory":
        call = place.again()
        assert (bits(call, "a"), bits(call, "b")) == ends
        train(call, "b", 1)
        assert bits(call, "b") == ends[0]


def test_a_fork_begins_before_its_first_entry(call: Caller, place: Place) -> None:
    begin(call, "a")
    train(call, "a", 1)
    taken = take(call, "a")
    fork(call, "b", taken)
    for _ in range(3):
        call = place.again()
        assert bits(call, "b") == bits(call, "a")
    expect_problem(fork(call, "c", {**taken, "session": "b"}), "snapshot-not-found", 404)


def test_a_repeated_fork_is_the_same_session(call: Caller, place: Place) -> None:
    begin(call, "a")
    taken = take(call, "a")
    assert fork(call, "b", taken).status_code == 201
    assert fork(place.again(), "b", taken).status_code == 200
    other = take(place.call, "a")
    expect_problem(fork(place.call, "b", other), "session-exists", 409)
    expect_problem(fork(place.call, "a", taken), "session-exists", 409)


def test_what_is_missing_is_not_found(call: Caller) -> None:
    begin(call, "a")
    expect_problem(fork(call, "b", {"session": "no", "id": "3-9f86d081"}), "session-not-found", 404)
    for id in ("3-9f86d081", "../../x", "", "x" * 10_000):
        expect_problem(fork(call, "b", {"session": "a", "id": id}), "snapshot-not-found", 404)
    expect_problem(call("GET", "/v1/sessions/b"), "session-not-found", 404)


@IN_FILES
def test_a_session_holds_so_many(call: Caller, tmp_path: Path) -> None:
    begin(call, "a")
    take(call, "a")
    (folder,) = (tmp_path / "sessions").glob("*/*/snapshots")
    for n in range(LIMITS.snapshots - 1):
        (folder / f"1-{n:08x}.safetensors").touch()
    refused = expect_problem(call("POST", "/v1/sessions/a/snapshots"), "quota-exceeded", 507)
    assert refused["limit"] == LIMITS.snapshots


@IN_FILES
@pytest.mark.parametrize("at", ["begun", "confirmed", "failing"])
def test_one_is_deleted_while_it_is_made(
    call: Caller, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    begin(call, "a")
    taken = take(call, "a")
    files = len(list((tmp_path / "sessions").iterdir()))
    reached, go_on = threading.Event(), threading.Event()
    confirm, submit = FolderStores.confirm, place._placement.submit

    def hold(*_: Any) -> None:
        reached.set()
        assert go_on.wait(PATIENCE)

    def confirm_late(stores: Stores, tenant: str, name: str, *more: Any) -> None:
        confirm(stores, tenant, name, *more)
        if name == "b" and at == "confirmed":
            hold()

    def submit_late(name: str, frame: Any, why: Any = None) -> Any:
        future = submit(name, frame, why)
        if at == "confirmed" or not isinstance(frame, FileOrder):
            return future
        late: Future[bytes] = Future()

        def answer() -> None:
            hold()
            late.set_result(
                future.result(PATIENCE) if at == "begun" else refusal(ProtocolError.of("invalid-snapshot"))
            )

        threading.Thread(target=answer).start()
        return late

    async def both() -> tuple[httpx.Response, httpx.Response]:
        source = {"session": taken["session"], "id": taken["id"]}
        making = asyncio.create_task(call.send("PUT", "/v1/sessions/b", json={"from_snapshot": source}))
        await asyncio.to_thread(reached.wait, PATIENCE)
        assert (await call.send("GET", "/v1/sessions/b")).status_code == 404
        ending = asyncio.create_task(call.send("DELETE", "/v1/sessions/b"))
        await call.send("GET", "/v1/sessions")
        assert not ending.done()
        go_on.set()
        return await making, await ending

    with monkeypatch.context() as patch:
        patch.setattr(FolderStores, "confirm", confirm_late)
        patch.setattr(place._placement, "submit", submit_late)
        made, ended = call.run(both())
    assert ended.status_code == 204
    expect_problem(made, *(("invalid-snapshot", 422) if at == "failing" else ("session-not-found", 404)))
    for _ in range(2):
        assert [row["name"] for row in call("GET", "/v1/sessions").json()["sessions"]] == ["a"]
        assert len(list((tmp_path / "sessions").iterdir())) == files
        call = place.again()
    assert fork(call, "b", taken).status_code == 201


def test_without_a_data_directory_there_are_none() -> None:
    placement = InlinePlacement()
    call = Caller(create_app(Settings(auth=False), placement, ops()))
    call("PUT", "/v1/sessions/a")
    for method in ("GET", "POST"):
        expect_problem(call(method, "/v1/sessions/a/snapshots"), "invalid-data", 422)
    call.close()
    placement.shutdown()


@IN_FILES
def test_what_was_half_written_goes(place: Place, tmp_path: Path) -> None:
    begin(place.call, "a")
    taken = take(place.call, "a")
    (folder,) = (tmp_path / "sessions").glob("*/*/snapshots")
    for left in (folder / "9f86d081.new", tmp_path / "sessions" / ".incoming-1"):
        left.write_bytes(b"half")
    call = place.again()
    assert [path.name for path in (tmp_path / "sessions").rglob("*") if path.suffix == ".new"] == []
    assert not (tmp_path / "sessions" / ".incoming-1").exists()
    assert call("GET", "/v1/sessions/a/snapshots").json() == {"snapshots": [taken]}


@IN_FILES
def test_a_damaged_file_makes_no_session(call: Caller, place: Place, tmp_path: Path) -> None:
    begin(call, "a")
    taken = take(call, "a")
    (file,) = (tmp_path / "sessions").glob("*/*/snapshots/*")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    expect_problem(fork(call, "b", taken), "invalid-snapshot", 422)
    expect_problem(call("GET", "/v1/sessions/b"), "session-not-found", 404)
    expect_problem(place.again()("GET", "/v1/sessions/b"), "session-not-found", 404)
    assert len(list((tmp_path / "sessions").glob("*/*/"))) == 1


def test_killed_right_after(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path, "--no-auth")
    try:
        with httpx.Client(timeout=PATIENCE) as client:

            def call(method: str, path: str, **request: Any) -> httpx.Response:
                return client.request(method, daemon.url + path, **request)

            begin(call, "a")
            train(call, "a", 2)
            taken = take(call, "a")
            daemon.kill()
            assert call("GET", "/v1/sessions/a/snapshots").json() == {"snapshots": [taken]}
            assert fork(call, "b", taken).status_code == 201
            daemon.kill()
            for name in ("b", "a"):
                train(call, name, 2)
            assert bits(call, "a") == bits(call, "b")
    finally:
        daemon.drop()


def upload(call: Call, name: str, file: bytes, **query: str) -> httpx.Response:
    headers = {"content-type": "application/vnd.safetensors"}
    return call("PUT", f"/v1/sessions/{name}", content=file, headers=headers, params=query)


def download(call: Call, taken: dict[str, Any]) -> bytes:
    answer = call("GET", f"/v1/sessions/{taken['session']}/snapshots/{taken['id']}")
    assert answer.status_code == 200
    return answer.content


def test_a_session_moves_to_another_daemon(call: Caller, tmp_path: Path) -> None:
    begin(call, "a")
    train(call, "a", 3)
    file = download(call, take(call, "a"))
    train(call, "a", 3)
    other = Place(lambda: FolderStores(tmp_path / "elsewhere"))
    try:
        assert upload(other.call, "b", file, durability="disk").status_code == 201
        train(other.call, "b", 2)
        there = other.again()
        train(there, "b", 1)
        assert bits(there, "b") == bits(call, "a")
        expect_problem(upload(there, "b", file), "session-exists", 409)
        assert [path.name for path in (tmp_path / "elsewhere").glob(".*")] == []
    finally:
        other.end()


@IN_FILES
def test_a_file_of_a_stranger_makes_no_session(call: Caller, tmp_path: Path) -> None:
    begin(call, "a")
    file = download(call, take(call, "a"))
    size = int.from_bytes(file[:8], "little")
    for wrong in (b"", b"nothing", file[:-1], file[:size], file[:-1] + bytes([file[-1] ^ 1]), bytes(100)):
        expect_problem(upload(call, "b", wrong), "invalid-snapshot", 422)
        expect_problem(call("GET", "/v1/sessions/b"), "session-not-found", 404)
    expect_problem(upload(call, "b..", file), "invalid-name", 400)
    expect_problem(upload(call, "b", file, durability="for ever"), "bad-request", 400)
    assert [path.name for path in (tmp_path / "sessions").glob(".*")] == []
    assert upload(call, "b", file).status_code == 201


def test_a_file_holds_no_more_than_a_session_may(call: Caller, tmp_path: Path) -> None:
    assert call("PUT", "/v1/sessions/a").status_code == 201
    form = {"data": [0.0] * 5000, "dtype": "float64"}
    assert call("PUT", "/v1/sessions/a/tensors/w", json=form).status_code == 201
    taken = take(call, "a")
    refused = expect_problem(fork(call, "b", taken, quota_bytes=10_000), "quota-exceeded", 507)
    assert (refused["requested"], refused["limit"]) == (40_000, 10_000)
    assert fork(call, "b", taken, quota_bytes=100_000).status_code == 201


def test_snapshots_count_as_disk(call: Caller) -> None:
    begin(call, "a")
    disk = call._gate.front.sessions.disk
    assert disk is not None
    before = disk.used("default")
    taken = take(call, "a")
    assert disk.used("default") >= before + taken["bytes"]
    file = download(call, taken)
    disk.tenant_limit = disk.used("default") + taken["bytes"] // 2
    for refused in (
        call("POST", "/v1/sessions/a/snapshots"),
        fork(call, "b", taken),
        upload(call, "b", file),
    ):
        expect_problem(refused, "disk-full", 507)
    assert call("GET", "/v1/sessions/a/snapshots").json() == {"snapshots": [taken]}
    expect_problem(call("GET", "/v1/sessions/b"), "session-not-found", 404)
