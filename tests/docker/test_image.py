"""The image, built and run as its users run it. `make test-docker` selects these tests; they take minutes.

PODMAN is the engine's command and what stands before it (default: podman, else docker); BASE, the base image.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.waiting import PATIENCE

pytestmark = pytest.mark.container
ROOT = Path(__file__).parents[2]
IMAGE = "gradd:test"
MOST_BYTES = 250_000_000
"""Uncompressed; a base of one's own may have its own size."""
LOCKED_DOWN = [
    "--network=host",
    "--read-only",
    "--tmpfs=/tmp",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
]


def answers(command: list[str]) -> bool:
    """Whether an engine stands behind the command: its client alone builds nothing."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run([*command, "info"], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def engine() -> list[str]:
    named = os.environ.get("PODMAN")
    candidates = [shlex.split(named)] if named else [["podman"], ["docker"]]
    for command in candidates:
        if answers(command):
            return command
    pytest.skip(f"no container engine answers: {', '.join(shlex.join(command) for command in candidates)}")


@pytest.fixture(scope="module")
def image(engine: list[str]) -> str:
    base = os.environ.get("BASE")
    arguments = ["--build-arg", f"BASE={base}"] if base else []
    # podman's own image format has no place for a health check.
    environment = {"BUILDAH_FORMAT": "docker", **os.environ}
    build = [*engine, "build", "--file=docker/Dockerfile", f"--tag={IMAGE}", *arguments, "."]
    subprocess.run(build, cwd=ROOT, env=environment, check=True)
    return IMAGE


@dataclass(frozen=True)
class Daemon:
    """A container that serves: its engine's foreground process, where it listens, and a key for it."""

    process: subprocess.Popen[str]
    url: str
    key: str


@pytest.fixture(scope="module")
def daemon(engine: list[str], image: str) -> Iterator[Daemon]:
    """A running container. It stays in the foreground: its log is our pipe and its signals are ours."""
    started = time.perf_counter()
    name = f"gradd-{os.getpid()}"
    command = [*engine, "run", "--rm", f"--name={name}", *LOCKED_DOWN, image, "serve", "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        log = []
        for line in process.stdout:
            log.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                break
        else:
            pytest.fail("the container ended before it served:\n" + "".join(log))
        print(f"start time: {time.perf_counter() - started:.2f} s")
        local = [*engine, "exec", name, "gradd", "keys", "local"]
        key = subprocess.run(local, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        yield Daemon(process, found.group(), key)
        if process.poll() is None:
            process.terminate()


def test_image_is_described(engine: list[str], image: str) -> None:
    found = subprocess.run([*engine, "image", "inspect", image], capture_output=True, text=True, check=True)
    (description,) = json.loads(found.stdout)
    print(f"image size: {description['Size'] / 1e6:.0f} MB")
    if "BASE" not in os.environ:
        assert description["Size"] <= MOST_BYTES
    config = description["Config"]
    health = config.get("Healthcheck") or description["Healthcheck"]  # Docker's place, podman's
    assert config["User"] == "10001:10001"
    assert config["Entrypoint"] == ["gradd"]
    assert config["StopSignal"] in ("SIGTERM", "15")
    assert config["Volumes"] == {"/var/lib/gradd": {}}
    assert health["Test"] == ["CMD", "gradd", "health"]
    assert config["Labels"]["org.opencontainers.image.licenses"] == "Apache-2.0"


def test_container_serves_a_gradient(daemon: Daemon) -> None:
    headers = {"Authorization": f"Bearer {daemon.key}"}
    with httpx.Client(base_url=daemon.url, headers=headers, trust_env=False) as http:
        assert http.get("/readyz").status_code == 200
        assert http.put("/v1/sessions/image").status_code == 201
        put = http.put(
            "/v1/sessions/image/tensors/x",
            json={"data": [1.0, 2.0], "dtype": "float32", "requires_grad": True},
        )
        assert put.status_code == 201
        steps = [
            {"op": "mul", "inputs": ["x", "x"], "outputs": ["%s"]},
            {"op": "sum", "inputs": ["%s"], "outputs": ["y"]},
            {"op": "backward", "inputs": ["y"]},
        ]
        reply = http.post("/v1/sessions/image/batches", json={"steps": steps, "fetch": ["x.grad"]})
        assert reply.status_code == 200, reply.text
        assert reply.json()["results"]["x.grad"]["data"] == [2.0, 4.0]


def test_health_command_agrees(engine: list[str], image: str, daemon: Daemon) -> None:
    health = [*engine, "run", "--rm", *LOCKED_DOWN, image, "health", f"--url={daemon.url}"]
    assert subprocess.run(health, check=False).returncode == 0


def test_it_holds_what_serves_and_no_more(engine: list[str], image: str) -> None:
    """Neither pip nor a compiler nor anybody's tests come along."""
    look = (
        "import importlib.util as u, pathlib, shutil, sysconfig;"
        "site = pathlib.Path(sysconfig.get_path('purelib'));"
        "print(u.find_spec('pip'), shutil.which('gcc'), *site.glob('numpy/**/tests'))"
    )
    command = [*engine, "run", "--rm", *LOCKED_DOWN, "--entrypoint=/opt/gradd/bin/python3", image, "-c", look]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout.split() == ["None", "None"]


def test_stop_is_graceful(daemon: Daemon) -> None:
    """The last test of the file: SIGTERM, as the engine's `stop` sends it, ends the daemon with 0."""
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(timeout=PATIENCE) == 0
