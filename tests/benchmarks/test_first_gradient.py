"""The way to a first gradient: what its stages add up to. `make first-gradient` goes it."""

from __future__ import annotations

import pytest

from benchmarks.first_gradient import BAR_SECONDS, SCRIPT, report
from tests.docs.test_pages import run_python


def test_its_script_computes_a_gradient(daemon: str) -> None:
    assert run_python(SCRIPT, GRADD_URL=daemon).strip() == "[6.0]"


def test_the_stages_are_in_a_line() -> None:
    said = report({"venv": 2.0, "pip install": 10.04})
    assert said == "first gradient after 12.0 s (at most 60): venv 2.0 s, pip install 10.0 s"


def test_more_than_the_bar_fails() -> None:
    with pytest.raises(SystemExit, match="at most 60"):
        report({"venv": 1.0, "pip install": BAR_SECONDS})
