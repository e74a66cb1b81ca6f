"""`make setup` on machines that lack something: it says what, and exits 2."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def setup_with(tmp_path: Path, module: str, body: str) -> subprocess.CompletedProcess[str]:
    """Run `make setup` with an interpreter that sees `body` in the place of the module `module`."""
    (tmp_path / f"{module}.py").write_text(body)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    command = ["make", "setup", f"PYTHON={python}"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("module", "body", "says"),
    [
        (
            "ensurepip",
            "raise ModuleNotFoundError('No module named ensurepip')",
            "apt-get install python3-venv",
        ),
        ("sitecustomize", "import sys; sys.version_info = (3, 10, 0)", "needs Python 3.11 or newer"),
    ],
)
def test_setup_names_what_is_missing(tmp_path: Path, module: str, body: str, says: str) -> None:
    done = setup_with(tmp_path, module, body)
    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_setup_without_python_says_so(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    command = ["make", "setup", "PYTHON=no-such-python"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "needs Python 3.11 or newer" in done.stderr
