"""Habits that are cheap to keep and dear to restore."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from gradd_protocol.version import VERSION

ROOT = Path(__file__).parents[2]
ROOMS = ("benchmarks", "client", "engine", "examples", "protocol", "runtime", "server", "tests", "tools")


def test_files_have_one_subject() -> None:
    """A file past 450 lines holds two subjects: split it by noun."""
    sizes = {
        path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines())
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
    }
    assert sizes
    assert {path: lines for path, lines in sizes.items() if lines > 450} == {}


TOP = {
    *ROOMS, ".ci", "clients", "docker", "docs",
    "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "Makefile", "pyproject.toml", "openapi.yaml",
    ".dockerignore", ".gitignore", ".spectral.yaml",
}  # fmt: skip


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_the_top_level_holds_nothing_else() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {path.partition("/")[0] for path in listed.stdout.split("\0") if path} == TOP


CLOCKS = {"time", "monotonic", "perf_counter", "process_time", "thread_time"}


def _timed(node: ast.AST, names: set[str]) -> bool:
    """Whether an expression reads a clock or a name that has its reading."""
    return any(
        (isinstance(n, ast.Attribute) and n.attr in CLOCKS and getattr(n.value, "id", "") == "time")
        or (isinstance(n, ast.Name) and n.id in names)
        or (isinstance(n, ast.Constant) and "perf_counter()" in str(n.value))  # in a script for a child
        for n in ast.walk(node)
    )


def _asserted_times(source: str) -> Iterator[int]:
    """The lines that assert fewer than ten seconds, in number, of what a clock said."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        names: set[str] = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and _timed(node.value, names):
                names |= {t.id for t in node.targets if isinstance(t, ast.Name)}
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "append":
                owner = node.func.value  # type: ignore[attr-defined]
                if isinstance(owner, ast.Name) and any(_timed(a, names) for a in node.args):
                    names.add(owner.id)
        for node in ast.walk(function):
            if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
                sides = [node.test.left, *node.test.comparators]
                numbers = [n.value for n in sides if isinstance(n, ast.Constant)]
                if any(isinstance(n, (int, float)) and n < 10 for n in numbers) and _timed(node.test, names):
                    yield node.lineno


def test_no_test_asserts_a_time() -> None:
    """Machines are slow and busy: wait up to PATIENCE, or compare within a run. Speed is for benchmarks."""
    found = {
        path.relative_to(ROOT).as_posix(): list(_asserted_times(path.read_text()))
        for path in (ROOT / "tests").rglob("*.py")
    }
    assert len(found) > 100
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("began = time.perf_counter(); work(); assert time.perf_counter() - began < 0.4", 1),
        ("took = []; took.append(time.monotonic() - began); assert sorted(took)[3] < 0.05", 1),
        ("script = 'print(time.perf_counter())'; assert float(run(script)) < 0.4", 1),
        ("end = time.monotonic() + PATIENCE; assert time.monotonic() < end", 0),
        ("began = time.process_time(); assert time.process_time() - began < 10.0", 0),
        ("assert count < 3", 0),
    ],
)
def test_a_planted_time_is_found(body: str, count: int) -> None:
    assert len(list(_asserted_times(f"def test() -> None:\n    {body}\n"))) == count


def test_the_packages_are_typed_for_their_users() -> None:
    packages = [init.parent for room in ROOMS for init in (ROOT / room).glob("gradd*/__init__.py")]
    assert len(packages) == 5
    assert [package.name for package in packages if not (package / "py.typed").exists()] == []


def test_one_version_everywhere() -> None:
    """The wheel takes its version from the protocol's; images and chart repeat it."""
    said = {
        name: re.findall(pattern, (ROOT / name).read_text())
        for name, pattern in {
            "docker/Dockerfile": r"ARG VERSION=(\S+)",
            "docker/bake.hcl": r'"VERSION" \{\s+default = "(\S+)"',
            "docker/compose.yaml": r"image: gradd:(\S+)",
            "docker/compose.tls.yaml": r"image: gradd:(\S+)",
            "docker/compose.cuda.yaml": r"image: gradd:(\S+)-cuda",
            "docker/helm/gradd/Chart.yaml": r"(?m)^(?:appV|v)ersion: (\S+)",
        }.items()
    }
    assert {name: set(versions) for name, versions in said.items()} == {name: {VERSION} for name in said}


def test_every_room_has_a_share_of_the_quick_tests() -> None:
    quick = [line.partition("::")[0] for line in (ROOT / "tests/quick.txt").read_text().splitlines()]
    assert [path for path in quick if not (ROOT / path).exists()] == []
    rooms = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("**/test_*.py")}
    # These need tools that gradd does not install.
    assert {Path(path).parts[1] for path in quick} == rooms - {"clients", "dashboard", "docker"}
