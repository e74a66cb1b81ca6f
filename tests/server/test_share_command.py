"""`gradd share`: the link that it prints, and what becomes of it."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from gradd_server import cli
from gradd_server.commands import exits
from gradd_server.keyring import Keyring
from gradd_server.keys import KeyFile

from tests.server.one_front import front


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A daemon with a session `demo`, and the key of its tenant in the environment."""
    file = KeyFile(tmp_path)
    secret, _ = file.create("acme")
    with front(Keyring(file)) as url:
        monkeypatch.setenv("GRADD_API_KEY", secret)
        monkeypatch.setenv("GRADD_URL", url)
        made = httpx.put(f"{url}/v1/sessions/demo", headers=bearer(secret), trust_env=False)
        assert made.status_code == 201
        yield url


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def status(url: str, link: str) -> int:
    """How the session is answered to who has the link."""
    page, _, fragment = link.partition("#")
    assert page == f"{url}/"
    key = urllib.parse.parse_qs(fragment)["key"][0]
    return httpx.get(f"{url}/v1/sessions/demo", headers=bearer(key), trust_env=False).status_code


def test_a_link_is_made_listed_and_revoked(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["share", "demo"]) == exits.OK
    out, err = capsys.readouterr()
    (link,) = out.splitlines()
    said = re.search(r"^(s\w+): reads session demo until 2", err, re.MULTILINE)
    assert said is not None
    id = said[1]
    assert link not in err
    assert status(url, link) == 200
    assert cli.main(["share", "demo", "--list"]) == exits.OK
    assert capsys.readouterr().out.startswith(f"{id}\t2")
    assert cli.main(["share", "demo", "--revoke", id, "--revoke", "s0000000000"]) == exits.OK
    assert status(url, link) == 401
    assert cli.main(["share", "demo", "--list"]) == exits.OK
    assert capsys.readouterr().out == ""


def test_a_link_lives_as_long_as_is_said(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["share", "demo", "--hours", "1", "--url", url]) == exits.OK
    assert cli.main(["share", "demo", "--list"]) == exits.OK
    _, made, ends = capsys.readouterr().out.splitlines()[-1].split("\t")
    assert made < ends
    assert cli.main(["share", "demo", "--hours", "0"]) == exits.UNAVAILABLE
    assert "400" in capsys.readouterr().err


def test_what_cannot_be_shared(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["none"], ["none", "--list"], ["none", "--revoke", "s0000000000"], ["a/b"]):
        assert cli.main(["share", *arguments]) == exits.UNAVAILABLE
        assert capsys.readouterr().out == ""
    with pytest.raises(SystemExit) as ended:
        cli.main(["share", "demo", "--list", "--revoke", "s0000000000"])
    assert ended.value.code == exits.USAGE
