"""The command that runs many random programs."""

from __future__ import annotations

import os
import signal

import pytest

from tests.runtime import fuzz


def dies(seeds: range) -> fuzz.Found:
    """What a process does that is killed."""
    if seeds.start:
        os.kill(os.getpid(), signal.SIGKILL)
    return len(seeds), 1, []


def test_a_process_that_is_killed_ends_the_run(capfd: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(2 * fuzz.SHARE, jobs=1, work=dies) == 1
    told = capfd.readouterr().out
    assert "a process died" in told
    assert f"{fuzz.SHARE} random programs, 1 planned batches, 0 differ" in told


def test_what_the_command_line_says(capsys: pytest.CaptureFixture[str]) -> None:
    asked = fuzz.arguments(["50000", "7", "--jobs", "1"])
    assert (asked.programs, asked.first, asked.jobs) == (50000, 7, 1)
    assert fuzz.arguments(["3"]).first == 0
    with pytest.raises(SystemExit, match="0"):
        fuzz.arguments(["--help"])
    assert "processes" in capsys.readouterr().out
