"""The typed program of docs/tutorials/javascript.md; its walk runs the others."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from tests.clients.conftest import key, node_modules, run
from tests.clients.test_package import PACKAGE
from tests.clients.test_typescript import compile
from tests.docs.test_pages import blocks


def test_the_typed_program_prints_what_the_page_says(daemon: str, tmp_path: Path) -> None:
    modules = node_modules("typescript")
    there, package = tmp_path / "node_modules", tmp_path / "node_modules" / "gradd"
    there.mkdir()
    (there / "typescript").symlink_to(modules / "typescript")
    (there / ".bin").symlink_to(modules / ".bin")
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("node_modules", "dist*"))
    done = run(modules / ".bin" / "tsc", "-p", ".", cwd=package)
    assert done.returncode == 0, done.stdout

    program = blocks("docs/tutorials/javascript.md", "ts")
    (tmp_path / "package.json").write_text(json.dumps({"type": "module"}))
    (tmp_path / "node.d.ts").write_text(
        "declare const process: { env: Record<string, string | undefined> };\n"
    )
    (tmp_path / "typed.ts").write_text(program)
    status, said = compile(tmp_path, tmp_path / "node.d.ts", tmp_path / "typed.ts")
    assert status == 0, said
    done = run("node", "js/typed.js", cwd=tmp_path, env={"GRADD_URL": daemon, "GRADD_API_KEY": key(daemon)})
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"console\.log\(.*\); // (.+)$", program, re.MULTILINE)
    assert len(promised) == 3
    assert done.stdout.splitlines() == promised
