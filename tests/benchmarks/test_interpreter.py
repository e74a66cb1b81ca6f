"""Which interpreter is measured, and what is said about it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from benchmarks import __main__ as command
from benchmarks import interpreter
from benchmarks.bench import Row
from benchmarks.interpreter import Interpreter, chosen, environment_of, look, others
from benchmarks.report import table
from benchmarks.versus import Figure


@pytest.fixture
def own() -> Interpreter:
    found = look(sys.executable, tries=1)
    assert found is not None
    return found


def test_it_is_asked_for_its_build_and_its_speed(own: Interpreter) -> None:
    assert own.version == sys.version.split()[0]
    assert own.base == sys.base_prefix
    assert 0 < own.turn < 1e6
    assert str(own).startswith(f"Interpreter: {own.version}, {own.compiler}, ")


@pytest.mark.parametrize(
    ("variables", "said", "words"),
    [
        ({"CONFIG_ARGS": "'--enable-optimizations' '--with-lto'"}, ["PGO", "LTO"], "built with PGO and LTO"),
        ({"PY_CORE_CFLAGS": "-O3 -fprofile-use"}, ["PGO"], "built with PGO;"),
        ({"Py_DEBUG": "1", "Py_GIL_DISABLED": "1"}, ["debug", "no GIL"], "built with debug and no GIL"),
        ({}, [], "which names neither PGO nor LTO"),
    ],
)
def test_what_a_build_says(own: Interpreter, variables: dict[str, str], said: list[str], words: str) -> None:
    of = msgspec.structs.replace(own, variables=dict.fromkeys(own.variables, "") | variables)
    assert of.said == said
    assert words in str(of)


def test_what_does_not_run_is_none(tmp_path: Path) -> None:
    assert look(str(tmp_path / "absent")) is None
    mute = tmp_path / "python3"
    mute.write_text("#!/bin/sh\necho hello\n")
    mute.chmod(0o755)
    assert look(str(mute)) is None


def test_others_are_those_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("python3", "python2"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{tmp_path / 'absent'}")
    assert others() == [str((tmp_path / "python3").resolve())]


@pytest.mark.parametrize(
    ("turn", "abi", "best"),
    [(0.5, None, "other"), (0.95, None, "own"), (2.0, None, "own"), (0.5, "cpython-27", "own")],
)
def test_the_fastest_that_has_these_packages_is_chosen(
    own: Interpreter, monkeypatch: pytest.MonkeyPatch, turn: float, abi: str | None, best: str
) -> None:
    other = msgspec.structs.replace(
        own, path="/other", base="/other", turn=turn * own.turn, abi=abi or own.abi
    )
    here = {sys.executable: own, own.path: own, "/other": other}
    monkeypatch.setattr(interpreter, "look", lambda path: here.get(path))
    monkeypatch.setattr(interpreter, "others", lambda: ["/absent", own.path, "/other"])
    assert chosen() is {"own": own, "other": other}[best]
    if abi is None:
        assert chosen("/other") is other
    else:
        with pytest.raises(SystemExit, match="the packages here are for"):
            chosen("/other")
    with pytest.raises(SystemExit, match="BENCH_PYTHON=/absent does not run"):
        chosen("/absent")


def test_another_one_gets_these_packages(own: Interpreter, tmp_path: Path) -> None:
    assert environment_of(own, tmp_path / "made") == sys.executable
    assert not (tmp_path / "made").exists()
    python = environment_of(msgspec.structs.replace(own, base="/other"), tmp_path / "made")
    assert Path(python).is_relative_to(tmp_path)
    code = "import gradd, gradd_server, numpy; print(gradd.__file__, numpy.__file__)"
    import gradd
    import numpy as np

    found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert found.stdout.split() == [gradd.__file__, np.__file__]


def test_it_goes_on_in_the_one_that_is_chosen(own: Interpreter, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[object] = []
    monkeypatch.setattr(interpreter, "chosen", lambda wanted: found.append(wanted) or own)
    monkeypatch.setattr(os, "execve", lambda *call: found.append(call))
    monkeypatch.setenv("BENCH_PYTHON", "/wanted")
    assert interpreter.run_on_best() is own
    assert found == ["/wanted"]
    monkeypatch.setattr(interpreter, "environment_of", lambda one: "/made/python")
    interpreter.run_on_best()
    path, line, environment = found[-1]  # type: ignore[misc]
    assert (path, line[0], line[1:]) == ("/made/python", "/made/python", sys.orig_argv[1:])
    assert environment["BENCH_PYTHON"] == "/made/python"


@pytest.mark.parametrize("slower", [False, True])
def test_against_another_commit_in_the_same_run(monkeypatch: pytest.MonkeyPatch, slower: bool) -> None:
    rows = [Row(work="step", value=1.0), Row(work="later")]
    turns = []

    def pair(question: str, base: Path, effort: str, here_first: bool, found: dict[str, Figure]) -> None:
        turns.append(here_first)
        found.setdefault("step", Figure("step", question)).times.append(1.2 if slower else 0.9)

    monkeypatch.setattr(command, "pair", pair)
    assert command.compare("q", rows, Path(), "smoke", 5) is slower
    assert turns == [True, False, True, False, True]
    ratio, verdict = (1.2, "worse") if slower else (0.9, "as before")
    assert [row.against for row in rows] == [f"{ratio:.3f} ({ratio:.3f} – {ratio:.3f}), {verdict}", ""]
    assert "beside the other" in table(rows)
    assert "beside the other" not in table(rows[1:])
