"""Makes a golden store: a data directory that every later version must open, and what it holds.

    python -m tests.server.golden.make tests/server/golden/0.1.0

Run it once for a release, or where the format changed, and commit what it made; never over one.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gradd
import httpx
from gradd_server.keys import KeyFile

from tests.bearer import bearer
from tests.processes import gone
from tests.server.test_stopping import Daemon
from tests.waiting import PATIENCE

TENANTS = {"training": "default", "hooked": "acme"}
"""The sessions, and whose they are."""
KEY = {"idempotency-key": "once"}
SQUARES = {
    "steps": [
        {"op": "mul", "inputs": ["w", "w"], "outputs": ["squares"]},
        {"op": "sum", "inputs": ["squares"], "outputs": ["loss"]},
    ],
    "fetch": ["loss"],
}
HALVE = {
    "tensor": "w",
    "steps": [{"op": "mul", "inputs": ["%g", 0.5], "outputs": ["%half"]}],
    "outputs": ["%half"],
}


class Asking:
    """Asks a daemon over a data directory for what is in it, as each session's own tenant."""

    def __init__(self, data: Path) -> None:
        self.daemon = Daemon(data, "--workers", "1")
        secret, _ = KeyFile(data).create("acme")
        self.headers = {"default": bearer(self.daemon.url), "acme": {"Authorization": f"Bearer {secret}"}}

    def __call__(self, session: str, method: str, path: str, **request: Any) -> httpx.Response:
        headers = {**self.headers[TENANTS[session]], **request.pop("headers", {})}
        url = f"{self.daemon.url}/v1/sessions/{session}{path}"
        answer = httpx.request(method, url, headers=headers, timeout=PATIENCE, trust_env=False, **request)
        return answer.raise_for_status()

    def json(self, session: str, path: str) -> Any:
        return self(session, "GET", path, headers={"accept": "application/json"}).json()


@contextmanager
def asking_of(data: Path) -> Iterator[Asking]:
    """`Asking`, of a daemon that ends with the block."""
    asking = Asking(data)
    try:
        yield asking
    except BaseException:
        asking.daemon.process.kill()
        asking.daemon.end()
        raise
    asking.daemon.process.terminate()
    code, log = asking.daemon.end()
    assert code == 0, log


def fill(asking: Asking) -> None:
    """Make the sessions."""
    with gradd.connect(asking.daemon.url, "training") as session:
        gradd.manual_seed(7)
        w = gradd.tensor([1.0, 2.0, 3.0], requires_grad=True)
        optimizer = gradd.optim.SGD([w], lr=0.25, momentum=0.5)
        for _ in range(4):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
        session["w"] = w
        session["drawn"] = gradd.randint(0, 1000, (4,))
        session["large"] = gradd.ones(1 << 18) + gradd.tensor([1.0] * (1 << 18))  # an upload that is a blob
        session["view"] = w.detach()[1:]
        session["waits"] = (w * w * w).sum()  # whose backward pass is yet to come
    asking("hooked", "PUT", "")
    w = {"data": [[1.0, 2.0], [3.0, 4.0]], "dtype": "float64", "shape": [2, 2], "requires_grad": True}
    asking("hooked", "PUT", "/tensors/w", json=w)
    asking("hooked", "PUT", "/hooks/halve", json=HALVE)
    asking("hooked", "POST", "/batches", json=SQUARES, headers=KEY)


def add(asking: Asking) -> None:
    """Entries after the snapshots that the end of the daemon took."""
    later = {"data": [5.0], "dtype": "float32", "shape": [1]}
    asking("training", "PUT", "/tensors/later", json=later)
    asking(
        "hooked",
        "POST",
        "/batches",
        json={"steps": [{"op": "mul", "inputs": ["w", 2.0], "outputs": ["doubled"]}]},
    )


def told(asking: Asking) -> dict[str, Any]:
    """What the sessions say of themselves, but for what may differ from version to version: what they take in
    memory, how often they were asked, and what earlier versions do not tell.
    """
    found: dict[str, Any] = {}
    for session in TENANTS:
        info = asking.json(session, "")
        for differs in ("bytes", "messages", "round_trips"):
            del info[differs]
        for newer in ("restored", "asleep"):
            info.pop(newer, None)
        tensors = asking.json(session, "/tensors")["tensors"]
        names = [tensor["name"] for tensor in tensors if tensor["name"] and tensor["name"] != "large"]
        found[session] = {
            "info": info,
            "tensors": sorted(tensors, key=lambda tensor: tensor["id"]),
            "values": {name: asking.json(session, f"/tensors/{name}") for name in sorted(names)},
            "hooks": asking.json(session, "/hooks"),
        }
    found["training"]["large"] = sum(asking.json("training", "/tensors/large")["data"])
    found["training"]["graph"] = asking.json("training", "/tensors/waits/graph")
    found["hooked"]["graph"] = asking.json("hooked", "/tensors/loss/graph")
    return found


def gone_on(asking: Asking) -> dict[str, Any]:
    """What comes of going on: a pass through the graph and the hook that were kept, an answer that was, and
    the next numbers of the random stream.
    """
    again = asking("hooked", "POST", "/batches", json=SQUARES, headers=KEY)
    asking("hooked", "POST", "/tensors/loss:backward")
    asking("training", "POST", "/tensors/waits:backward")
    draw = {
        "steps": [
            {"op": "randint", "inputs": [], "attrs": {"low": 0, "high": 1000, "size": [4]}, "outputs": ["%d"]}
        ],
        "fetch": ["%d"],
    }
    return {
        "again": again.json(),
        "replayed": again.headers.get("gradd-replayed"),
        "hooked": asking.json("hooked", "/tensors/w.grad"),
        "training": asking.json("training", "/tensors/w.grad"),
        "drawn": asking("training", "POST", "/batches", json=draw).json(),
    }


def make(folder: Path) -> None:
    """Make `folder` with `sessions`, as in a data directory, and `expected.json`."""
    folder.mkdir(parents=True)
    work = folder / "work"
    work.mkdir(mode=0o700)
    with asking_of(work / "data") as asking:
        fill(asking)
    killed = Asking(work / "data")
    add(killed)
    engines = killed.daemon.engines()
    killed.daemon.process.kill()
    killed.daemon.end()
    assert all(map(gone, engines))
    shutil.copytree(work / "data" / "sessions", folder / "sessions")
    with asking_of(work / "data") as asking:
        said = {"told": told(asking), "gone_on": gone_on(asking)}
    (folder / "expected.json").write_text(json.dumps(said, indent=1, sort_keys=True) + "\n")
    shutil.rmtree(work)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
