"""Why an entry is below 100 %: what differs on purpose, and what is not there."""

from __future__ import annotations

#: a reason, and the entries that it holds for
REASONS: tuple[tuple[str, str], ...] = ()


def why(name: str) -> str:
    """The reasons of an entry; "" where there are none."""
    return "; ".join(reason for reason, names in REASONS if name in names.split())
