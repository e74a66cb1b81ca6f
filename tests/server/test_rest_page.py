"""docs/rest.md names every path and every problem, with the status that it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from gradd_protocol import problems
from gradd_server.operations import OPERATIONS

PAGE = (Path(__file__).parents[2] / "docs" / "rest.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_operation_is_on_the_page(operation: str) -> None:
    method, path = operation.split(" ")
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and f"`{path}`" in line]
    assert [row for row in rows if method in re.split(r"[ ,|]+", row.split("`")[0])], operation


@pytest.mark.parametrize("kind", problems.TABLE.values(), ids=problems.TABLE)
def test_every_problem_is_on_the_page(kind: problems.Kind) -> None:
    assert f"| `{kind.slug}` | {kind.status} | {kind.description} |" in PAGE
