"""`make parity`: a share of it here, and that it sees what differs."""

from __future__ import annotations

from typing import Any

import gradd
import pytest

from tests.parity.reasons import REASONS
from tests.parity.tiers import BARS, entries

#: each was below 100 % once, or is of a kind of its own
SHARE = (
    "arange", "broadcast_to", "cat", "einsum", "expand", "gather", "nn.functional.batch_norm",
    "nn.functional.dropout", "nn.functional.layer_norm", "slice", "std", "where",
)  # fmt: skip


@pytest.fixture(scope="module")
def counting() -> Any:
    """The module, where torch and what its samples need are installed."""
    pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    pytest.importorskip("expecttest", reason="expecttest, which PyTorch's samples need, is not installed")
    from tests.parity import counting

    return counting


@pytest.mark.oracle
@pytest.mark.parametrize("name", SHARE)
def test_a_share_holds(counting: Any, name: str) -> None:
    with gradd.connect("local:"):
        counts = counting.count(name, most=5, few=2)
    assert {check: c.differences for check, c in counts.items() if c.differences} == {}
    assert counts["forward"].all > 0


@pytest.mark.oracle
def test_a_wrong_operation_is_counted(counting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "ours", lambda _: lambda x: (2 * x.sin()).detach())
    with gradd.connect("local:"):
        counts = counting.count("sin", most=3, few=1)
    assert counts["forward"].held == 0
    assert counts["backward"].held == 0
    assert counts["meta"].held == counts["meta"].all > 0


def test_the_table_has_its_tiers() -> None:
    tiers = [entry.tier for entry in entries().values()]
    assert [tiers.count(tier) for tier in BARS] == [129, 400, 145]


def test_reasons_are_of_entries() -> None:
    named = [name for _, names in REASONS for name in names.split()]
    assert set(named) <= set(entries())
