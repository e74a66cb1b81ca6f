"""The pages keep their word: their programs run, their links lead somewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def blocks(page: str, language: str) -> str:
    """The program that a page's blocks of one language make together."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    assert found, f"{page} has no {language} block"
    return "\n".join(found)


def run_python(program: str, **environment: str) -> str:
    """The output of the program, in a process of its own, where warnings are errors."""
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_shell(program: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a shell makes of the program in the folder, where `gradd` is the command of this checkout."""
    command = folder / "bin" / "gradd"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m gradd_server "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-eu", "-c", program],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_readme_learns_the_signs() -> None:
    accuracy = re.search(r"^accuracy (\S+)$", run_python(blocks("README.md", "python")), re.MULTILINE)
    assert accuracy is not None
    assert float(accuracy[1]) > 0.95


@pytest.mark.oracle
def test_readme_is_a_torch_script() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    program = blocks("README.md", "python")
    program = re.sub(
        r"^torch\.connect\(.*\n", "", program.replace("import gradd as torch", "import torch"), flags=re.M
    )
    assert float(run_python(program).split()[-1]) > 0.95


def test_autograd(daemon: str) -> None:
    printed = run_python(blocks("docs/autograd.md", "python"), GRADD_URL=daemon).splitlines()
    assert printed[:3] == ["[2.0, 4.0, 5.0] 1", "[2.0, 4.0, 6.0]", "12.0 12.0"]
    assert "SumBackward0" in printed[3]
    assert printed[-3:] == ["MulBackward0", "torch.Size([3, 2]) torch.Size([2, 2])", "True"]


def test_asyncio(daemon: str) -> None:
    program = blocks("docs/asyncio.md", "python")
    promised = re.findall(r"print\(.*\)  # (.+)$", program, re.MULTILINE)
    assert len(promised) >= 6
    assert run_python(program, GRADD_URL=daemon).splitlines() == promised


def test_arrays() -> None:
    printed = run_python(blocks("docs/arrays.md", "python"))
    assert printed.startswith("[5.0, 10.0] [[0.6")


def test_speed(daemon: str) -> None:
    printed = run_python(blocks("docs/speed.md", "python"), GRADD_URL=daemon)
    assert printed.startswith("8 batches: 6 planned, 2 eager")
    assert printed.endswith("\nTrue\n")


def test_migrating(daemon: str) -> None:
    program = blocks("docs/migrating.md", "python")
    promised = re.findall(r"print\(.*\)  # (.+)$", program, re.MULTILINE)
    assert len(promised) >= 8
    assert run_python(program, GRADD_URL=daemon).splitlines() == promised


@pytest.mark.oracle
def test_from_torch(daemon: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    printed = run_python(blocks("docs/from-torch.md", "python"), GRADD_URL=daemon).splitlines()
    assert printed[:3] == ["<class 'gradd.nn.linear.Linear'> True", "2 21", "True True False"]
    assert printed[3].endswith("aten.fake_quantize_per_tensor_affine_cachemask.default")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_quickstart_in_curl(daemon: str, tmp_path: Path) -> None:
    program = (
        blocks("docs/quickstart.md", "sh")
        .replace("http://127.0.0.1:4733", daemon)
        .replace("curl ", "curl -fsS ")
    )
    done = run_shell(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r'"w\.grad": ?\{[^}]*"data": ?\[6\.0\]', done.stdout), done.stdout


@pytest.mark.parametrize("page", [p for p in PAGES if p.name != "CHANGELOG.md"], ids=lambda page: page.name)
def test_lines_are_as_long_as_everywhere(page: Path) -> None:
    """But for rows of tables, what is quoted (JSON that goes to and fro), what commands print, and links."""
    console = re.compile(r"^```console\n.*?^```$", re.DOTALL | re.MULTILINE)
    text = console.sub(lambda block: "\n" * block[0].count("\n"), page.read_text())
    lines = [(n, re.sub(r"\(https?://[^)\s]+\)", "", line)) for n, line in enumerate(text.splitlines(), 1)]
    assert [n for n, line in lines if len(line) > 120 and not line.startswith(("|", "    "))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []
