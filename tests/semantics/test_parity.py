"""docs/parity.md says what the tests say, and the tests cover the inventory."""

from __future__ import annotations

import re

from tests.semantics import parity
from tests.semantics.conftest import DIFFERS
from tests.semantics.inventory import ITEMS, PENDING


def test_the_page_is_not_stale() -> None:
    assert parity.PAGE.read_text() == parity.page(), "docs/parity.md is stale: make parity"


def test_every_item_has_a_test_but_those_pending() -> None:
    assert parity.without_tests() == PENDING


def test_every_test_is_of_an_item() -> None:
    assert set(parity.tests()) <= set(ITEMS)


def test_every_difference_is_of_an_item_and_asserted() -> None:
    """A difference without a test that asks for it would be an excuse."""
    sources = "\n".join(path.read_text() for path in parity.HERE.glob("test_*.py"))
    asked = set(re.findall(r'differs\("([\d.]+)"\)', sources))
    assert set(DIFFERS) <= set(ITEMS)
    assert asked == set(DIFFERS)
