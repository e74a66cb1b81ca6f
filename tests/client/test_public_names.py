"""What PyTorch's public modules have and gradd's lack is known, name by name, with a reason."""

from __future__ import annotations

import pytest

from tests.client.public_names import TABLE, lines, reasons
from tests.oracle import ITSELF


@pytest.mark.skipif(not ITSELF, reason="asks PyTorch for its names")
def test_what_is_missing_is_in_the_table_and_nothing_else() -> None:
    today = set(lines())
    told = {line for line in TABLE.read_text().splitlines() if not line.startswith("#")}
    # `python -m tests.client.public_names` prints the lines; a new one needs a reason
    assert today - told == set()
    assert told - today == set()


def test_each_reason_says_something() -> None:
    told = reasons()
    assert len(told) > 300
    assert all(len(reason) > 5 for reason in told.values())
