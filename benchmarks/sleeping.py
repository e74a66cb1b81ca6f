"""10,000 named sessions with a small model each, asleep: what memory they take, and how long it takes to wake
one and to start the daemon again. Exits 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from gradd_protocol import runtimefile

from .daemon import family
from .leak import resident

COUNT = 10_000
#: what they may take together with front and engine process; of that, when one process has sessions leave
BYTES, ENGINE_BYTES = 2 << 30, 512 << 20
#: wakings that are measured
WAKINGS = 500
#: longest start without sessions (s)
START_SECONDS = 2.0
#: inputs, hidden and outputs of the model: 4,810 numbers
SIZES = (32, 64, 42)


class Daemon:
    """A `gradd serve`, with how long it took to be ready."""

    def __init__(self, data: Path) -> None:
        began = time.perf_counter()
        command = [sys.executable, "-m", "gradd_server", "serve", "--port=0", f"--data-dir={data}"]
        flags = [
            f"--sessions={2 * COUNT}",
            f"--tenant-sessions={2 * COUNT}",
            "--workers=1",
            "--threads=1",
            f"--engine-memory={ENGINE_BYTES}",
            "--log-level=warning",
        ]
        self.process = subprocess.Popen([*command, *flags], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        found = re.search(r"http://\S+:\d+", self.process.stderr.readline())
        if found is None:
            raise SystemExit("the daemon ended before it served")
        url = found.group()
        local = runtimefile.find(url)
        assert local is not None
        self.client = httpx.Client(
            base_url=url, headers={"authorization": f"Bearer {local.key}"}, timeout=600, trust_env=False
        )
        while self.client.get("/readyz").status_code != 200:
            """It listens already."""
        self.seconds = time.perf_counter() - began
        self.pids = family(self.process.pid)

    @property
    def memory(self) -> list[int]:
        """Bytes in RAM of the front and the engine process."""
        return [resident(pid) for pid in self.pids]

    @property
    def files(self) -> int:
        """How many both have open."""
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids)

    @property
    def states(self) -> dict[str, int]:
        """Sessions by state."""
        found: dict[str, int] = self.client.get("/v1/status").json()["engines"][0]["sessions"]
        return found

    def stop(self) -> None:
        """End it as an operator does."""
        self.client.close()
        self.process.terminate()
        self.process.communicate()

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def fill(client: httpx.Client, name: str) -> None:
    """A model of two layers, and a step of training."""
    inputs, hidden, outputs = SIZES
    made = client.put(f"/v1/sessions/{name}")
    assert made.is_success, made.text
    for tensor, (rows, columns) in {
        "w1": (inputs, hidden),
        "b1": (1, hidden),
        "w2": (hidden, outputs),
    }.items():
        data = [[0.5] * columns] * rows
        body = {"data": data, "dtype": "float32", "requires_grad": True}
        assert client.put(f"/v1/sessions/{name}/tensors/{tensor}", json=body).is_success
    steps: list[dict[str, Any]] = [
        {"op": "randn", "attrs": {"size": [8, inputs]}, "outputs": ["%x"]},
        {"op": "addmm", "inputs": ["b1", "%x", "w1"], "outputs": ["%h"]},
        {"op": "relu", "inputs": ["%h"], "outputs": ["%r"]},
        {"op": "matmul", "inputs": ["%r", "w2"], "outputs": ["%y"]},
        {"op": "sum", "inputs": ["%y"], "outputs": ["loss"]},
        {"op": "backward", "inputs": ["loss"]},
    ]
    done = client.post(f"/v1/sessions/{name}/batches", json={"steps": steps})
    assert done.is_success, done.text


def wake(client: httpx.Client, names: list[str]) -> list[float]:
    """Seconds until each has answered what a session has to be awake for."""
    taken = []
    for name in names:
        began = time.perf_counter()
        done = client.get(f"/v1/sessions/{name}/tensors/b1.grad")
        taken.append(time.perf_counter() - began)
        assert done.is_success, done.text
    return taken


def listed(client: httpx.Client) -> tuple[int, float]:
    """How many sessions the list has, and how long it took."""
    began, token, count = time.perf_counter(), "", 0
    while True:
        page = client.get("/v1/sessions", params={"page_size": 1000, "page_token": token}).json()
        count += len(page["sessions"])
        token = page.get("next_page_token", "")
        if not token:
            return count, time.perf_counter() - began


def milliseconds(taken: list[float]) -> str:
    """Median and 99th percentile."""
    marks = statistics.quantiles(taken, n=100)
    return f"p50 {1e3 * statistics.median(taken):.1f} ms, p99 {1e3 * marks[98]:.1f} ms"


def say(what: str, daemon: Daemon) -> int:
    """Print what the daemon holds; its bytes."""
    front, engine = daemon.memory[:2]
    states = {state: count for state, count in daemon.states.items() if count}
    held = f"front {front >> 20} MiB, engine process {engine >> 20} MiB, {daemon.files} files open"
    print(f"{what}: {held}, {states}", flush=True)
    return front + engine


def main() -> None:
    """Fill, restart, wake."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=COUNT)
    count = parser.parse_args().sessions
    names = [f"model-{n:05}" for n in range(count)]
    sample = min(WAKINGS, count)
    with tempfile.TemporaryDirectory(prefix="gradd-bench-") as home:
        data = Path(home) / "data"
        with Daemon(data) as daemon:
            empty = daemon.seconds
            print(f"ready without sessions after {empty:.2f} s")
            say("empty", daemon)
            began = time.perf_counter()
            most = 0
            for n, name in enumerate(names):
                fill(daemon.client, name)
                if n % 100 == 0:
                    most = max(most, sum(daemon.memory))
            took = time.perf_counter() - began
            print(f"{count} sessions made in {took:.0f} s, {1e3 * took / count:.1f} ms each")
            most = max(most, say("made", daemon))
            began = time.perf_counter()
        print(f"stopped in {time.perf_counter() - began:.1f} s")
        on_disk = sum(path.stat().st_blocks * 512 for path in data.rglob("*"))
        print(f"{on_disk / count / 1024:.0f} KiB on the disk each")
        with Daemon(data) as daemon:
            again = daemon.seconds
            print(f"ready with {count} sessions after {again:.2f} s")
            say("restarted", daemon)
            found, seconds = listed(daemon.client)
            assert found == count
            print(f"all listed in {seconds:.2f} s")
            slept = say("listed", daemon)
            taken = wake(daemon.client, random.Random(2).sample(names, sample))
            print(f"a sleeping session answers: {milliseconds(taken)}")
            say("woken", daemon)
    print(f"most memory while all were made: {most >> 20} MiB; asleep: {slept >> 20} MiB")
    raise SystemExit(int(max(most, slept) > BYTES or empty > START_SECONDS or again > 2 * START_SECONDS))


if __name__ == "__main__":
    main()
