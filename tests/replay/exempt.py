"""Tests whose own assertions need not hold when they are cut and repeated, each with its reason. What their
sessions answer is compared all the same.
"""

from __future__ import annotations

EXEMPT: dict[str, str] = {}


def exempt(nodeid: str) -> str | None:
    """Why the test may fail by its own measure; None where it may not."""
    name = nodeid.partition("[")[0]
    return EXEMPT.get(name) or EXEMPT.get(name.partition("::")[0])
