"""The TypeScript package: its types are strict, its tests pass under node against a daemon."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients.conftest import PACKAGE, key, package, run


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package and its tests as JavaScript."""
    return package(tmp_path_factory.mktemp("package"), "test")


def test_its_own_tests_pass(compiled: Path, daemon: str) -> None:
    tests = compiled / "dist-test" / "test" / "client.test.js"
    done = run("node", "--test", tests, cwd=compiled, env={"GRADD_URL": daemon, "GRADD_API_KEY": key(daemon)})
    assert done.returncode == 0, done.stdout
    assert "# pass 5" in done.stdout


def test_it_has_no_dependencies() -> None:
    assert "dependencies" not in json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))
