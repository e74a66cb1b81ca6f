"""Every question runs, in process and without torch; how long it takes is no test's matter."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradd
import msgspec
import pytest

from benchmarks import QUESTIONS
from benchmarks.bench import Bench, Curve, Row, Timing, spread
from benchmarks.growth import Kind, Round, told
from benchmarks.report import document, table, write
from benchmarks.tried import TRIED
from benchmarks.where import where

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("question", QUESTIONS)
def test_question(question: str) -> None:
    command = [sys.executable, "-W", "error", "-m", f"benchmarks.{question}"]
    options = ["--url=local:", "--effort=smoke", "--no-torch", "--json"]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = msgspec.json.decode(done.stdout, type=list[Row])
    assert rows
    # A row has a figure, or says why not.
    assert [row.work for row in rows if row.value is None and not row.note] == []
    assert [row.work for row in rows if row.value is not None and row.value < 0] == []


def test_every_file_with_a_question_is_asked() -> None:
    files = {path.stem for path in (ROOT / "benchmarks").glob("*.py") if "def question(" in path.read_text()}
    assert files == set(QUESTIONS)


def test_spread_is_the_median_and_the_quartiles() -> None:
    assert spread([5.0, 1.0, 2.0, 4.0, 3.0]) == (3.0, 2.0, 4.0)
    assert spread([7.0]) == (7.0, 7.0, 7.0)


def test_a_ratio_is_taken_within_its_round() -> None:
    row = Timing(mine=[1.0, 20.0, 3.0], peer=[1.0, 10.0, 1.0]).ratio("work", 2.0)
    assert (row.value, row.met()) == (2.0, True)


def test_every_side_is_measured_each_round() -> None:
    calls: list[str] = []
    sides = {name: lambda name=name: calls.append(name) for name in ("mine", "peer", "jax", "other")}
    mine, peer, *_ = sides.values()
    others = {name: sides[name] for name in ("jax", "other")}
    found = Bench("local:", None, None).interleave(mine, peer, 1, rounds=4, warm=1, others=others)
    assert [calls[n : n + 4][0] for n in range(4, 20, 4)] == list(sides)
    assert [len(s) for s in (found.mine, found.peer, *found.others.values())] == [4, 4, 4, 4]


def test_other_peers_stand_in_the_row() -> None:
    others = {"fused": [0.001, 0.003, 0.002], "jax.jit": [0.00112]}
    row = Timing(mine=[1.0], peer=[1.0], others=others).ratio("work")
    assert row.others == "fused 2 ms, jax.jit 1.12 ms"
    assert row.others in table([row])


def test_the_document_says_what_was_missed_and_by_how_much() -> None:
    rows = [
        Row(work="fast", value=0.5, bar=1.0),
        Row(work="slow", question="ppo", value=3.0, bar=2.0, where="all in mul."),
        Row(work="narrow", value=0.2, bar=0.4, at_least=True),
        Row(work="later", bar=1.0, note="not built yet: it"),
    ]
    text = document(rows, (0.0, 0.0), "Interpreter: 3.99")
    assert table(rows) in text
    assert "## 2 of 3 bars are not met" in text
    assert "- **slow**: 3.00 where 2.00 is wanted, 1.50 times off. all in mul." in text
    assert "- **narrow**: 0.20 where 0.40 is wanted, 2.00 times off." in text
    assert "- **fast**" not in text
    assert "\n- `ppo`: What a policy computes decides" in text
    assert "`char_gpt`" not in text
    assert "not built yet: it" in text


def test_pictures_are_written_beside_the_page(tmp_path: Path) -> None:
    curve = Curve("growth-of-it", "It <grows>", "its size", {"client": [(10, 5.0), (1000, 6.0)]})
    rows = [Row(work="it", value=1.0), Row(work="it grows", value=1.0, curve=curve)]
    text = document(rows, (0.0, 0.0), "Interpreter: 3.99")
    write(tmp_path / "page.md", text, rows)
    assert (tmp_path / "page.md").read_text() == text
    found = re.search(r"!\[It <grows>\]\((\S+)\)", text)
    assert found is not None
    svg = (tmp_path / found[1]).read_text()
    assert "It &lt;grows&gt;" in svg
    assert ">its size</text>" in svg
    assert "What grows" not in document(rows[:1], (0.0, 0.0), "")


def test_growth_is_of_all_rounds_at_the_end() -> None:
    kind = Kind("its", "an op on {} of it", "size", 1, (1, 1000), 2, 1, 1, 2)
    small = {"client": 1e-6, "engine": 1e-6}
    costs = [(1, 9e-6), (1, 9e-6), (1000, 1e-6), (1000, 4e-6)]
    row = told(kind, [Round(size, {"client": cost, "engine": 1e-6}, small) for size, cost in costs])
    assert row.work == "CPU of an op on 1,000 of it, beside one with 1"
    assert row.value == pytest.approx(7 / 4)
    assert row.met() is False
    assert (row.mine, row.peer) == ("3.5 µs", "2.0 µs")
    assert row.curve is not None
    assert row.curve.points["client"] == [(1, pytest.approx(9.0)), (1000, pytest.approx(2.5))]


def test_where_a_step_goes_adds_up() -> None:
    def make() -> Callable[[], Any]:
        w = gradd.ones(3, requires_grad=True)

        def step() -> None:
            w.grad = None
            (w * 2).exp().sum().backward()
            w.grad.tolist()

        return step

    text = where(make, 1, 20)
    found = re.search(r"script (-?\d+), session outside planned kernels (-?\d+), kernels (-?\d+)", text)
    assert found is not None, text
    script, session, kernels = map(int, found.groups())
    assert min(script, session) > 0 <= kernels, text
    assert "mul" in text


def test_a_missed_bar_of_nothing_is_told() -> None:
    rows = [Row(work="trips", value=3.0, bar=0.0), Row(work="share", value=0.0, bar=0.5, at_least=True)]
    page = document(rows, (0.0, 0.0), "Interpreter: one.")
    assert "- **trips**: 3.00 where 0.00 is wanted.\n- **share**: 0.00 where 0.50 is wanted.\n" in page


def test_what_was_tried_is_about_questions() -> None:
    asked = [each for questions, what in TRIED for each in questions if what]
    assert len(asked) > 10
    assert set(asked) <= set(QUESTIONS)
