"""docs/parallel.md: its blocks are one program, in a daemon and in this process."""

from __future__ import annotations

import pytest

from tests.docs.test_pages import blocks, run_python


@pytest.mark.parametrize("where", ["local:", "daemon"])
def test_the_program_of_the_page(where: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue("daemon") if where == "daemon" else where
    assert run_python(blocks("docs/parallel.md", "python"), GRADD_URL=url) == "True\n"
