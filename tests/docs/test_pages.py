"""The pages keep their word: their programs run, their links lead somewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import httpx
import pytest

from tests.bearer import bearer
from tools.site.pages import lines_with_code
from tools.walk.home import commands

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "examples/*.md", "clients/*/*.md")
    for path in ROOT.glob(pattern)
)


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
    """What a shell makes of the program in the folder, where `gradd` is the command of this checkout, and
    `python` this interpreter.
    """
    return subprocess.run(
        ["sh", "-eu", "-c", program],
        cwd=folder,
        env={**os.environ, "PATH": commands(folder / "bin"), **environment},
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


def test_index(daemon: str) -> None:
    assert run_python(blocks("docs/index.md", "python"), GRADD_URL=daemon) == "tensor([6.])\n"


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


def test_dashboard(daemon: str) -> None:
    run_python(blocks("docs/dashboard.md", "python"), GRADD_URL=daemon)
    with httpx.Client(base_url=f"{daemon}/v1/sessions", headers=bearer(daemon), trust_env=False) as client:
        curves = client.get("training/series").json()["series"]
        client.delete("training")
    assert {name: curve["count"] for name, curve in curves.items()} == {"loss": 20, "lr": 20}


def test_speed(daemon: str) -> None:
    printed = run_python(blocks("docs/speed.md", "python"), GRADD_URL=daemon)
    assert printed.startswith("8 batches: 6 planned, 2 eager")
    assert printed.endswith("\nTrue\n")


def test_migrating(daemon: str) -> None:
    program = blocks("docs/migrating.md", "python")
    promised = re.findall(r"print\(.*\)  # (.+)$", program, re.MULTILINE)
    assert len(promised) >= 8
    assert run_python(program, GRADD_URL=daemon).splitlines() == promised


def test_migrating_runs_scripts_as_they_are(daemon: str, tmp_path: Path) -> None:
    script = "import sys, torch\nprint(torch.__name__, torch.ones(2).sum().item(), sys.argv[1:])\n"
    (tmp_path / "train.py").write_text(script)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "train.py").write_text(script)
    program = blocks("docs/migrating.md", "sh").replace("http://gpu-box:4733", daemon)
    done = run_shell(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"gradd 2.0 {said}" for said in (["--epochs", "3"], [], [])]


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


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    text = "".join(line for line, code in lines_with_code(page.read_text()) if not code)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)


def test_a_comment_in_code_is_no_heading(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# One\n\n```sh\n# two\n```\n\n## And three\n")
    assert anchors(tmp_path / "page.md") == {"one", "and-three"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    """To files that there are, and to headings of theirs."""
    targets = re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)", page.read_text())
    assert [target for target, _ in targets if not (page.parent / target).exists()] == []
    assert [
        f"{target}#{anchor}" for target, anchor in targets
        if anchor and anchor not in anchors((page.parent / target).resolve() if target else page)
    ] == []  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_to_other_sites_are_addresses(page: Path) -> None:
    addresses = re.findall(r"(?:\]\(|<)(\w+:[^)>\s]*)", page.read_text())
    assert [a for a in addresses if not re.fullmatch(r"https?://[\w.-]+(:\d+)?(/[\w./%~#?=&+-]*)?", a)] == []
