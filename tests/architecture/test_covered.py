"""The figures of `make coverage`."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.covered import PACKAGES, Lines, below, looked_at, report


def test_packages_are_summed_and_low_files_listed() -> None:
    files = {
        "engine/gradd_engine/a.py": Lines(1000, 990),
        "engine/gradd_engine/b.py": Lines(10, 5),
        "client/gradd/c.py": Lines(10, 9),
        "client/gradd/__init__.py": Lines(0, 0),
    }
    assert report(files).splitlines() == [
        "client       90.0 % of 10 lines",
        "engine       98.5 % of 1010 lines",
        "protocol    100.0 % of 0 lines",
        "runtime     100.0 % of 0 lines",
        "server      100.0 % of 0 lines",
        "files below 95 %: 2",
        "   50.0 %  engine/gradd_engine/b.py",
        "   90.0 %  client/gradd/c.py",
    ]


@pytest.mark.parametrize(("run", "found"), [(95, []), (94, ["client"])])
def test_a_package_below_the_bar_is_named(run: int, found: list[str]) -> None:
    files = {f"{room}/a.py": Lines(100, 100) for room in PACKAGES}
    assert below({**files, "client/a.py": Lines(100, run)}, 95.0) == found


def test_a_package_that_was_not_measured_is_below_any_bar() -> None:
    files = {f"{room}/a.py": Lines(100, 0) for room in PACKAGES if room != "server"}
    assert below(files, 0.0) == ["server"]


def test_of_many_samples_of_an_op_two_are_looked_at_and_all_of_whatever_else() -> None:
    sampled = [f"tests/ops/test_ops.py::test_it[{op}-{n}]" for n in range(3) for op in ("mul", "sum")]
    rest = [f"tests/{file}.py::test_it[local-{n}]" for n in range(3) for file in ("ops/test_errors", "a")]
    cases: Counter[str] = Counter()
    assert [test for test in [*sampled, *rest] if not looked_at(test, cases)] == sampled[4:]
