"""The TypeScript clients that are generated from openapi.yaml: types of openapi-typescript, and hey-api's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import PROGRAMS, generate, key, misspelled, node_modules, run, same

COMPILER = {
    "module": "node16",
    "target": "es2022",
    "lib": ["es2022", "dom", "dom.iterable"],
    "strict": True,
    "skipLibCheck": True,
    "types": [],
    "outDir": "js",
}
SPELLINGS = {
    'outputs: ["%h"]': 'output: ["%h"]',
    "requires_grad: true": "require_grad: true",
    "fetch: [": "fetsch: [",
    "{ results, position }": "{ results, positon: position }",
    'dtype: "float32"': 'dtype: "flaot32"',
    "retain_graph": "retain_grpah",
    "{ dim: [0, 1] }": "{ dim: { slise: [0, 1] } }",
}
TOOLS = {
    "openapi_fetch.ts": ("openapi-typescript", "openapi-typescript", "openapi-fetch"),
    "hey_api.ts": ("openapi-ts", "@hey-api/openapi-ts"),
}
"""What generates the client of a program, and the packages it takes."""


@pytest.fixture(scope="module", params=TOOLS)
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the generated client and the program that uses it."""
    tool, *packages = TOOLS[request.param]
    modules = node_modules("typescript", *packages)
    folder: Path = tmp_path_factory.mktemp("typescript")
    (folder / "node_modules").symlink_to(modules)
    (folder / "package.json").write_text("{}")
    generate(modules / ".bin" / tool, folder)
    shutil.copy(PROGRAMS / request.param, folder / "right.ts")
    return folder


def compile(project: Path, *files: Path) -> tuple[int, str]:
    """Compile files of the project: the exit status of tsc, and what it found."""
    (project / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": COMPILER, "files": [file.name for file in files]})
    )
    done = run(project / "node_modules/.bin/tsc", "-p", ".", cwd=project)
    return done.returncode, done.stdout + done.stderr


def test_it_computes_the_gradient(project: Path, daemon: str, expected: Mapping[str, Any]) -> None:
    status, said = compile(project, project / "right.ts")
    assert status == 0, said
    done = run("node", "js/right.js", cwd=project, env={"GRADD_URL": daemon, "GRADD_API_KEY": key(daemon)})
    assert done.returncode == 0, done.stderr
    same(json.loads(done.stdout), expected)


def test_its_types_reject_what_is_misspelled(project: Path) -> None:
    copies = misspelled(project / "right.ts", project, SPELLINGS)
    status, said = compile(project, *copies.values())
    assert status != 0
    assert {wrong for wrong, copy in copies.items() if f"{copy.name}(" not in said} == set()
