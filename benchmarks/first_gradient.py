"""How long does somebody with nothing but Python wait for a first gradient: environment, `pip install`,
daemon, script? Exits 1 where it is longer than a minute.

Packages are there already, as in pip's cache: what a download takes says nothing of gradd.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
BAR_SECONDS = 60.0
SCRIPT = """import gradd
x = gradd.tensor([3.0], requires_grad=True)
(x * x).sum().backward()
print(x.grad.tolist())"""


def collected(python: str, folder: Path) -> None:
    """Have gradd's wheel and those of all that it needs in a folder."""
    command = [python, "-m", "pip", "wheel", "--quiet", f"--wheel-dir={folder}", f"{ROOT}[server]"]
    subprocess.run(command, check=True)


@contextmanager
def served(gradd: Path, environ: Mapping[str, str]) -> Iterator[str]:
    """The address of a daemon that lives as long as this block."""
    command: list[str | Path] = [gradd, "serve", "--port=0"]
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as daemon:
        assert daemon.stderr is not None
        found = next(filter(None, (re.search(r"http://\S+:\d+", line) for line in daemon.stderr)), None)
        try:
            if found is None:
                raise SystemExit("the daemon ended before it served")
            yield found.group()
        finally:
            daemon.terminate()
            daemon.communicate()


def measured(python: str) -> dict[str, float]:
    """Seconds of each stage, one after the other. Raises SystemExit where the gradient is another."""
    with tempfile.TemporaryDirectory(prefix="gradd-first-") as there:
        home = Path(there)
        collected(python, home / "wheels")
        environ = {
            name: value for name, value in os.environ.items() if not name.startswith(("GRADD_", "PYTHON"))
        }
        environ |= {"HOME": there, "XDG_RUNTIME_DIR": ""}
        seconds: dict[str, float] = {}
        began = time.perf_counter()

        def done(stage: str) -> None:
            seconds[stage] = time.perf_counter() - began - sum(seconds.values())

        subprocess.run([python, "-m", "venv", home / "venv"], env=environ, check=True)
        done("venv")
        pip: list[str | Path] = [home / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-index"]
        subprocess.run([*pip, f"--find-links={home / 'wheels'}", "gradd[server]"], env=environ, check=True)
        done("pip install")
        with served(home / "venv/bin/gradd", environ) as url:
            done("gradd serve")
            printed = subprocess.run(
                [home / "venv/bin/python", "-c", SCRIPT], env=environ | {"GRADD_URL": url}, check=True,
                stdout=subprocess.PIPE, text=True,
            ).stdout  # fmt: skip
            done("script")
    if printed.strip() != "[6.0]":
        raise SystemExit(f"the gradient is {printed.strip()}, not [6.0]")
    return seconds


def report(seconds: Mapping[str, float]) -> str:
    """The stages in a line. Raises SystemExit, which says the same, where together they are above the bar."""
    total = sum(seconds.values())
    stages = ", ".join(f"{stage} {took:.1f} s" for stage, took in seconds.items())
    line = f"first gradient after {total:.1f} s (at most {BAR_SECONDS:.0f}): {stages}"
    if total > BAR_SECONDS:
        raise SystemExit(line)
    return line


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that somebody has")
    print(report(measured(parser.parse_args().python)))


if __name__ == "__main__":
    main()
