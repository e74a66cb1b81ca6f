"""The runtime file: for the same user, and for no other."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from gradd_protocol import runtimefile
from gradd_protocol.runtimefile import NotPrivate, RuntimeFile

URL = "http://127.0.0.1:4733"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"GRADD_RUNTIME_DIR": str(tmp_path / "run")}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_written_is_found(environ: dict[str, str]) -> None:
    assert runtimefile.find(URL, environ) is None
    path = runtimefile.write(URL, "secret", environ)
    assert runtimefile.find(URL, environ) == RuntimeFile(URL, "secret", os.getpid())
    runtimefile.remove(path, "another's")
    assert path.exists()
    runtimefile.remove(path, "secret")
    assert runtimefile.find(URL, environ) is None


def test_file_and_folder_are_private_whatever_the_umask(environ: dict[str, str]) -> None:
    old = os.umask(0)
    try:
        path = runtimefile.write(URL, "secret", environ)
    finally:
        os.umask(old)
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)


def test_a_later_daemons_file_takes_the_place(environ: dict[str, str]) -> None:
    path = runtimefile.write(URL, "old", environ)
    assert runtimefile.write(URL, "new", environ) == path
    runtimefile.remove(path, "old")
    found = runtimefile.find(URL, environ)
    assert found is not None
    assert found.key == "new"
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("bits", [0o644, 0o640, 0o602, 0o620, 0o604])
def test_a_file_that_others_can_get_at_is_refused(environ: dict[str, str], bits: int) -> None:
    runtimefile.write(URL, "secret", environ).chmod(bits)
    with pytest.raises(NotPrivate, match="0600"):
        runtimefile.find(URL, environ)


def test_a_file_of_another_user_is_refused(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    owner = runtimefile.write(URL, "secret", environ).stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(NotPrivate):
        runtimefile.find(URL, environ)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_cannot_read_it(environ: dict[str, str], tmp_path: Path) -> None:
    path = runtimefile.write(URL, "secret", environ)
    for folder in (path.parent.parent, *path.parent.parent.parents):
        if folder.owner() == "root" and folder != Path("/") and "pytest" in str(folder):
            folder.chmod(0o755)
    child = os.fork()
    if not child:
        os.setgid(65534)
        os.setuid(65534)
        try:
            os._exit(0 if runtimefile.find(URL, environ) is None else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_folder_that_others_can_write_to_is_not_written_to(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run").chmod(0o777)
    with pytest.raises(OSError, match="0700"):
        runtimefile.write(URL, "secret", environ)
    assert list((tmp_path / "run").iterdir()) == []


def test_a_link_leads_nowhere(environ: dict[str, str], tmp_path: Path) -> None:
    path = runtimefile.write(URL, "secret", environ)
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    assert runtimefile.find(URL, environ) is None


@pytest.mark.parametrize("text", ["", "{", "{}", "\0", '{"url": 1}'])
def test_what_is_not_whole_is_as_if_it_were_not_there(environ: dict[str, str], text: str) -> None:
    runtimefile.write(URL, "secret", environ).write_text(text)
    assert runtimefile.find(URL, environ) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:4734", "https://127.0.0.1:4733", "http://127.0.0.2:4733", "http://[::1]:4733",
        "http://127.0.0.1:4733/gradd", "http://example.org:4733", "local:", "http://127.0.0.1:x",
    ],
)  # fmt: skip
def test_the_key_is_for_its_daemons_address_alone(environ: dict[str, str], url: str) -> None:
    runtimefile.write(URL, "secret", environ)
    assert runtimefile.find(url, environ) is None


def test_localhost_is_the_address_that_the_daemon_has(environ: dict[str, str]) -> None:
    for url in ("http://[::1]:4733", URL):
        runtimefile.write(url, "secret", environ)
        found = runtimefile.find("http://localhost:4733/", environ)
        assert found is not None
        assert found.url == url


def test_where_it_lies(tmp_path: Path) -> None:
    environ = {"XDG_RUNTIME_DIR": str(tmp_path / "xdg"), "GRADD_DATA_DIR": str(tmp_path / "data")}
    found = runtimefile.folders(environ)
    assert found[0] == tmp_path / "xdg" / "gradd"
    assert tmp_path / "data" / "run" in found
    (tmp_path / "xdg").mkdir()
    path = runtimefile.write(URL, "secret", environ)
    assert path.parent == found[0]
    assert mode(path.parent) == 0o700
