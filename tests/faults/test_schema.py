"""Requests made from openapi.yaml by schemathesis, good and bad, to a daemon: none makes it fail.

`GRADD_REQUESTS` says how many it makes of each operation in its last phase (`make faults`: 50, about 4,000 in
all; `make soak`: 700), `GRADD_REQUESTS_SEED` which.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.faults.daemon import Daemon

REQUESTS = os.environ.get("GRADD_REQUESTS", "1")
SEED = os.environ.get("GRADD_REQUESTS_SEED", "1")
#: what it says while it cannot: not built, away, no room
SAID = {"503", "507"}

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("schemathesis") is None, reason="schemathesis is not installed"
)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path, "--no-auth") as made:
        yield made


def test_requests_of_the_schema(daemon: Daemon, tmp_path: Path, tally: Callable[..., None]) -> None:
    demo = "/v1/sessions/demo"  # the name in its examples
    with httpx.Client(base_url=daemon.url, trust_env=False) as client:
        client.put(demo)
        for name in ("w", "x"):
            form = {"data": [1.0, 2.0], "dtype": "float32", "requires_grad": True}
            assert client.put(f"{demo}/tensors/{name}", json=form).is_success
    phases = "examples,fuzzing" if REQUESTS == "1" else "examples,coverage,fuzzing,stateful"
    ran = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli", "run", f"{daemon.url}/openapi.yaml", "--no-color",
            "--suppress-health-check", "all", "--checks", "not_a_server_error",
            "--max-examples", REQUESTS, "--seed", SEED, "--phases", phases,
        ],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    made = re.search(r"([\d,]+) generated", ran.stdout)
    assert made is not None, ran.stdout + ran.stderr
    failures = set(re.findall(r"^\[(5\d\d)\]", ran.stdout, re.MULTILINE)) - SAID
    assert not failures, ran.stdout
    assert daemon.process.poll() is None
    tally("requests made from openapi.yaml", int(made[1].replace(",", "")), differing=len(failures))
