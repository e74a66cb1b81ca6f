"""API keys: what they are made of, what is kept of them, and who may keep it."""

from __future__ import annotations

import hmac
import os
import stat
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest
from gradd_protocol.problems import ProtocolError
from gradd_server import keyring, keys
from gradd_server.errors import Refused
from gradd_server.keyring import Keyring
from gradd_server.keys import BadKeys, KeyFile, digest, is_whole, mint, seconds

from tests.server.conftest import Clock


@pytest.fixture
def file(tmp_path: Path, clock: Clock) -> KeyFile:
    return KeyFile(tmp_path, clock)


def headers(*values: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", value.encode("latin-1")) for value in values]


def identify(ring: Keyring, secret: str) -> str:
    return ring.identify(headers(f"Bearer {secret}")).id


def refusal(ring: Keyring, *values: str) -> str:
    with pytest.raises(Refused) as refused:
        ring.identify(headers(*values))
    assert refused.value.problem.slug == "unauthenticated"
    assert refused.value.headers == {"www-authenticate": 'Bearer realm="gradd"'}
    return refused.value.problem.detail


def test_a_key_is_256_random_bits_and_a_checksum() -> None:
    made = {mint() for _ in range(100)}
    assert len(made) == 100
    for key in made:
        assert key.startswith("gradd_")
        assert len(key) == 6 + 64 + 8
        assert is_whole(key)


def test_a_key_that_was_cut_or_mistyped_is_known_as_such() -> None:
    key = mint()
    assert not is_whole(key[:-1])
    assert not is_whole(key.upper())
    for n in range(6, len(key)):
        other = "0" if key[n] != "0" else "1"
        assert not is_whole(key[:n] + other + key[n + 1 :])


def test_only_the_hash_is_kept(file: KeyFile, tmp_path: Path) -> None:
    secret, key = file.create("acme", "operator", "ci")
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert secret.encode() not in kept
    assert secret[6:70].encode() not in kept
    assert key.hash == digest(secret)
    assert digest(secret).encode() in kept
    assert file.read() == [key]


def test_the_file_is_private_whatever_the_umask(file: KeyFile) -> None:
    old = os.umask(0)
    try:
        file.create()
    finally:
        os.umask(old)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o660, 0o666, 0o601])
def test_a_file_that_others_can_get_at_is_refused(file: KeyFile, mode: int) -> None:
    secret, _ = file.create()
    file.path.chmod(mode)
    with pytest.raises(BadKeys, match="chmod 600"):
        file.read()
    with pytest.raises(BadKeys):
        file.create()
    assert "not known" in refusal(Keyring(file), f"Bearer {secret}")


def test_a_file_of_another_user_is_refused(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    file.create()
    monkeypatch.setattr(os, "geteuid", lambda: file.path.stat().st_uid + 1)
    with pytest.raises(BadKeys, match="another user"):
        file.read()


def test_a_link_is_refused(file: KeyFile, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text('{"version": 1, "keys": []}')
    elsewhere.chmod(0o600)
    file.path.symlink_to(elsewhere)
    with pytest.raises(BadKeys):
        file.read()


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", '{"version": 2, "keys": []}', '{"version": 1, "keys": [{}]}', "\xff",
        '{"version": 1, "keys": [{"id": "a", "hash": "b", "role": "root"}]}',
        '{"version": 1, "keys": [{"id": "a", "hash": "b", "tenant": "../x"}]}',
        '{"version": 1, "keys": [{"id": "a", "hash": "b", "more": 1}]}',
    ],
)  # fmt: skip
def test_what_is_no_file_of_keys_gives_none(file: KeyFile, text: str) -> None:
    file.path.write_bytes(text.encode("latin-1"))
    file.path.chmod(0o600)
    with pytest.raises(BadKeys, match=str(file.path)):
        file.read()
    assert "not known" in refusal(Keyring(file), f"Bearer {mint()}")


def test_a_change_that_fails_leaves_the_file_as_it_was(
    file: KeyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.create()
    before = file.path.read_bytes()

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        file.create()
    assert file.path.read_bytes() == before
    assert sorted(path.name for path in file.path.parent.iterdir()) == ["keys.json", "keys.lock"]


def test_changes_at_once_are_all_kept(file: KeyFile) -> None:
    threads = [threading.Thread(target=file.create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({key.id for key in file.read()}) == 8


def test_several_keys_live_at_once(file: KeyFile, clock: Clock) -> None:
    ring = Keyring(file, clock=clock)
    made = [file.create("acme") for _ in range(3)]
    assert [identify(ring, secret) for secret, _ in made] == [key.id for _, key in made]


def test_a_key_expires(file: KeyFile, clock: Clock) -> None:
    ring = Keyring(file, clock=clock)
    secret, key = file.create(lifetime=60)
    clock.now += 59
    assert identify(ring, secret) == key.id
    assert ring.fault(key) == ""
    clock.now += 1
    assert refusal(ring, f"Bearer {secret}") == "this key has expired"
    assert ring.fault(key) == "this key has expired"


def test_a_revoked_key_ends_at_once(file: KeyFile, clock: Clock) -> None:
    ring = Keyring(file, clock=clock)
    secret, key = file.create()
    assert identify(ring, secret) == key.id
    file.revoke(key.id)
    assert ring.fault(key) == "this key was revoked"
    assert refusal(ring, f"Bearer {secret}") == "this key was revoked"
    first = file.read()
    clock.now += 10
    file.revoke(key.id)  # again, which moves nothing
    assert file.read() == first


def test_rotate_puts_a_new_key_in_the_place_of_the_old(file: KeyFile, clock: Clock) -> None:
    ring = Keyring(file, clock=clock)
    old, key = file.create("acme", "operator", "ci")
    new, fresh = file.rotate(key.id)
    assert (fresh.tenant, fresh.role, fresh.name) == ("acme", "operator", "ci")
    assert identify(ring, new) == fresh.id != key.id
    assert refusal(ring, f"Bearer {old}") == "this key was revoked"
    with pytest.raises(BadKeys, match="revoked"):
        file.rotate(key.id)


def test_rotate_may_leave_the_old_one_for_a_while(file: KeyFile, clock: Clock) -> None:
    ring = Keyring(file, clock=clock)
    old, key = file.create()
    new, fresh = file.rotate(key.id, overlap=3600)
    assert (identify(ring, old), identify(ring, new)) == (key.id, fresh.id)
    clock.now += 3600
    assert refusal(ring, f"Bearer {old}") == "this key has expired"
    assert identify(ring, new) == fresh.id


def test_an_overlap_never_outlasts_the_old_key(file: KeyFile, clock: Clock) -> None:
    _, key = file.create(lifetime=10)
    file.rotate(key.id, overlap=3600)
    assert file.read()[0].expires == clock.now + 10


def test_unknown_ids_and_bad_tenants_change_nothing(file: KeyFile) -> None:
    file.create()
    before = file.path.read_bytes()
    for change in (file.revoke, file.rotate):
        with pytest.raises(BadKeys, match="gradd keys list"):
            change("knobody")
    with pytest.raises(ProtocolError):
        file.create("a/b")
    assert file.path.read_bytes() == before


@pytest.mark.parametrize(
    "said",
    [
        [], [""], ["Bearer"], ["Bearer "], ["Basic dXNlcjpwYXNz"], ["Bearer x"], ["Token {key}"], ["{key}"],
        ["Bearer {key} {key}"], ["Bearer {key},"], ["Bearer {key}", "Bearer {key}"], ["Bearer \xff"],
    ],
    ids=str,
)  # fmt: skip
def test_what_shows_no_key(file: KeyFile, said: list[str]) -> None:
    secret, _ = file.create()
    detail = refusal(Keyring(file), *(value.format(key=secret) for value in said))
    assert detail
    assert secret not in detail


def test_the_scheme_is_read_in_any_case(file: KeyFile) -> None:
    secret, key = file.create()
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert Keyring(file).identify(headers(f"{scheme} {secret}")).id == key.id


def test_a_ring_without_keys_knows_nobody() -> None:
    assert "not known" in refusal(Keyring(), f"Bearer {mint()}")


def test_the_local_key_is_an_operator_of_the_default_tenant() -> None:
    secret = mint()
    local = Keyring(local=secret).identify(headers(f"Bearer {secret}"))
    assert (local.id, local.tenant, local.role) == ("local", "default", "operator")


def test_keys_are_compared_in_constant_time(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every key is looked at, whichever fits, by what takes as long for any two."""
    made = [file.create() for _ in range(3)]
    ring = Keyring(file)
    seen: list[str] = []

    def counting(one: str, other: str) -> bool:
        seen.append(one)
        return hmac_compare(one, other)

    hmac_compare = hmac.compare_digest
    monkeypatch.setattr(keyring.hmac, "compare_digest", counting)
    for secret, key in made:
        seen.clear()
        assert identify(ring, secret) == key.id
        assert seen == [digest(s) for s, _ in made]


def test_a_file_is_read_only_when_it_changed(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    secret, key = file.create()
    ring = Keyring(file)
    read: list[int] = []
    inner = KeyFile.read
    monkeypatch.setattr(KeyFile, "read", lambda self: read.append(1) or inner(self))
    for _ in range(3):
        assert identify(ring, secret) == key.id
    assert read == []
    file.path.unlink()
    assert "not known" in refusal(ring, f"Bearer {secret}")
    assert "not known any more" in ring.fault(key)


@pytest.mark.parametrize(
    ("text", "expected"), [("45s", 45), ("15m", 900), ("12h", 43_200), ("30d", 2_592_000)]
)
def test_durations(text: str, expected: int) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "d", "0d", "-1d", "1", "1y", "1.5h", "30 d", "9999999d"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        seconds(text)


def test_the_file_says_what_keys_are(file: KeyFile) -> None:
    _, key = file.create("acme", "user", "ci", lifetime=60)
    said = msgspec.json.decode(file.path.read_bytes())
    assert said["version"] == 1
    assert said["keys"] == [
        {
            "id": key.id, "hash": key.hash, "tenant": "acme", "role": "user", "name": "ci",
            "created": 1000, "expires": 1060, "revoked": None,
        }
    ]  # fmt: skip
    assert file.path.name == keys.FILE_NAME
