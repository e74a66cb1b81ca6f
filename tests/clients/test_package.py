"""The TypeScript package: its types are strict, its tests pass under node against a daemon."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.clients.conftest import PACKAGE, key, package, run
from tests.docs.test_pages import blocks

#: node's types are no dependency
DECLARED = "declare const process: { env: { GRADD_URL: string; GRADD_API_KEY: string } };\n"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package and its tests as JavaScript."""
    readme = f"{DECLARED}{blocks('clients/typescript/README.md', 'ts')}".replace(
        '"gradd"', '"../src/index.js"'
    )
    readme = readme.replace('"http://127.0.0.1:4733"', "process.env.GRADD_URL")
    return package(tmp_path_factory.mktemp("package"), "test", {"readme.ts": readme})


def test_its_own_tests_pass(compiled: Path, daemon: str) -> None:
    tests = compiled / "dist-test" / "test" / "client.test.js"
    done = run("node", "--test", tests, cwd=compiled, env={"GRADD_URL": daemon, "GRADD_API_KEY": key(daemon)})
    assert done.returncode == 0, done.stdout
    assert "# pass 5" in done.stdout


def test_its_readme_learns(compiled: Path, daemon: str) -> None:
    program = compiled / "dist-test" / "test" / "readme.js"
    done = run("node", program, cwd=compiled, env={"GRADD_URL": daemon, "GRADD_API_KEY": key(daemon)})
    assert done.returncode == 0, done.stderr
    first, *_, last = re.findall(r"^[\d.e-]+$", done.stdout, re.MULTILINE)
    assert float(last) < float(first) / 1000


def test_it_has_no_dependencies() -> None:
    assert "dependencies" not in json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))
