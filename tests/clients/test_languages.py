"""The programs of docs/clients.md: each language trains the model that the SDK does, to the bit."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import gradd
import numpy as np
import pytest

from tests.clients.conftest import ROOT, key, package, run
from tests.docs.test_pages import blocks

FOLDER = Path("build", "clients")


def program(language: str) -> str:
    """The program of the page in a language."""
    return blocks("docs/clients.md", language)


def needs(*tools: str) -> None:
    """Skip the test unless these are on PATH."""
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not on PATH (CONTRIBUTING.md)")


def named_folder(variable: str, of: str) -> Path:
    """The folder that a variable of the environment names; else the test is skipped."""
    if variable not in os.environ:
        pytest.skip(f"{variable} names no folder of {of} (CONTRIBUTING.md)")
    return Path(os.environ[variable])


def generate(language: str, folder: Path) -> Path:
    """Generate a client with the options of clients/, as `make clients` does; the folder of its program."""
    needs("openapi-generator-cli", "java")
    shutil.copy(ROOT / "openapi.yaml", folder)
    shutil.copy(ROOT / "clients" / f"{language}.yaml", folder)
    done = run("openapi-generator-cli", "batch", f"{language}.yaml", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.search(r"\bERROR\b|Exception", done.stdout + done.stderr), done.stdout + done.stderr
    return folder / FOLDER / language


def go(folder: Path) -> Sequence[str | Path]:
    needs("go")
    project = generate("go", folder)
    (project / "main.go").write_text(program("go"))
    assert run("go", "mod", "init", "train", cwd=project).returncode == 0
    made = run("go", "build", "-o", "train", ".", cwd=project, env={"GOPROXY": "off", "GOTOOLCHAIN": "local"})
    assert made.returncode == 0, made.stderr
    return [project / "train"]


def rust(folder: Path) -> Sequence[str | Path]:
    needs("cargo")
    crates = named_folder("GRADD_CRATES", "crates")
    project = generate("rust", folder)
    (project / "src").mkdir()
    (project / "src" / "main.rs").write_text(program("rust"))
    # Loopback needs no TLS, which would need a compiler for C.
    (project / "Cargo.toml").write_text(
        '[package]\nname = "train"\nedition = "2021"\n[dependencies]\nserde_json = "1"\n'
        'gradd = { path = "gradd", default-features = false }\n'
    )
    folder_of_crates = ("source.crates-io.replace-with='folder'", f"source.folder.directory='{crates}'")
    given = [part for setting in folder_of_crates for part in ("--config", setting)]
    made = run("cargo", "build", "--offline", *given, cwd=project)
    assert made.returncode == 0, made.stderr
    return [project / "target" / "debug" / "train"]


def java(folder: Path) -> Sequence[str | Path]:
    needs("javac")
    jars = f"{named_folder('GRADD_JARS', 'jars')}/*"
    project = generate("java", folder)
    (project / "Train.java").write_text(program("java"))
    sources = [str(path) for path in sorted((project / "gradd" / "src" / "main").rglob("*.java"))]
    made = run("javac", "-cp", jars, "-d", "classes", "Train.java", *sources, cwd=project)
    assert made.returncode == 0, made.stderr
    return ["java", "-cp", f"{jars}{os.pathsep}{project / 'classes'}", "Train"]


def ts(folder: Path) -> Sequence[str | Path]:
    package(folder, ".", {"src/train.ts": program("ts").replace('"gradd"', '"./index.js"')})
    return ["node", folder / "dist" / "train.js"]


def sh(folder: Path) -> Sequence[str | Path]:
    needs("curl")
    (folder / "train.sh").write_text(program("sh"))
    return ["sh", "-eu", folder / "train.sh"]


LANGUAGES: dict[str, Callable[[Path], Sequence[str | Path]]] = {
    "go": go,
    "rust": rust,
    "java": java,
    "ts": ts,
    "sh": sh,
}
"""What makes the program of a language in a folder, and the command that runs it."""


@pytest.fixture(scope="module")
def trained() -> dict[str, Any]:
    """What the programs print, computed in this process."""
    with gradd.connect("local:"):
        x = gradd.tensor([[0.0], [1.0], [2.0], [3.0]])
        y = gradd.tensor([[1.0], [3.0], [5.0], [7.0]])
        w = gradd.zeros(1, 1, requires_grad=True)
        b = gradd.zeros(1, requires_grad=True)
        steps, loss = 0, gradd.tensor(1.0)
        while loss.item() >= 1e-4:
            steps += 1
            w.grad = b.grad = None
            loss = (x @ w + b - y).pow(2).mean()
            loss.backward()
            assert w.grad is not None
            assert b.grad is not None
            with gradd.no_grad():
                w.sub_(w.grad, alpha=0.1)
                b.sub_(b.grad, alpha=0.1)
        values = {"%loss": loss, "w": w, "b": b, "w.grad": w.grad}
        return {"steps": steps, "results": {name: t.numpy(force=True) for name, t in values.items()}}


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_trains_as_the_sdk_does(
    language: str, tmp_path: Path, daemon: str, trained: Mapping[str, Any]
) -> None:
    command = LANGUAGES[language](tmp_path)
    done = run(*command, cwd=tmp_path, env={"GRADD_URL": daemon, "GRADD_API_KEY": key(daemon)})
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed.get("steps", 20) == trained["steps"] == 20
    for name, value in printed["results"].items():
        assert np.array(value["data"], np.float32).tobytes() == trained["results"][name].tobytes(), name
    assert printed["results"].keys() == trained["results"].keys()
