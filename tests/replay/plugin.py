"""A pytest plugin that runs every test in a replaying mode: ``pytest -p tests.replay.plugin --replay 0,1,2``.

A test that uses a `local:` session is run as it is once, then `REPEATS` times for each seed: in one session,
so that its programs are planned, its recording cut and values asked for early at points that the seed says.
Each repetition has to pass, and every frame is also given to a session that never plans (`shadow`).
"""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from .cuts import Cuts, cutting
from .exempt import exempt, left_out
from .sessions import Reuse, reusing
from .shadow import Shadows, shadowing

REPEATS = 4
#: where a parametrized test runs that has no session in this process
ELSEWHERE = frozenset({"torch", "stream", "http"})
TALLY = ("tests", "replays", "repetitions", "steps", "cuts", "reads", "planned", "eager", "traced", "exempt")


class _Above:
    """In place of the next test: what this one shares with others stays, what is its own goes."""

    def __init__(self, item: pytest.Item) -> None:
        self._chain = item.listchain()[:-1]

    def listchain(self) -> list[Any]:
        return self._chain


def _wanted(item: pytest.Item) -> bool:
    """Whether a test may have a session in this process, and is to be replayed."""
    callspec = getattr(item, "callspec", None)
    params = callspec.params.values() if callspec is not None else ()
    return (
        not any(isinstance(p, str) and p in ELSEWHERE for p in params)
        and "daemon" not in getattr(item, "fixturenames", ())
        and left_out(item.nodeid) is None
        and item.get_closest_marker("oracle") is None
    )


class Replay:
    """Runs tests again and again, and counts."""

    def __init__(self, seeds: list[int], share: tuple[int, int], tally: Path | None) -> None:
        self.seeds, self.share, self.tally = seeds, share, tally
        self.counts = dict.fromkeys(TALLY, 0)
        self.failures: list[str] = []
        self.cuts: Cuts
        self.reuse: Reuse
        self.shadows: Shadows

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Only this process's share, and nothing that needs a daemon or the oracle."""
        kept, left = [], []
        for item in items:
            (kept if _wanted(item) else left).append(item)
        place, of = self.share
        items[:] = kept[place::of]
        left += [item for n, item in enumerate(kept) if n % of != place]
        config.hook.pytest_deselected(items=left)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """The test as it is, then what it does again."""
        ihook = item.ihook
        ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        frames, self.shadows.first_eager = self.shadows.frames, True
        reports = self._once(item)
        if any(r.failed for r in reports):
            self.failures.append(f"{item.nodeid} as it is")
        uses = self.shadows.frames > frames
        if uses and all(r.passed for r in reports):
            self.counts["tests"] += 1
            for seed in self.seeds:
                found = self._replay(item, seed)
                if found is not None:
                    reports = found
                    break
        for report in reports:
            ihook.pytest_runtest_logreport(report=report)
        if any(r.failed for r in reports):  # named at once: the whole takes hours
            item.config.get_terminal_writer().line(f" {item.nodeid}")
        item.session._setupstate.teardown_exact(nextitem)
        ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _once(self, item: pytest.Item) -> list[pytest.TestReport]:
        if hasattr(item, "_initrequest"):
            item._initrequest()
        return runtestprotocol(item, log=False, nextitem=_Above(item))  # type: ignore[arg-type]

    def _replay(self, item: pytest.Item, seed: int) -> list[pytest.TestReport] | None:
        """All repetitions for one seed; the reports of the one that failed."""
        reason = exempt(item.nodeid)
        counts = self.counts
        counts["replays"] += 1
        counts["exempt"] += reason is not None
        self.shadows.first_eager = seed % 2 == 0
        self.shadows.mismatches()
        failed = None
        gc.collect()
        gc.freeze()  # what is left of earlier tests: no repetition has to look through it again
        try:
            for n in range(REPEATS):
                gc.collect()  # what tracebacks hold in cycles must not die in the middle of this one
                self.reuse.begin()
                self.cuts.begin(f"{seed}/{item.nodeid}")
                reports = self._once(item)
                self.cuts.end()
                self.shadows.settle()
                for twin in self.shadows.twins.values():
                    twin.compare(deep=n == REPEATS - 1)
                counts["repetitions"] += 1
                counts["steps"] += self.cuts.steps
                wrong = self.shadows.mismatches()
                if wrong:
                    failed = self._note(reports, item, seed, n, "\n".join(wrong))
                elif reason is None and any(r.failed for r in reports):
                    failed = self._note(reports, item, seed, n, "")
                if failed is not None:
                    break
        finally:
            self.cuts.end()
            self.reuse.end()
            self.shadows.forget()
            for name, value in self.shadows.take_counts().items():
                counts[name] += value
        return failed

    def _note(
        self, reports: list[pytest.TestReport], item: pytest.Item, seed: int, n: int, wrong: str
    ) -> list[pytest.TestReport]:
        """The reports, with what else there is to say of the failure."""
        report = next((r for r in reports if r.failed), next(r for r in reports if r.when == "call"))
        if wrong:
            report.outcome = "failed"
            report.longrepr = f"{wrong}\n\n{report.longrepr or ''}"
        again = f"python -m pytest -p tests.replay.plugin --replay {seed} '{item.nodeid}'"
        report.sections.append(
            (
                "replay",
                f"repetition {n}, cut after steps {' '.join(self.cuts.points) or 'none'}; again: {again}",
            )
        )
        self.failures.append(f"{item.nodeid} seed {seed}")
        return reports

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Leave the counts where `make replay` adds them up."""
        self.counts["cuts"], self.counts["reads"] = self.cuts.cut, self.cuts.read
        if self.tally is not None:
            self.tally.write_text(json.dumps({"counts": self.counts, "failures": self.failures}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What was done."""
        terminalreporter.section("replay")
        terminalreporter.line(" ".join(f"{name}={value}" for name, value in self.counts.items()))


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of this mode."""
    group = parser.getgroup("replay")
    group.addoption("--replay", default="0", help="seeds, by commas")
    group.addoption("--replay-share", default="0/1", help="place/of: run every of-th test only")
    group.addoption("--replay-tally", type=Path, help="a file for the counts, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Watch the sessions of this process from here on."""
    place, of = config.getoption("--replay-share").split("/")
    seeds = [int(s) for s in config.getoption("--replay").split(",")]
    replay = Replay(seeds, (int(place), int(of)), config.getoption("--replay-tally"))
    for watch, name in ((cutting(), "cuts"), (reusing(), "reuse"), (shadowing(), "shadows")):
        setattr(replay, name, watch.__enter__())
        config.add_cleanup(lambda watch=watch: watch.__exit__(None, None, None))
    config.pluginmanager.register(replay, "replay")
