"""The exported timeline in Perfetto's own trace processor: what it reads is what was written."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NamedTuple

import gradd
import pytest
from gradd._session.timeline import ROWS

from tests.client.perfetto import FAULTS, FLOWS, SLICES, Row, asked

marked = gradd.profiler.record_function


class Seen(NamedTuple):
    """What was written, and what Perfetto has of it."""

    written: list[Row]
    faults: list[Row]
    slices: list[Row]
    processes: list[Row]
    flows: list[Row]


@pytest.fixture(scope="module")
def seen(daemon: str, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Six steps of a training with ranges in ranges, on a daemon."""
    path = tmp_path_factory.mktemp("viewers") / "trace.json"
    with gradd.connect(daemon):
        net = gradd.nn.Linear(4, 3)
        opt = gradd.optim.SGD(net.parameters(), lr=0.1)
        with gradd.profiler.profile() as p:
            for _ in range(6):
                with marked("step"):
                    opt.zero_grad()
                    with marked("forward"):
                        loss = net(gradd.ones(2, 4)).pow(2).sum()
                    loss.backward()
                    opt.step()
            with marked("reading"):
                loss.item()
    p.export_chrome_trace(str(path))
    processes = "select name from process where pid > 0 order by pid"
    return Seen(
        json.loads(path.read_text())["traceEvents"],
        *asked(path.read_bytes(), FAULTS, SLICES, processes, FLOWS),
    )


def test_perfetto_reads_all_of_a_timeline_without_an_error(seen: Seen) -> None:
    assert seen.faults == []
    assert all(s["dur"] >= 0 for s in seen.slices)  # none was left open
    assert Counter(s["name"] for s in seen.slices) == Counter(
        e["name"] for e in seen.written if e["ph"] in "Xb"
    )
    assert tuple(p["name"] for p in seen.processes) == ROWS
    assert {s["process"] for s in seen.slices} == set(ROWS)
    assert {s["thread"] for s in seen.slices if s["process"] == "client"} == {"thread 1"}


def test_what_lies_within_another_is_nested_in_perfetto(seen: Seen) -> None:
    parents = {s["name"]: s["parent"] for s in seen.slices}
    assert parents["forward"] == "step"
    assert parents["step"] is None
    (wait,) = (s for s in seen.slices if s["name"].startswith("waits in test_viewers.py"))
    assert wait["parent"] == "reading"
    inner = [s for s in seen.slices if s["name"] == "with the engine"]
    outer = [s for s in seen.slices if (s["process"], s["name"]) == ("front", "batch")]
    assert {s["parent"] for s in inner} == {"batch"}
    assert len(inner) == len(outer) >= 6
    runs = [s for s in seen.slices if s["process"] == "engine" and "steps" in s["name"]]
    calls = [s for s in seen.slices if s["process"] == "kernels"]
    assert len(runs) == len(outer)
    assert all(s["depth"] == 0 for s in (*outer, *runs, *calls))


def test_arrows_lead_from_where_batches_were_sent_to_where_they_ran(seen: Seen) -> None:
    by_id = {s["id"]: s for s in seen.slices}
    ends = [(by_id[f["slice_out"]], by_id[f["slice_in"]]) for f in seen.flows]
    runs = [s["id"] for s in seen.slices if s["process"] == "engine" and "steps" in s["name"]]
    assert sorted(into["id"] for _, into in ends) == sorted(runs)
    for out, into in ends:
        assert out["name"].startswith("send batch ")
        assert out["ts"] <= into["ts"]


def whole(name: str, ts: float, **members: Any) -> Row:
    return {"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": ts, **members}


PLANTED = {
    "slice_drop_overlapping_complete_event": [whole("a", 1, dur=10), whole("b", 5, dur=20)],
    "flow_end_without_start": [
        whole("a", 30, dur=10),
        {"ph": "f", "bp": "e", "pid": 1, "tid": 1, "cat": "batch", "name": "batch", "id": 7, "ts": 32},
    ],
    "json_parser_failure": [whole("without an end", 60)],
}


def test_planted_faults_are_found() -> None:
    events = [event for planted in PLANTED.values() for event in planted]
    (faults,) = asked(json.dumps({"traceEvents": events}).encode(), FAULTS)
    assert {f["name"] for f in faults} == set(PLANTED)
