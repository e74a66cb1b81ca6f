"""The operators that are counted, in three tiers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

#: the share of samples that hold in every check of T1 and T2, and of entries of T3 that hold whole
BARS = {"T1": 0.995, "T2": 0.98, "T3": 0.80}


class Entry(NamedTuple):
    """An operator, or a variant of one (after the colon), as PyTorch's database names it."""

    name: str
    tier: str
    group: str


@cache
def entries() -> dict[str, Entry]:
    """All entries by name, in the order of the table; a name stands in its first tier."""
    found: dict[str, Entry] = {}
    tier = ""
    for line in Path(__file__).with_name("tiers.txt").read_text().splitlines():
        if line in BARS:
            tier = line
        elif line and not line.startswith("#"):
            group, _, names = line.partition(": ")
            for name in names.split():
                found.setdefault(name, Entry(name, tier, group))
    return found
