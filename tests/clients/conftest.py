"""What clients in other languages are generated with, and what they must compute.

npm packages are looked for in the folder GRADD_NODE_MODULES, openapi-python-client on PATH. Tests skip where
one is not there.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradd
import numpy as np
import pytest

from tests.bearer import bearer

ROOT = Path(__file__).parents[2]
OPENAPI = ROOT / "openapi.yaml"
PACKAGE = ROOT / "clients" / "typescript"
PROGRAMS = Path(__file__).parent / "programs"
PAGE = (ROOT / "docs" / "rest.md").read_text(encoding="utf-8")


def node_modules(*packages: str) -> Path:
    """The folder of npm packages that has these; else the test is skipped."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if "GRADD_NODE_MODULES" not in os.environ:
        pytest.skip("GRADD_NODE_MODULES names no folder of npm packages (CONTRIBUTING.md)")
    folder = Path(os.environ["GRADD_NODE_MODULES"])
    for package in packages:
        if not (folder / package / "package.json").exists():
            pytest.skip(f"{package} is not in {folder}")
    return folder


def run(
    *command: str | Path, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command that must not ask; ruff and what else is in our environment is on its PATH."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "PATH": path, "CI": "true", **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def package(folder: Path, project: str, more: Mapping[str, str] | None = None) -> Path:
    """The TypeScript package, copied to `folder` with `more` files in the folder of its project (`.`,
    `test`), which is compiled there.
    """
    modules = node_modules("typescript")
    for name in ("src", "test", "package.json", "tsconfig.json"):
        copy = shutil.copytree if (PACKAGE / name).is_dir() else shutil.copy
        copy(PACKAGE / name, folder / name)
    for name, text in (more or {}).items():
        (folder / project / name).write_text(text, encoding="utf-8")
    done = run("node", modules / "typescript" / "bin" / "tsc", "-p", project, cwd=folder)
    assert done.returncode == 0, done.stdout
    return folder


def generate(tool: Path, folder: Path) -> None:
    """Generate a client in `folder` as docs/rest.md says; the tool must complain about nothing."""
    (line,) = (line for line in PAGE.splitlines() if line.startswith("    ") and f"{tool.name} " in line)
    words = shlex.split(line.removeprefix("    npx "))
    assert words[0] == tool.name
    done = run(
        tool, *(ROOT / word if re.search(r"\.ya?ml$", word) else word for word in words[1:]), cwd=folder
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert not {"warn", "warning", "unable", "unsupported", "skipping"} & set(
        re.findall("[a-z]+", said.lower())
    ), said


def misspelled(program: Path, folder: Path, spellings: Mapping[str, str]) -> dict[str, Path]:
    """Copies of a program in `folder`, each with one thing spelled wrong; by the wrong spelling."""
    text = program.read_text(encoding="utf-8")
    copies = {}
    for number, (right, wrong) in enumerate(spellings.items()):
        assert right in text, right
        copies[wrong] = folder / f"wrong_{program.stem}_{number}{program.suffix}"
        copies[wrong].write_text(text.replace(right, wrong, 1), encoding="utf-8")
    return copies


def key(url: str) -> str:
    """The key of the local daemon at `url`."""
    return bearer(url)["Authorization"].removeprefix("Bearer ")


@pytest.fixture(scope="session")
def expected() -> dict[str, Any]:
    """What the programs print, computed in this process."""
    with gradd.connect("local:"):
        x = gradd.tensor([[0.1, 0.2], [0.3, -0.4], [1.5, 2.7]])
        w = gradd.tensor([[1.1], [-2.3]], requires_grad=True)
        t = gradd.tensor([[3.3], [0.7], [-1.9]])
        y = ((x @ w - t) ** 2).sum()
        y.backward()
        assert w.grad is not None
        return {"y": y.numpy(force=True), "grad": w.grad.numpy()}


def same(printed: Mapping[str, Any], expected: Mapping[str, np.ndarray]) -> None:
    """Assert that a program printed what was expected, to the bit, and was refused a second pass."""
    for name, value in expected.items():
        assert np.array(printed[name], np.float32).tobytes() == value.tobytes(), name
    assert printed["position"] == 4
    assert printed["because"] == "/problems/op-failed"
