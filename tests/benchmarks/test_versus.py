"""Two clones side by side: what is slower beyond noise fails, what is not does not."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import versus
from benchmarks.bench import Row
from benchmarks.daemon import ROOT
from benchmarks.versus import Figure, figures, interval

SLOWER = {"slower": 1.1, "same": 1.0, "doubtful": 1.0, "faster": 0.9}


def test_the_interval_holds_the_median_with_ninety_percent() -> None:
    assert interval([1.0, 2.0, 3.0, 4.0]) == (0.0, math.inf)
    assert interval([5.0, 1.0, 2.0, 4.0, 3.0]) == (1.0, 5.0)
    assert interval([float(n) for n in range(13)]) == (3.0, 9.0)


@pytest.mark.parametrize(
    ("ratios", "first", "last"),
    [
        ([1.04, 1.05, 1.06, 1.05, 1.04], "worse", "worse"),
        ([1.02, 1.05, 1.06, 1.05, 1.04], "doubtful", "worse"),
        ([0.97, 1.05, 1.06, 1.05, 1.04], "doubtful", "noise"),
        ([0.97, 1.01, 1.2, 1.3, 1.03], "as before", "as before"),
        ([1.5, 1.5], "doubtful", "noise"),
    ],
)
def test_verdicts(ratios: list[float], first: str, last: str) -> None:
    figure = Figure("work", "question", ratios)
    assert (figure.verdict("time", 1.03, False), figure.verdict("time", 1.03, True)) == (first, last)


def test_a_ratio_to_a_peer_is_compared_by_its_time() -> None:
    rows = [
        Row(work="ratio", value=0.5, took=2.0, cpu={"client": (3.0, 2.0, 5.0), "engine": (4.0, 4.0, 4.0)}),
        Row(work="rate", value=4.0, at_least=True),
        Row(work="none"),
    ]
    assert figures(rows) == {"ratio": (2.0, 7.0), "rate": (0.25, None)}


def test_what_is_doubtful_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, Path]] = []

    def ask(question: str, tree: Path, effort: str) -> list[Row]:
        asked.append((question, tree))
        here = tree == ROOT
        times = {work: times if here else 1.0 for work, times in SLOWER.items()}
        if here and len(asked) % 4 < 2:
            times["doubtful"] = 1.2  # in every second pair
        names = ("doubtful",) if question == "recording" else ("slower", "same", "faster")
        return [Row(work=name, value=times[name], unit="ms") for name in names]

    monkeypatch.setattr(versus, "ask", ask)
    monkeypatch.setattr(versus, "run_on_best", lambda: "this one")
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: None)
    given = ["versus", str(tmp_path), "--questions", "recording", "mlp_sgd"]
    monkeypatch.setattr(sys, "argv", given)
    assert versus.main() == 1
    text = capsys.readouterr().out.splitlines()
    found = {line.split()[-1]: line for line in text[1:]}
    assert "worse" in found["slower"]
    assert "as before" in found["same"]
    assert "as before" in found["faster"]
    pairs = [question for question, tree in asked if tree == ROOT]
    assert pairs.count("mlp_sgd") == 5
    assert pairs.count("recording") >= 5
    # the other side is the first in every second pair
    assert [tree == ROOT for question, tree in asked if question == "mlp_sgd"] == [
        True, False, False, True, True, False, False, True, True, False,
    ]  # fmt: skip


def test_what_is_neither_a_folder_nor_a_commit_is_told() -> None:
    with (
        pytest.raises(SystemExit, match="no-such-thing is neither a folder nor a commit"),
        versus.tree_of("no-such-thing"),
    ):
        raise AssertionError("it has a tree")
