"""Each family's moments, densities, gradients, shapes and texts, as torch.distributions has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest

from tests.client.distributions.families import FAMILIES, alike, answers


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


@pytest.mark.oracle
@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_answers_as_torchs(oracle: Callable[..., Any], name: str) -> None:
    family = FAMILIES[name]
    mine, theirs = answers(gradd, family), oracle(lambda T: answers(T, family))
    assert mine.keys() == theirs.keys()
    others = {q: (mine[q], theirs[q]) for q in mine if not alike(mine[q], theirs[q], family.tolerance)}
    assert not others
