"""The examples of several sessions: one model is trained as in one session, and a population is the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.examples.test_second_order import EXAMPLES, figures, shown


def printed(name: str, *arguments: str) -> str:
    """What an example prints."""
    environment = {key: value for key, value in os.environ.items() if key != "GRADD_URL"}
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("where", ["local:", "daemon"])
def test_one_model_is_trained_as_in_one_session(where: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue("daemon") if where == "daemon" else where
    found = figures(printed("data_parallel", url, "3"))
    assert found == pytest.approx(shown("data_parallel"), rel=1e-4, abs=2e-5)


def test_two_sessions_too(daemon: str) -> None:
    found = figures(printed("data_parallel", daemon, "2"))
    assert found["loss in 2 sessions"] == pytest.approx(found["loss in one session"], rel=1e-4)
    assert found["largest difference of a parameter"] < 2e-5


def test_a_population_is_the_same_in_any_number_of_sessions(daemon: str) -> None:
    text = printed("population", daemon, "1", "3")
    line = (
        r"^(\d) sessions?: [\d.]+ s, ([\d.]+) times as fast( \(simulated: \d+ cores\))?, best loss ([\d.]+)$"
    )
    rows = re.findall(line, text, re.MULTILINE)
    assert [count for count, *_ in rows] == ["1", "2", "3"]
    assert len(text.splitlines()) == 3
    assert rows[0][1] == "1.00"
    cores = len(os.sched_getaffinity(0))
    assert [bool(mark) for *_, mark, _ in rows] == [count > cores for count in (1, 2, 3)]
    losses = [float(loss) for *_, loss in rows]
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-3)
