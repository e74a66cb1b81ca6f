"""docs/howto: programs run, commands and settings are taken, and nginx passes what it must."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml
from gradd_server import cli
from gradd_server.settings import Settings

from tests.docs.test_pages import ROOT, blocks, run_python
from tests.server.test_reach import certificate
from tests.waiting import PATIENCE
from tools.walk.home import free_port

HOWTO = ROOT / "docs" / "howto"
PARTS = "serve|keys|unit|doctor|sessions|top|health|config"
COMMANDS = [
    pytest.param(command, id=f"{page.stem}: {command}")
    for page in sorted(HOWTO.glob("*.md"))
    for command in re.findall(rf"^ {{4,}}.*\bgradd ((?:{PARTS})\b[^|>#&\n]*)", page.read_text(), re.MULTILINE)
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one(command: str) -> None:
    arguments = cli.parser().parse_args(shlex.split(command))
    if command.startswith("serve"):
        assert Settings.load(vars(arguments), {}).auth
    assert callable(arguments.run)


def test_the_pages_have_commands() -> None:
    assert len(COMMANDS) > 12


@pytest.mark.parametrize("page", ["notebooks", "several-users"])
def test_programs_print_what_the_page_says(page: str, daemon: str, tmp_path: Path) -> None:
    # In a notebook a block may be indented in a list, and `await` stands in the cell.
    text = re.sub(r"^   (?=```|\S.*\n|$)", "", (HOWTO / f"{page}.md").read_text(), flags=re.MULTILINE)
    program = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    promised = re.findall(r"print\(.*\)  # (.+)$", program, re.MULTILINE)
    assert promised
    if "async def cell" in program:
        program = program.replace("session.close()", "import asyncio\n\nasyncio.run(cell())\nsession.close()")
    program = f"import os\n\nos.chdir({str(tmp_path)!r})\n{program}"
    assert run_python(program, GRADD_URL=daemon).splitlines() == promised


def test_the_service_takes_its_settings() -> None:
    said = dict(line.split("=") for line in blocks("docs/howto/systemd.md", "ini").splitlines())
    settings = Settings.load({}, said)
    assert (settings.workers, settings.tenant_bytes, settings.drain_timeout) == (2, 8 << 30, 30)


def test_the_container_is_that_of_the_compose_file() -> None:
    page = (HOWTO / "docker.md").read_text()
    services = yaml.safe_load((ROOT / "docker/compose.yaml").read_text())["services"]
    assert {*re.findall(r"compose.yaml exec (\S+) ", page)} == {*services}
    assert "127.0.0.1:4733" in page
    assert services["gradd"]["command"][-1] == "4733"


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of who comes through the page's nginx to a daemon that is started as the page says."""
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")
    chain, key = certificate(tmp_path)
    page, behind, before = (HOWTO / "tls-proxy.md").read_text(), free_port(), free_port()
    flags = re.search(r"^ +gradd (serve .*--root-path.*)$", page, re.MULTILINE)
    assert flags is not None
    site = blocks("docs/howto/tls-proxy.md", "nginx")
    for there, here in {
        "/etc/ssl/gpu.example.org/fullchain.pem": chain,
        "/etc/ssl/gpu.example.org/privkey.pem": key,
        "listen 443": f"listen 127.0.0.1:{before}",
        "127.0.0.1:4733": f"127.0.0.1:{behind}",
    }.items():
        assert there in site
        site = site.replace(there, str(here))
    temporary = "\n".join(
        f"{kind}_temp_path {tmp_path / kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"daemon off; pid {tmp_path / 'pid'}; events {{}} http {{ access_log off; {temporary} {site} }}"
    (tmp_path / "nginx.conf").write_text(whole)
    gradd = [sys.executable, "-m", "gradd_server"]
    environ = {**os.environ, "GRADD_DATA_DIR": str(tmp_path / "data")}
    commands = [
        [*gradd, *shlex.split(flags[1]), f"--port={behind}", "--workers=0", "--log-level=warning"],
        ["nginx", "-e", "stderr", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")],
    ]
    with ExitStack() as stack:
        for command in commands:
            process = stack.enter_context(subprocess.Popen(command, env=environ))
            stack.callback(process.terminate)
        made = subprocess.run(
            [*gradd, "keys", "create"], env=environ, capture_output=True, text=True, check=True
        )
        theirs = {
            "GRADD_URL": f"https://127.0.0.1:{before}/gradd",
            "GRADD_API_KEY": made.stdout.strip(),
            "SSL_CERT_FILE": str(chain),
        }
        wait = [*gradd, "health", "--wait", str(PATIENCE)]
        subprocess.run(wait, env={**os.environ, **theirs}, capture_output=True, check=True)
        yield theirs


def test_nginx_passes_all_that_a_script_needs(proxied: dict[str, str]) -> None:
    doctor = [sys.executable, "-m", "gradd_server", "doctor"]
    done = subprocess.run(doctor, env={**os.environ, **proxied}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "ok     stream     WebSockets pass" in done.stdout
    program = """
import gradd, numpy, httpx, os
for transport in ("stream", "http"):
    session = gradd.connect(transport=transport)
    x = gradd.from_numpy(numpy.ones(1 << 20)).requires_grad_()
    (x * x).sum().backward()
    print(x.grad.numpy().sum())
    session.close()
print(httpx.get(os.environ["GRADD_URL"] + "/").text[:15])
"""
    assert run_python(program, **proxied).split("\n")[:3] == ["2097152.0", "2097152.0", "<!doctype html>"]
