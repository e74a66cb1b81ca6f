"""docs/cluster.md by hand: its commands, in order, make a cluster on this machine, which is used then."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import gradd
import pytest

from tests.faults.daemon import Daemon
from tests.faults.nodes import STORE_BYTES, family
from tests.waiting import PATIENCE

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="needs ray: pip install 'gradd[ray]'"
)

PAGE = (Path(__file__).parents[2] / "docs/cluster.md").read_text()


def command(start: str) -> str:
    """The page's first command that begins so."""
    found = re.search(rf"^    ({re.escape(start)}.*?)(?:  +#.*)?$", PAGE, re.MULTILINE)
    assert found, start
    return found[1]


@contextmanager
def running(said: str, log: Path, environ: Mapping[str, str]) -> Iterator[None]:
    """`ray start` and all that it starts, until the block ends."""
    extra = "" if "--block" in said else " --block"
    words = shlex.split(f"{said}{extra} --object-store-memory={STORE_BYTES}")
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [Path(sys.executable).with_name(words[0]), *words[1:]], stdout=sink, stderr=sink, env=environ
        )
    try:
        end = time.monotonic() + PATIENCE
        while "This command will now block" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            threading.Event().wait(0.05)
        yield
    finally:
        under = [*family(process.pid), process.pid]
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(3)
        for pid in under:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(PATIENCE)


def test_the_pages_commands_make_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ray.util import get_node_ip_address

    monkeypatch.chdir(tmp_path)
    token = command("python3 -c").replace("python3", shlex.quote(sys.executable))
    subprocess.run(token, shell=True, check=True)
    for name, value in re.findall(r'(\w+)="?([^" ]+)"?', command("export RAY_AUTH_MODE")):
        monkeypatch.setenv(name, value.replace("$PWD", str(tmp_path)))
    with socket.create_server(("", 0)) as found:
        port = str(found.getsockname()[1])
    head = f"{get_node_ip_address()}:{port}"
    with ExitStack() as stack:
        short = stack.enter_context(tempfile.TemporaryDirectory(prefix="ray-"))  # for names of sockets
        first = command("ray start --head").replace("--port=6379", f"--port={port}")
        stack.enter_context(running(f"{first} --temp-dir={short}", tmp_path / "head.log", os.environ))
        node = command("ray start --address=HEAD:6379 --resources").replace("HEAD:6379", head)
        for n in range(2):
            stack.enter_context(running(node, tmp_path / f"node-{n}.log", os.environ))
        serve = shlex.split(command("gradd serve --placement ray").replace("HEAD:6379", head))
        flags = [flag.replace("/shared/gradd", str(tmp_path / "data")) for flag in serve[2:]]
        daemon = stack.enter_context(Daemon(tmp_path, *flags))
        with gradd.connect(daemon.url, session="by-hand") as session:
            w = gradd.ones(3, requires_grad=True)
            ((w * 2) ** 2).sum().backward()
            assert w.grad.tolist() == [8.0, 8.0, 8.0]
            assert len(session.info().node or "") > 8
        gradd.delete_session("by-hand", daemon.url)
