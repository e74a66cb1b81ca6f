"""`make packages`: how it judges what it tried. What the wheel has is in tests/architecture/test_wheel.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools import packages


def test_what_ends_with_another_code_is_a_fault() -> None:
    assert packages.tried("well", sys.executable, "-c", "") == packages.Check("well", "")
    assert packages.tried("ill", sys.executable, "-c", "raise SystemExit('why')").fault == "why"
    assert packages.tried("silent", sys.executable, "-c", "raise SystemExit(3)").fault == "exit code 3"


def test_interpreters_are_those_that_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, body in {"python3.11": "exit 0", "python3.12": "exit 1"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert packages.interpreters() == {"3.11": str(tmp_path / "python3.11")}


@pytest.mark.parametrize(("fault", "code"), [("", 0), ("it is broken", 1)])
def test_one_failure_fails_all(
    fault: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(packages, "interpreters", lambda: {"3.11": "python3.11"})
    made = iter([packages.Check("build", ""), packages.Check("check", fault)])
    monkeypatch.setattr(packages, "checked", lambda pythons, folder: made)
    assert packages.main([]) == code
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == f"{2 - code} passed, {code} failed"
    assert "3.14" in printed.out
    assert fault in printed.err
