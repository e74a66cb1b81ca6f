"""What sessions may take of the disk, and what is let through where they have it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.names import DEFAULT_TENANT
from gradd_runtime.process import PendingFuture
from gradd_server.disk import LOOK_SECONDS, REST_SECONDS, Disk
from gradd_server.errors import Refused
from gradd_server.folder_stores import FolderStores
from gradd_server.sessions import GROWING, Sessions
from gradd_server.settings import Settings

from tests.server.fake_placement import FakePlacement
from tests.waiting import PATIENCE

MIB = 1 << 20


class Measured:
    """A disk by hand."""

    def __init__(self) -> None:
        self.free, self.used = 100 * MIB, {"a": 5 * MIB, "b": 0}

    def __call__(self) -> tuple[int, Mapping[str, int]]:
        return self.free, self.used


def looked(measured: Measured, tenant_limit: int = 10 * MIB, reserve: int = 80 * MIB) -> Disk:
    disk = Disk(measured, tenant_limit, reserve)
    asyncio.run(disk.look())
    return disk


def test_what_is_sent_counts_until_it_is_measured() -> None:
    measured = Measured()
    disk = looked(measured)
    disk.take("a", 4 * MIB)
    with pytest.raises(Refused) as refused:
        disk.take("a", 2 * MIB)
    said = refused.value.problem
    assert (said.slug, said.status, said.whose, said.retry_after) == ("disk-full", 507, "tenant", 5)
    assert (said.limit, said.used, said.requested) == (10 * MIB, 9 * MIB, 2 * MIB)
    assert refused.value.headers == {"retry-after": "5"}
    disk.take("b", 2 * MIB)
    measured.used = {"a": 6 * MIB}  # less was recorded than was sent
    asyncio.run(disk.look())
    disk.take("a", 2 * MIB)
    assert (disk.used("a"), disk.used("b"), disk.free) == (8 * MIB, 0, 98 * MIB)


def test_what_is_sent_during_a_look_is_not_forgotten() -> None:
    measured = Measured()
    disk = looked(measured)

    def during() -> tuple[int, Mapping[str, int]]:
        disk.take("a", MIB)
        return measured()

    disk._measure = during
    asyncio.run(disk.look())
    assert disk.used("a") == 6 * MIB


def test_where_nothing_is_sent_the_disk_is_seldom_looked_at() -> None:
    disk = looked(Measured())
    assert disk.pause(0.1) == REST_SECONDS
    assert disk.pause(7.0) == 70.0
    disk.take("a", MIB)
    assert disk.pause(0.1) == LOOK_SECONDS
    asyncio.run(disk.look())  # which may have come before it was written
    assert disk.pause(0.1) == LOOK_SECONDS
    asyncio.run(disk.look())
    assert disk.pause(0.1) == REST_SECONDS


def test_what_is_sent_after_a_rest_is_looked_at_soon() -> None:
    looks = 0

    class Counted(Measured):
        def __call__(self) -> tuple[int, Mapping[str, int]]:
            nonlocal looks
            looks += 1
            return super().__call__()

    async def scenario() -> None:
        disk = Disk(Counted(), 10 * MIB, 80 * MIB)
        watching = asyncio.create_task(disk.watch())
        async with asyncio.timeout(PATIENCE):
            while looks < 1 or disk.pause(0.0) != REST_SECONDS:
                await asyncio.sleep(0)
            disk.take("a", MIB)
            while looks < 2:
                await asyncio.sleep(0)
        watching.cancel()

    asyncio.run(scenario())
    assert looks == 2


def test_some_room_is_left_to_the_disk() -> None:
    disk = looked(Measured())
    disk.take("b", 9 * MIB)
    disk.take("c", 9 * MIB)
    with pytest.raises(Refused, match=f"has {82 * MIB} bytes of room") as refused:
        disk.take("d", 3 * MIB)
    assert (refused.value.problem.slug, refused.value.problem.whose) == ("disk-full", None)


def test_the_files_of_each_tenant_are_measured(tmp_path: Path) -> None:
    stores = FolderStores(tmp_path)
    for tenant, name, size in (("acme", "one", MIB), ("acme", "two", MIB), ("Globex-2", "one", 3 * MIB)):
        record = stores.make(tenant, name, {"durability": "process"})
        (record.parent / "blob").write_bytes(bytes(size))
    (tmp_path / ".deleted-1").mkdir()
    free, used = stores.measure()
    assert free > 0
    assert set(used) == {"acme", "Globex-2"}
    assert 2 * MIB <= used["acme"] < 2.1 * MIB
    assert 3 * MIB <= used["Globex-2"] < 3.1 * MIB
    stores.remove("acme", "one")
    assert stores.measure()[1]["acme"] < 1.1 * MIB


def test_who_is_at_the_limit_reads_and_deletes(tmp_path: Path) -> None:
    async def scenario() -> None:
        placement = FakePlacement()
        settings = Settings(data_dir=tmp_path, tenant_disk_bytes=MIB)
        sessions = Sessions(placement, settings, lambda: 0.0, FolderStores(tmp_path / "sessions"))
        assert sessions.disk is not None
        await sessions.disk.look()
        kept, _ = await sessions.open(DEFAULT_TENANT, "kept")
        brief, _ = await sessions.open(DEFAULT_TENANT, "brief", {"durability": "memory"})
        sessions.disk.take(DEFAULT_TENANT, MIB - sessions.disk.used(DEFAULT_TENANT))
        for message in (m.Info(), m.ListTensors(), m.DeleteHook("h"), m.Attach("test", 1, 1)):
            sessions.begin(kept, frames.join(frames.encode(message)), PendingFuture())
        growing = m.BackwardJson("x")
        assert "backward-json" in GROWING
        frame = frames.join(frames.encode(growing, [frames.text_buffer(b"{}")]))
        sessions.begin(brief, frame, PendingFuture())
        with pytest.raises(Refused, match="delete some"):
            sessions.begin(kept, frame, PendingFuture())
        with pytest.raises(Refused, match="delete some"):
            await sessions.open(DEFAULT_TENANT, "another")
        assert [entry.name for entry in sessions] == ["brief", "kept"]
        assert await sessions.close(DEFAULT_TENANT, "kept")
        await sessions.disk.look()
        again, _ = await sessions.open(DEFAULT_TENANT, "kept")
        sessions.begin(again, frame, PendingFuture())
        placement.shutdown()

    asyncio.run(scenario())


def test_every_message_that_may_change_a_session_is_known() -> None:
    """What only takes away, or attaches, is let through."""
    from gradd_runtime.session import RECORDED

    tags = {kind.__struct_config__.tag for kind in RECORDED}
    assert tags - GROWING == {"attach", "acquire", "delete-tensor", "delete-hook"}
    assert tags >= GROWING


def test_defaults_are_shares_of_the_disk(tmp_path: Path) -> None:
    total = FolderStores(tmp_path).disk_bytes
    assert total > 64 * MIB
    assert Settings().disk_limits(total) == (total * 3 // 4, min(total // 100, 1 << 30))
    assert Settings(tenant_disk_bytes=5, disk_free_bytes=7).disk_limits(total) == (5, 7)
