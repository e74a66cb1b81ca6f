"""A daemon for each test; what the finders did, counted: a table at the end of a run (`make faults`,
`make soak`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.daemon import Daemon
from tests.faults.trainings import Expected, alone, recorded

COLUMNS = ("count", "lost", "twice", "differing")
_PROPERTY, _FIGURE = "faults:", "figure:"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon to be killed."""
    with Daemon(tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def script() -> list[bytes]:
    """The batches and uploads of a training, as the SDK sends them."""
    return recorded()


@pytest.fixture(scope="session")
def undisturbed(script: list[bytes]) -> Expected:
    """What comes of the script where nothing disturbs it."""
    return alone(script)


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Takes what a finder did, for the table: of which kind, how often, and of what was acknowledged how many
    were `lost`, applied `twice`, or are `differing` from what they should be. Fails where any is.
    """

    def add(kind: str, count: int, lost: int = 0, twice: int = 0, differing: int = 0) -> None:
        row = (count, lost, twice, differing)
        request.node.user_properties.append((_PROPERTY + kind, row))
        assert row == (count, 0, 0, 0), f"{kind}: {dict(zip(COLUMNS, row, strict=True))}"

    return add


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Takes what was measured, and of what, for a list at the end of the run."""
    return lambda kind, text: request.node.user_properties.append((_FIGURE + kind, text))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(COLUMNS))
    figures: dict[str, str] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") != "call":
                continue
            for name, row in report.user_properties:
                if name.startswith(_PROPERTY):
                    sums = rows[name.removeprefix(_PROPERTY)]
                    sums[:] = map(sum, zip(sums, row, strict=True))
                elif name.startswith(_FIGURE):
                    figures[name.removeprefix(_FIGURE)] = row
    if figures:
        terminalreporter.section("measured")
    for kind, text in figures.items():
        terminalreporter.line(f"{kind:{max(map(len, figures))}}  {text}")
    if not rows:
        return
    terminalreporter.section("faults")
    width = max(map(len, rows))
    terminalreporter.line(f"{'':{width}}" + "".join(f"{column:>12}" for column in COLUMNS))
    for kind, row in sorted(rows.items()):
        terminalreporter.line(f"{kind:{width}}" + "".join(f"{n:12,}" for n in row))
