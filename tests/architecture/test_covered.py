"""The figures of `make coverage`."""

from __future__ import annotations

import pytest

from tests.covered import BAR, Lines, report


def test_a_package_below_the_bar_fails_and_its_files_are_listed() -> None:
    text, enough = report(
        {
            "engine/gradd_engine/a.py": Lines(1000, 990),
            "engine/gradd_engine/b.py": Lines(10, 5),
            "client/gradd/c.py": Lines(10, 9),
            "client/gradd/__init__.py": Lines(0, 0),
        }
    )
    assert not enough
    assert text.splitlines() == [
        "client       90.0 % of 10 lines",
        "engine       98.5 % of 1010 lines",
        "files below 95 %: 2",
        "   50.0 %  engine/gradd_engine/b.py",
        "   90.0 %  client/gradd/c.py",
    ]


@pytest.mark.parametrize(("run", "enough"), [(BAR, True), (BAR - 1, False)])
def test_a_package_at_the_bar_is_enough(run: float, enough: bool) -> None:
    assert report({"client/gradd/c.py": Lines(100, int(run))})[1] is enough
