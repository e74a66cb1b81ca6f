"""`gradd fsck`: reads what sessions have on the disk while no daemon runs, and changes nothing."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from gradd_server.commands.exits import DAMAGED, OK, Unavailable
from gradd_server.datadir import DataDir, chosen_data_dir
from gradd_server.settings import BadConfig

HOME = "sessions"
"""The folder of the data directory that `FolderStores` has."""


class Checked(msgspec.Struct):
    """A session's files. Snapshots are named by the entry after which they were taken."""

    tenant: str
    name: str
    status: str
    """``sound``; ``harmed``: damaged, but all of it comes back; ``damaged``: it answers `store-failed`."""
    folder: str
    entries: int = 0
    """The last entry."""
    whole: int = 0
    """The last entry that the session can be made up to; those after it are lost."""
    snapshots: list[int] = []
    """Those that are sound, latest first."""
    damage: list[str] = []


def add(commands: Any) -> None:
    """Add it to the commands of a parser."""
    fsck = commands.add_parser(
        "fsck", help="check the files of all sessions, while no daemon runs: 0 if they are sound, else 65"
    )
    fsck.add_argument("--data-dir", type=Path, metavar="DIR",
                      help="the daemon's data directory [env: GRADD_DATA_DIR]")  # fmt: skip
    fsck.add_argument("--json", action="store_true", help="one JSON object a line")
    fsck.set_defaults(run=_fsck)


def _fsck(arguments: argparse.Namespace) -> int:
    path = chosen_data_dir(arguments.data_dir, os.environ)
    if not path.is_dir():
        raise BadConfig(f"there is no data directory {path}")
    counts: dict[str, int] = {}
    with DataDir(path):
        for checked in _checked(path / HOME):
            counts[checked.status] = counts.get(checked.status, 0) + 1
            _print(checked, arguments.json)
    if not arguments.json:
        told = ", ".join(f"{counts[status]} {status}" for status in sorted(counts, reverse=True))
        print(f"{sum(counts.values())} sessions{': ' + told if told else ''}")
    return OK if set(counts) <= {"sound"} else DAMAGED


def _checked(home: Path) -> Iterator[Checked]:
    from gradd_runtime.store import examine, examine_snapshots, newest

    from gradd_server.folder_stores import SNAPSHOTS, FolderStores

    stores = FolderStores(home)
    for folder, about in stores.folders():
        if isinstance(about, str):
            yield Checked("", "", "damaged", str(folder), damage=[f"session.json: {about}"])
            continue
        try:
            found = examine(newest(folder / about.record))
        except OSError as error:
            raise Unavailable(f"no copy of {folder / about.record} can be made: {error}") from None
        found.damage += examine_snapshots(folder / SNAPSHOTS)
        status = "sound" if not found.damage else "harmed" if found.comes_back else "damaged"
        yield Checked(
            about.tenant, about.name, status, str(folder), found.entries, found.whole, found.snapshots,
            found.damage,
        )  # fmt: skip


def _print(checked: Checked, as_json: bool) -> None:
    if as_json:
        print(json.dumps(msgspec.to_builtins(checked)))
        return
    who = f"{checked.tenant}/{checked.name}" if checked.name else checked.folder
    print(f"{who}\t{checked.status}\t{_kept(checked)}")
    for line in checked.damage:
        print(f"  {line}")
    if checked.status == "damaged":
        print(f"  its files: {checked.folder}")


def _kept(checked: Checked) -> str:
    """What there is of it, in words."""
    if checked.whole < checked.entries:
        return f"whole up to entry {checked.whole} of {checked.entries}"
    if checked.entries or checked.status == "sound":
        return f"{checked.entries} entries"
    sound = ", ".join(map(str, checked.snapshots))
    return f"its record cannot be read; sound snapshots: {sound or 'none'}"
