"""No two classes have one name, but for the pairs that are one thing seen from two sides."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("client", "engine", "protocol", "runtime", "server")
#: the SDK's proxy and what it stands for: an engine tensor, and a session of the daemon
TWO_SIDES = {"Session", "Tensor"}


def _classes(package: Path) -> dict[str, list[str]]:
    """Public classes by name, with their files."""
    found = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(package.parent)))
    return found


def _shared(packages: list[Path]) -> dict[str, list[str]]:
    """Names of more than one class."""
    found = defaultdict(list)
    for package in packages:
        for name, files in _classes(package).items():
            found[name] += files
    return {name: files for name, files in found.items() if len(files) > 1}


def test_a_class_has_a_name_of_its_own() -> None:
    assert set(_shared([ROOT / package for package in PACKAGES])) == TWO_SIDES


def test_a_second_class_of_a_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Plan: ...\nclass _Own: ...\n")
    (tmp_path / "two.py").write_text("class Plan: ...\nclass _Own: ...\n")
    assert set(_shared([tmp_path])) == {"Plan"}
