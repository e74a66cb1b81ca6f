"""The Python client that openapi-python-client generates from openapi.yaml."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import PROGRAMS, generate, key, misspelled, run, same

SPELLINGS = {
    'outputs=["%h"]': 'output=["%h"]',
    "requires_grad=True": "require_grad=True",
    "fetch=[": "fetsch=[",
    "done.position": "done.positon",
    "Dtype.FLOAT32": "Dtype.FLAOT32",
    "retain_graph=": "retain_grpah=",
    "refused.type_.value": "refused.tpye_.value",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the generated package and the program that uses it."""
    generator = shutil.which("openapi-python-client")
    if generator is None:
        pytest.skip("openapi-python-client is not on PATH (CONTRIBUTING.md)")
    pytest.importorskip("attrs")
    folder: Path = tmp_path_factory.mktemp("python")
    generate(Path(generator), folder)
    shutil.copy(PROGRAMS / "python_client.py", folder)
    return folder


def test_it_computes_the_gradient(project: Path, daemon: str, expected: Mapping[str, Any]) -> None:
    done = run(
        sys.executable,
        "python_client.py",
        cwd=project,
        env={"GRADD_URL": daemon, "GRADD_API_KEY": key(daemon)},
    )
    assert done.returncode == 0, done.stderr
    same(json.loads(done.stdout), expected)


def test_its_types_reject_what_is_misspelled(project: Path) -> None:
    pytest.importorskip("mypy")
    copies = misspelled(project / "python_client.py", project, SPELLINGS)
    checked = [project / "python_client.py", *copies.values()]
    mypy = (sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=")
    said = run(*mypy, *(file.name for file in checked), cwd=project).stdout
    assert {wrong for wrong, copy in copies.items() if f"{copy.name}:" not in said} == set(), said
    assert "python_client.py:" not in said.replace("wrong_python_client", ""), said
