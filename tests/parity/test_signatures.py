"""Every argument that PyTorch documents is taken, or there is a reason why not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.parity.signature_gaps import GAPS


@pytest.fixture(scope="module")
def missing() -> dict[str, list[str]]:
    """What is missing, where PyTorch is installed to say what there is."""
    pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    from tests.parity.signatures import all_missing

    return all_missing()


def _listed() -> list[str]:
    return [f"torch.{name}" for _, names in GAPS for name in names.split()]


@pytest.mark.oracle
def test_what_is_missing_is_listed(missing: dict[str, list[str]]) -> None:
    assert {name: gaps for name, gaps in missing.items() if name not in _listed()} == {}


@pytest.mark.oracle
def test_what_is_listed_is_missing(missing: dict[str, list[str]]) -> None:
    assert set(_listed()) - missing.keys() == set()
    assert [name for name, n in Counter(_listed()).items() if n > 1] == []


@pytest.mark.oracle
def test_a_lost_argument_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    import gradd

    from tests.parity.signatures import missing

    def eye(n: int, m: int | None = None, *, dtype: Any = None) -> Any:
        raise NotImplementedError

    assert list(missing("torch", "eye", torch.eye)) == []
    monkeypatch.setattr(gradd, "eye", eye)
    assert list(missing("torch", "eye", torch.eye)) == [
        "device",
        "layout",
        "out",
        "pin_memory",
        "requires_grad",
    ]
    monkeypatch.delattr(gradd, "eye")
    assert list(missing("torch", "eye", torch.eye)) == ["absent"]


def test_each_reason_is_of_something() -> None:
    assert all(reason and names.split() for reason, names in GAPS)
