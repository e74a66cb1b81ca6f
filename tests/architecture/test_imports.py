"""The rooms of the house: who may import whom, and what importing the SDK costs."""

from __future__ import annotations

import graphlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "client/gradd",
    "engine/gradd_engine",
    "protocol/gradd_protocol",
    "runtime/gradd_runtime",
    "server/gradd_server",
)
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]

# One wrong import a contract, each in a module of its own.
VIOLATIONS = {
    "layers": ("engine/gradd_engine", "import gradd_protocol"),
    "engine": ("engine/gradd_engine/data", "from ..backward import executor"),
    "ops": ("engine/gradd_engine/ops/shape", "from ..nn import conv"),
    "runtime": ("runtime/gradd_runtime/store", "import gradd_runtime.plan"),
    "sdk": ("client/gradd/_mirror", "if TYPE_CHECKING:\n    from .._session import Session"),
    "server": ("server/gradd_server", "import gradd_engine"),
    "local": ("client/gradd", "import gradd_runtime"),
    "cupy": ("engine/gradd_engine", "import cupy"),
    "numba": ("runtime/gradd_runtime/store", "import numba"),
    "fastapi": ("server/gradd_server", "import fastapi"),
    "pure": ("protocol/gradd_protocol", "import asyncio"),
    "light": ("client/gradd", "import pydantic"),
    "torch": ("runtime/gradd_runtime/store", "import torch"),
}


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the packages below `tree`, which go before any that are installed."""
    rooms = os.pathsep.join(str(tree / Path(package).parent) for package in PACKAGES)
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": rooms},
        capture_output=True,
        text=True,
        check=False,
    )


def test_contracts_hold() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_contract_catches_a_planted_violation(tmp_path: Path) -> None:
    assert set(VIOLATIONS) == {contract["id"] for contract in CONTRACTS}
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (package, line) in VIOLATIONS.items():
        (tmp_path / package / f"planted_{name}.py").write_text(f"{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{len(CONTRACTS)} broken" in done.stdout, done.stdout


def circle(*packages: str) -> list[str]:
    """Modules of which each imports the next, in functions too; empty where there are none."""
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=True, cache_dir=None)
    order = graphlib.TopologicalSorter({m: graph.find_modules_directly_imported_by(m) for m in graph.modules})
    try:
        order.prepare()
    except graphlib.CycleError as found:
        return list(found.args[1])
    return []


def test_import_graph_has_no_circle() -> None:
    assert circle(*(Path(package).name for package in PACKAGES)) == []


def test_a_planted_circle_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "gradd_planted"
    room.mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    (room / "__init__.py").write_text("")
    (room / "first.py").write_text("from gradd_planted.second import two\n")
    (room / "second.py").write_text("two = 2\n")
    assert circle("gradd_planted") == []
    (room / "second.py").write_text("def two():\n    from . import first\n    return first\n")
    assert set(circle("gradd_planted")) == {"gradd_planted.first", "gradd_planted.second"}


def test_importing_the_sdk_loads_nothing_of_the_server() -> None:
    heavy = {
        "cupy",
        "fastapi",
        "gradd_runtime",
        "gradd_server",
        "numba",
        "pydantic",
        "starlette",
        "torch",
        "uvicorn",
    }
    script = "import sys, gradd; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "gradd" in loaded
    assert not heavy.intersection(loaded)
