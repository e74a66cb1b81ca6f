"""The code of op functions is kept from run to run."""

from __future__ import annotations

import importlib.util
import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest
from gradd_engine.declare.texts import Texts

TEXT = "def f(x):\n    return x + 1\n"


def test_what_was_kept_is_not_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "made" / "texts.codes"
    first = Texts(file)
    code = first.code(TEXT, "here")
    first.keep()
    monkeypatch.setattr("builtins.compile", lambda *given: pytest.fail("compiled"))
    again = Texts(file).code(TEXT, "here")
    assert again == code
    assert again.co_filename == "here"
    names: dict[str, object] = {}
    exec(again, names)
    assert names["f"](1) == 2  # type: ignore[operator]
    assert [each.name for each in file.parent.iterdir()] == ["texts.codes"]


@pytest.mark.parametrize(("text", "name"), [(TEXT + "\n", "here"), (TEXT, "there")])
def test_another_text_or_name_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, name: str
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "texts.codes"
    first = Texts(file)
    first.code(TEXT, "here")
    first.keep()
    before = file.read_bytes()
    second = Texts(file)
    assert second.code(text, name).co_filename == name
    second.keep()
    assert file.read_bytes() != before


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"what",
        importlib.util.MAGIC_NUMBER,
        importlib.util.MAGIC_NUMBER + b"\x00\x01",
        importlib.util.MAGIC_NUMBER + marshal.dumps([1]),
        b"\x00\x00\r\n" + marshal.dumps({}),
    ],
)
def test_a_file_that_is_none_is_as_if_it_were_not_there(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "texts.codes"
    file.write_bytes(data)
    assert Texts(file).code(TEXT, "here").co_filename == "here"


def test_a_folder_that_cannot_be_written_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "file").write_text("")
    texts = Texts(tmp_path / "file" / "texts.codes")
    assert texts.code(TEXT, "here").co_filename == "here"
    texts.keep()
    assert (tmp_path / "file").read_text() == ""


def test_where_python_writes_no_code_none_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    texts = Texts(tmp_path / "texts.codes")
    texts.code(TEXT, "here")
    texts.keep()
    assert list(tmp_path.iterdir()) == []


def test_the_second_import_compiles_no_function_of_an_op(tmp_path: Path) -> None:
    script = (
        "import builtins, sys\n"
        "compile, seen = builtins.compile, []\n"
        "builtins.compile = lambda *a, **k: (seen.append(str(a[1])), compile(*a, **k))[1]\n"
        "import gradd\n"
        "print(sum('calls.py:' in name for name in seen), gradd.add.__doc__[:3])\n"
    )
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    counts = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        counts.append(int(done.stdout.split()[0]))
    assert counts[0] > 500
    assert counts[1] == 0
