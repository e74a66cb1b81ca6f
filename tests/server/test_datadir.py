"""The data directory: private, one daemon at a time."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from gradd_server import datadir
from gradd_server.datadir import CannotCreate, DataDir, Locked, holder_url


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_made_private_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with DataDir(tmp_path / "a" / "data") as data:
            assert mode(data.path) == 0o700
            assert mode(data.path / "gradd.lock") == 0o600
    finally:
        os.umask(old)


def test_it_tells_when_it_takes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with DataDir(tmp_path / "data") as data:
        assert data.fault() == ""
        assert [path.name for path in data.path.iterdir()] == ["gradd.lock"]
        data.path.rename(tmp_path / "away")
        assert data.fault() == ""  # it has just looked
        monkeypatch.setattr(datadir, "LOOK_SECONDS", 0.0)
        assert data.fault() == "the data directory takes no files: No such file or directory"
        (tmp_path / "away").rename(data.path)
        assert data.fault() == ""


def test_an_empty_directory_is_shut_to_others(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.mkdir(mode=0o755)
    with DataDir(path):
        assert mode(path) == 0o700


def test_a_directory_of_other_files_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "home"
    path.mkdir(mode=0o755)
    (path / "letter").touch()
    with pytest.raises(CannotCreate, match="chmod 700"):
        DataDir(path)
    assert mode(path) == 0o755


def test_one_daemon_at_a_time(tmp_path: Path) -> None:
    with DataDir(tmp_path / "data") as first:
        first.publish("http://127.0.0.1:1")
        with pytest.raises(Locked, match=f"process {os.getpid()} at http://127.0.0.1:1"):
            DataDir(first.path)
        assert holder_url(first.path) == "http://127.0.0.1:1"
    with DataDir(first.path) as second:
        assert holder_url(second.path) is None


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "data"):
        with pytest.raises(CannotCreate):
            DataDir(path)


def test_nobody_holds_what_is_not_there(tmp_path: Path) -> None:
    assert holder_url(tmp_path / "none") is None
