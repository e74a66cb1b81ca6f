"""Habits that are cheap to keep and dear to restore."""

from __future__ import annotations

import re
from pathlib import Path

from gradd_protocol.version import VERSION

ROOT = Path(__file__).parents[2]
ROOMS = ("benchmarks", "client", "engine", "examples", "protocol", "runtime", "server", "tests")


def test_files_have_one_subject() -> None:
    """A file past 450 lines holds two subjects: split it by noun."""
    sizes = {
        path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines())
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
    }
    assert sizes
    assert {path: lines for path, lines in sizes.items() if lines > 450} == {}


def test_the_packages_are_typed_for_their_users() -> None:
    packages = [init.parent for room in ROOMS for init in (ROOT / room).glob("gradd*/__init__.py")]
    assert len(packages) == 5
    assert [package.name for package in packages if not (package / "py.typed").exists()] == []


def test_one_version_everywhere() -> None:
    """The wheel takes its version from the protocol's; the images repeat it."""
    said = {
        name: re.findall(pattern, (ROOT / name).read_text())
        for name, pattern in {
            "docker/Dockerfile": r"ARG VERSION=(\S+)",
            "docker/Dockerfile.cuda": r"ARG VERSION=(\S+)",
            "docker/compose.yaml": r"image: gradd:(\S+)",
        }.items()
    }
    assert said == {name: [VERSION] for name in said}


def test_every_room_has_a_share_of_the_quick_tests() -> None:
    quick = [line.partition("::")[0] for line in (ROOT / "tests/quick.txt").read_text().splitlines()]
    assert [path for path in quick if not (ROOT / path).exists()] == []
    rooms = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert {Path(path).parent.name for path in quick} == rooms - {"docker"}
