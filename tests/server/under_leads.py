"""What holds of stores of every kind where several fronts share them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from gradd_server.stores import Stores


def finds_all_leads(alone: Stores, under: Callable[[int], Stores], options: dict[str, Any]) -> dict[str, Any]:
    """What was made under any lead is found, and who leads no more makes nothing; the records, by name.
    `alone` has none, of the leads 1 and 2 the latter goes on.
    """
    made = {"alone": alone.make("default", "alone", options)}
    with pytest.raises(OSError, match="another front leads"):
        under(1).make("default", "late", options)
    second = under(2)
    made["second"] = second.make("default", "second", options)
    assert {name: record for _, name, _, record in second.found()} == made
    return made
