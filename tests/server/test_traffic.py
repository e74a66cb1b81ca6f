"""What the front may hold for others, and what the machine has."""

from __future__ import annotations

from pathlib import Path

import pytest
from gradd_server.errors import Refused
from gradd_server.machine import UNTOLD, memory_bytes
from gradd_server.settings import BadConfig, Settings
from gradd_server.traffic import SMALL, Load, Traffic

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def test_a_tenant_has_its_own_limit_and_leaves_room() -> None:
    traffic = Traffic(10 * MIB, 4 * MIB)
    one, other = Load(traffic, "one"), Load(traffic, "other")
    one.take(3 * MIB)
    with pytest.raises(Refused) as refused:
        one.take(2 * MIB)
    said = refused.value.problem
    assert (said.slug, said.status, said.retry_after) == ("rate-limited", 429, 1)
    assert (said.limit, said.used, said.requested) == (4 * MIB, 3 * MIB, 2 * MIB)
    assert "the tenant's" in said.detail
    assert refused.value.headers == {"retry-after": "1"}
    other.take(4 * MIB)
    one.take(SMALL)  # what is small passes
    assert (traffic.used, one.nbytes) == (7 * MIB + SMALL, 3 * MIB + SMALL)
    one.release()
    other.release()
    assert (traffic.used, traffic.tenants) == (0, {})


def test_the_limit_of_all() -> None:
    traffic = Traffic(6 * MIB, 4 * MIB)
    for name in ("a", "b"):
        Load(traffic, name).take(3 * MIB)
    with pytest.raises(Refused, match="all requests and answers"):
        Load(traffic, "c").take(MIB)


def test_one_alone_passes_whatever_its_size() -> None:
    """Its size is limited elsewhere, and a smaller machine must not refuse it for ever."""
    load = Load(Traffic(MIB, MIB), "one")
    load.take(GIB)
    with pytest.raises(Refused):
        load.take(MIB)
    load.give(GIB)
    load.take(MIB)
    assert load.nbytes == MIB


def machine(root: Path, **files: str) -> int:
    for name, text in {"proc/meminfo": "MemTotal:  8388608 kB\nMemFree: 1 kB\n", **files}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return memory_bytes(root)


def test_the_memory_of_the_machine(tmp_path: Path) -> None:
    assert machine(tmp_path) == 8 * GIB
    assert memory_bytes() > 64 * MIB


@pytest.mark.parametrize(
    ("pages", "found", "told"),
    [(3 << 18, 3 * GIB, False), (-1, UNTOLD, True), (ValueError("no such name"), UNTOLD, True)],
)
def test_a_machine_without_proc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    pages: int | ValueError, found: int, told: bool,
) -> None:  # fmt: skip
    """As macOS."""

    def sysconf(name: str) -> int:
        if isinstance(pages, ValueError):
            raise pages
        return {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": pages}[name]

    monkeypatch.setattr("os.sysconf", sysconf)
    assert memory_bytes(tmp_path) == found
    assert ("limits are those of a machine with 4 GiB" in caplog.text) == told
    # a file that tells something else is none
    (tmp_path / "other/proc").mkdir(parents=True)
    (tmp_path / "other/proc/meminfo").write_text("MemFree: 1 kB\n")
    assert memory_bytes(tmp_path / "other") == found


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 8 * GIB),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": f"{GIB}\n"}, GIB),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": f"{GIB}\n"}, GIB),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": f"{GIB}\n"}, GIB),
        ({"proc/self/cgroup": "0::/on/the/host\n", "sys/fs/cgroup/memory.max": f"{GIB}\n"}, GIB),
        (
            {
                "proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n",
                "sys/fs/cgroup/memory/x/memory.limit_in_bytes": f"{2 * GIB}\n",
            },
            2 * GIB,
        ),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": str(1 << 62)}, 8 * GIB),
    ],
)
def test_the_memory_of_a_control_group(tmp_path: Path, files: dict[str, str], found: int) -> None:
    assert machine(tmp_path, **files) == found


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [("7", 7), ("64KiB", 64 * KIB), ("3 mib", 3 * MIB), ("2GiB", 2 * GIB), ("1TiB", 1024 * GIB)],
)
def test_bytes_in_a_setting(text: str, nbytes: int) -> None:
    assert Settings.load({}, {"GRADD_TRAFFIC_BYTES": text}).most_traffic == nbytes


@pytest.mark.parametrize("text", ["-1", "1GB", "many", "1.5GiB", ""])
def test_bytes_that_are_none(text: str) -> None:
    with pytest.raises(BadConfig, match="is not a number of bytes"):
        Settings.load({}, {"GRADD_TRAFFIC_BYTES": text})


def test_sessions_share_the_machine() -> None:
    most = memory_bytes() * 4 // 5
    assert Settings().budgets == Settings(workers=4).budgets == (most, most * 3 // 4, most)
    assert Settings().most_session_bytes == most * 3 // 4
    said = Settings(process_bytes=8 * GIB, tenant_bytes=GIB)
    assert (said.budgets, said.most_session_bytes) == ((8 * GIB, GIB, most), GIB)
    assert Settings(process_bytes=GIB, tenant_bytes=8 * GIB).budgets == (GIB, GIB, most)
    assert Settings(session_bytes=MIB).most_session_bytes == MIB
    on_a_device = Settings(device="cuda", tenant_bytes=GIB)
    assert (on_a_device.budgets, on_a_device.most_session_bytes) == ((0, GIB, 0), GIB)


def test_defaults_are_shares_of_the_machine() -> None:
    settings = Settings()
    assert settings.most_traffic == max(512 * MIB, memory_bytes() // 8)
    assert settings.most_tenant_traffic == settings.most_traffic // 2
