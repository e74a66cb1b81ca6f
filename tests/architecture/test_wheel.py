"""What the wheel has, file by file; `make packages` installs and uses it on every Python."""

from __future__ import annotations

import email
import subprocess
import sys
import zipfile
from email.message import Message
from pathlib import Path

import pytest
from gradd_protocol.version import VERSION

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "client": "gradd",
    **{name: f"gradd_{name}" for name in ("engine", "protocol", "runtime", "server")},
}
INFO = f"gradd-{VERSION}.dist-info"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", f"--wheel-dir={folder}", ROOT]
    subprocess.run(command, check=True)
    (file,) = folder.iterdir()
    assert file.name == f"gradd-{VERSION}-py3-none-any.whl"
    return zipfile.ZipFile(file)


@pytest.fixture
def metadata(wheel: zipfile.ZipFile) -> Message:
    return email.message_from_bytes(wheel.read(f"{INFO}/METADATA"))


def test_it_has_the_packages_whole_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    held = {name for name in wheel.namelist() if not name.startswith(INFO)}
    kept = {
        path.relative_to(ROOT / folder).as_posix()
        for folder, package in PACKAGES.items()
        for path in (ROOT / folder / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert held == kept
    assert [name for name in held if "test_" in name or "conftest" in name] == []


def test_it_has_the_dashboard_the_unit_types_and_license(wheel: zipfile.ZipFile) -> None:
    held = set(wheel.namelist())
    assert {f"{package}/py.typed" for package in PACKAGES.values()} <= held
    assert {"gradd_server/page/index.html", "gradd_server/page/main.js"} <= held
    assert "gradd_server/commands/gradd.service" in held
    assert wheel.read(f"{INFO}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert b"gradd = gradd_server.__main__:main" in wheel.read(f"{INFO}/entry_points.txt")


def test_a_client_needs_five_packages(metadata: Message) -> None:
    needs = [need for need in metadata.get_all("Requires-Dist", []) if "extra ==" not in need]
    assert [need.partition(">=")[0] for need in needs] == [
        "httpx",
        "ml-dtypes",
        "msgspec",
        "numpy",
        "websockets",
    ]


def test_it_says_which_pythons_it_is_for(metadata: Message) -> None:
    said = [
        line.rpartition(" ")[2]
        for line in metadata.get_all("Classifier", [])
        if line.startswith("Programming Language :: Python :: 3.")
    ]
    assert metadata["Requires-Python"] == f">={said[0]}"
    assert said == sorted(said, key=lambda version: int(version.partition(".")[2]))
