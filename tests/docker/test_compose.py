"""The compose files and what they mount: linted, and run here, each server on a loopback port of its own.

`caddy` and `prometheus` are packages of Debian's; where one is absent, its test is skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from gradd_server.cli import parser
from gradd_server.settings import Settings

from tests.docs.test_pages import run_python
from tests.waiting import PATIENCE
from tools.walk.home import commands, free_port

DOCKER = Path(__file__).parents[2] / "docker"
SET = yaml.safe_load((DOCKER / "compose.tls.yaml").read_text())
CADDYFILE = DOCKER / "Caddyfile"
PROMETHEUS = DOCKER / "prometheus.yml"
GRADIENT = """
import gradd
session = gradd.connect()
x = gradd.tensor([3.0], requires_grad=True)
(x * x).sum().backward()
print(x.grad.tolist(), session.url)
"""
#: An environment without the test run's own settings and proxies.
ENVIRON = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith("GRADD_") and "proxy" not in name.lower()
}


def installed(tool: str) -> str:
    """The path of a tool; skips the test where there is none."""
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"{tool} is not installed")
    return found


def come(ask: Any) -> Any:
    """What `ask` answers when it is something, and no refused connection."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if answer := ask():
                return answer
        except httpx.TransportError:
            pass
        assert time.monotonic() < end
        threading.Event().wait(0.05)


@contextmanager
def running(command: list[str | Path], **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives as long as this block."""
    with subprocess.Popen(command, env=ENVIRON | environ, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(PATIENCE)


@dataclass(frozen=True)
class Served:
    """A daemon with the flags of the set: its ports, its data directory, and where the scraper's key is."""

    port: int
    admin: int
    data: Path
    key: Path

    def create(self, *flags: str) -> str:
        """A key of this daemon's."""
        command = [sys.executable, "-m", "gradd_server", "keys", "create", f"--data-dir={self.data}", *flags]
        return subprocess.run(command, env=ENVIRON, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The daemon as the set starts it, but on loopback, where its proxy is as well."""
    made = Served(free_port(), free_port(), tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("keys"))
    changed = {
        "--host=0.0.0.0": "--host=127.0.0.1",
        "--allowed-hosts=${GRADD_HOSTNAME:-localhost},gradd": "--allowed-hosts=localhost,gradd",
        "--forwarded-allow-ips=10.0.0.0/8,172.16.0.0/12,192.168.0.0/16": "--forwarded-allow-ips=127.0.0.1",
        "--admin=0.0.0.0:9473": f"--admin=127.0.0.1:{made.admin}",
    }
    flags = SET["services"]["gradd"]["command"]
    assert set(changed) < set(flags)
    command = [sys.executable, "-m", "gradd_server", *(changed.get(flag, flag) for flag in flags)]
    with running([*command, f"--port={made.port}", f"--data-dir={made.data}", "--workers=0"]) as process:
        come(lambda: httpx.get(f"http://127.0.0.1:{made.port}/readyz", trust_env=False).is_success)
        yield made
        process.terminate()
        assert process.wait(PATIENCE) == 0


def scraper_key(served: Served, folder: Path) -> str:
    """What the set's first step leaves for Prometheus, run in this folder."""
    step = SET["services"]["scraper-key"]
    assert step["entrypoint"] == ["sh", "-c"]
    command = [*step["entrypoint"], step["command"][0].replace("/run/gradd", str(served.key))]
    environ = ENVIRON | {"PATH": commands(folder / "bin"), "GRADD_DATA_DIR": str(served.data)}
    subprocess.run(command, env=environ, check=True, capture_output=True)
    return (served.key / "scraper.key").read_text()


@pytest.mark.parametrize("file", sorted(DOCKER.glob("compose*.yaml")), ids=lambda file: file.name)
def test_compose_files_are_such(file: Path) -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", file]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_what_the_set_mounts_is_there_and_all_is_locked_down() -> None:
    for name, service in SET["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        mounts = [volume.split(":") for volume in service["volumes"]]
        assert all((DOCKER / source).exists() for source, *_ in mounts if source.startswith("./")), name
        assert {source for source, *_ in mounts if not source.startswith("./")} <= set(SET["volumes"])
    published = {name: service.get("ports", []) for name, service in SET["services"].items()}
    reached = {name for name, ports in published.items() if any(p[:10] != "127.0.0.1:" for p in ports)}
    assert reached == {"caddy"}
    assert published["gradd"] == []


def extended(path: Path) -> dict[str, Any]:
    """The one service of a file, over the one that it extends: mappings by their keys, and what else there is
    as a whole.
    """

    def over(base: Any, more: Any) -> Any:
        if not isinstance(base, dict) or not isinstance(more, dict):
            return more
        return base | {key: over(base.get(key), value) for key, value in more.items()}

    (service,) = yaml.safe_load(path.read_text())["services"].values()
    base = service.pop("extends")
    below = yaml.safe_load((path.parent / base["file"]).read_text())["services"][base["service"]]
    found: dict[str, Any] = over(below, service)
    return found


def test_on_a_gpu_it_is_the_same_daemon_with_another_image_device_and_volume() -> None:
    plain = yaml.safe_load((DOCKER / "compose.yaml").read_text())
    cuda = yaml.safe_load((DOCKER / "compose.cuda.yaml").read_text())
    (before,) = plain["services"].values()
    service = extended(DOCKER / "compose.cuda.yaml")
    assert {key for key in service if service[key] != before.get(key)} == {
        "image",
        "build",
        "command",
        "deploy",
    }
    assert service["image"] == f"{before['image']}-cuda"
    assert service["build"] == {**before["build"], "target": "cuda"}
    assert service["command"] == [*before["command"], "--device", "cuda"]
    (device,) = service["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": 1, "capabilities": ["gpu"]}
    volumes = {volume.partition(":")[0] for volume in service["volumes"]}
    assert volumes == set(cuda["volumes"]) == set(plain["volumes"])
    assert cuda["name"] != plain["name"]


def test_the_gpus_image_has_what_its_service_relies_on() -> None:
    """Its health check, and a place in the volume for what is compiled, as the root is read-only."""
    service = extended(DOCKER / "compose.cuda.yaml")
    stages = (DOCKER / "Dockerfile").read_text().split("\nFROM ")
    (stage,) = [
        text for text in stages if text.partition("\n")[0].endswith(f" AS {service['build']['target']}")
    ]
    assert 'CMD ["gradd", "health"]' in stage
    kept = re.search(r"CUPY_CACHE_DIR=(\S+)", stage)
    assert kept is not None
    assert kept[1].startswith(service["volumes"][0].partition(":")[2])


def test_the_gpus_daemon_is_told_what_it_knows() -> None:
    flag = parser().parse_args(extended(DOCKER / "compose.cuda.yaml")["command"])
    settings = Settings.load(vars(flag), {})
    assert (settings.device, settings.host, settings.port) == ("cuda", "127.0.0.1", 4733)


def test_the_scrapers_key_is_made_once(served: Served, tmp_path: Path) -> None:
    key = scraper_key(served, tmp_path)
    assert key.startswith("gradd_")
    assert scraper_key(served, tmp_path) == key
    headers = {"Authorization": f"Bearer {key.strip()}", "Host": "gradd:9473"}
    metrics = httpx.get(f"http://127.0.0.1:{served.admin}/metrics", headers=headers, trust_env=False)
    assert metrics.status_code == 200
    assert "gradd_ready 1.0" in metrics.text


def test_caddy_takes_its_file() -> None:
    command = [installed("caddy"), "validate", "--adapter=caddyfile", f"--config={CADDYFILE}"]
    done = subprocess.run(
        command,
        env=ENVIRON | {"GRADD_HOSTNAME": "gpu.example.org"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Valid configuration" in done.stdout + done.stderr


def test_a_gradient_through_caddy(served: Served, tmp_path: Path) -> None:
    caddy, http, https = installed("caddy"), free_port(), free_port()
    config = tmp_path / "Caddyfile"
    ports = f"default_bind 127.0.0.1\n\thttp_port {http}\n\thttps_port {https}"
    text = CADDYFILE.read_text().replace("admin off", f"admin off\n\t{ports}")
    config.write_text(text.replace("gradd:4733", f"127.0.0.1:{served.port}"))
    root = tmp_path / "caddy/pki/authorities/local/root.crt"
    command = [caddy, "run", "--adapter=caddyfile", f"--config={config}"]
    with running(command, GRADD_HOSTNAME="localhost", XDG_DATA_HOME=str(tmp_path), HOME=str(tmp_path)):
        come(root.exists)
        come(lambda: httpx.get(f"http://127.0.0.1:{http}/", trust_env=False).status_code)
        url = f"https://localhost:{https}"
        moved = httpx.get(f"http://127.0.0.1:{http}/livez", headers={"Host": "localhost"}, trust_env=False)
        assert moved.status_code == 308
        assert moved.headers["location"] == "https://localhost/livez"
        key = served.create("--tenant=proxied")
        said = run_python(GRADIENT, GRADD_URL=url, GRADD_API_KEY=key, SSL_CERT_FILE=str(root))
        assert said.split() == ["[6.0]", url]
        headers, trusted = {"Authorization": f"Bearer {key}"}, ssl.create_default_context(cafile=root)
        with httpx.Client(base_url=url, headers=headers, verify=trusted, trust_env=False) as client:
            assert client.get("/v1/sessions", headers={"Origin": url}).status_code == 200
            refused = client.get("/v1/sessions", headers={"Origin": "https://example.org"})
            assert refused.json()["type"].endswith("origin-refused")
            with client.stream("GET", "/v1/live", headers={"Accept": "text/event-stream"}) as live:
                assert next(live.iter_lines())


def test_promtool_takes_its_file(tmp_path: Path) -> None:
    key = tmp_path / "scraper.key"
    key.write_text("gradd_")
    config = tmp_path / "prometheus.yml"
    config.write_text(PROMETHEUS.read_text().replace("/run/gradd/scraper.key", str(key)))
    command = [installed("promtool"), "check", "config", config]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_scrapes_the_daemon(served: Served, tmp_path: Path) -> None:
    prometheus, port = installed("prometheus"), free_port()
    scraper_key(served, tmp_path)
    text = PROMETHEUS.read_text()
    for there, here in {
        "/run/gradd/scraper.key": str(served.key / "scraper.key"),
        "gradd:9473": f"127.0.0.1:{served.admin}",
        "scrape_interval: 15s": "scrape_interval: 1s",
    }.items():
        assert there in text
        text = text.replace(there, here)
    config = tmp_path / "prometheus.yml"
    config.write_text(text)
    command = [
        prometheus, f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip

    def asked(query: str) -> list[dict[str, Any]]:
        answer = httpx.get(f"http://127.0.0.1:{port}/api/v1/query", params={"query": query}, trust_env=False)
        return list(answer.json()["data"]["result"]) if answer.status_code == 200 else []

    with running(command):
        (up,) = come(lambda: asked('up{job="gradd"} == 1'))
        assert up["metric"]["instance"] == f"127.0.0.1:{served.admin}"
        names = {row["metric"]["__name__"] for row in asked('{__name__=~"gradd_.+"}')}
    assert {"gradd_ready", "gradd_sessions", "gradd_batches_total", "gradd_limit"} <= names
