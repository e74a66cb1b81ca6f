"""Stores of earlier versions: this one opens them, and what is in them goes on as it would have then."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from gradd_runtime.store.tables import FORMAT

from tests.server.golden.make import TENANTS, asking_of, gone_on, told

STORES = sorted(path.parent for path in (Path(__file__).parent / "golden").glob("*/expected.json"))


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.name)
def test_a_store_of_an_earlier_version(store: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    shutil.copytree(store / "sessions", data / "sessions")
    expected = json.loads((store / "expected.json").read_text())
    with asking_of(data) as asking:
        found = told(asking)
        assert set(found) == set(TENANTS)
        assert found == expected["told"]
        assert gone_on(asking) == expected["gone_on"]
    with asking_of(data) as asking:  # what was added is of this version, and is there again
        assert asking.json("hooked", "/tensors/w.grad") == expected["gone_on"]["hooked"]
        assert asking.json("training", "")["batches"] > expected["told"]["training"]["info"]["batches"]


def test_there_is_a_store_of_this_format() -> None:
    """Where it fails, the format was changed: make a store of it, see golden/make.py."""
    formats = set()
    for path in (path for store in STORES for path in store.rglob("*.db")):
        with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as file:
            formats.add(*file.execute("PRAGMA user_version").fetchone())
        file.close()
    assert FORMAT in formats


def test_a_store_holds_what_is_hard_to_keep() -> None:
    for store in STORES:
        said = json.loads((store / "expected.json").read_text())["told"]
        assert said["training"]["graph"]["nodes"]
        assert said["hooked"]["hooks"]["hooks"]
        assert list(store.rglob("*.blobs/*"))
