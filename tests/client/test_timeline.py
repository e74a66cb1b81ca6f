"""`Profile.export_chrome_trace`: one timeline over client, wire, front, engine and kernels."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import gradd
import pytest
from gradd._session.timeline import ROWS, _shift
from gradd._session.trips import Trip

Event = dict[str, Any]
#: members of an event by its phase, besides ph, pid, tid and name (Trace Event Format)
DUE = {"X": {"ts", "dur", "cat"}, "M": {"args"}, "s": {"ts", "id", "cat"}, "f": {"ts", "id", "cat", "bp"}}
DUE |= {phase: {"ts", "id2", "cat"} for phase in "be"}


def trained(session: gradd.Session, path: Path, steps: int = 6) -> tuple[gradd.Session, list[Event]]:
    net = gradd.nn.Linear(4, 3)
    opt = gradd.optim.SGD(net.parameters(), lr=0.1)
    x = gradd.ones(2, 4)
    with session.profile() as p:
        for _ in range(steps):
            opt.zero_grad()
            loss = net(x).pow(2).sum()
            loss.backward()
            opt.step()
        assert loss.item() >= 0
    p.export_chrome_trace(path)
    said = json.loads(path.read_text())
    assert said["displayTimeUnit"] == "ms"
    return p, said["traceEvents"]


def rows(events: list[Event]) -> dict[str, list[Event]]:
    """The events with a time, by the name of their process."""
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    found: dict[str, list[Event]] = {name: [] for name in names.values()}
    assert len(found) == len(names)
    for e in events:
        if e["ph"] != "M":
            found[names[e["pid"]]].append(e)
    return found


def check(events: list[Event]) -> None:
    """As the format has it: members, times, nesting of what is whole, pairs of what begins and ends."""
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    lasting: dict[tuple[int, int], list[Event]] = defaultdict(list)
    open_: dict[tuple[int, str, str], list[Event]] = defaultdict(list)
    arrows: dict[int, list[Event]] = defaultdict(list)
    for e in events:
        assert set(e) - {"args"} == {"ph", "pid", "tid", "name", *DUE[e["ph"]]} - {"args"}
        assert isinstance(e["pid"], int)
        assert isinstance(e["tid"], int)
        if e["ph"] == "M":
            continue
        assert (e["pid"], e["tid"]) in named
        assert e["ts"] >= 0
        if e["ph"] == "X":
            assert e["dur"] >= 0
            lasting[e["pid"], e["tid"]].append(e)
        elif e["ph"] in "be":
            stack = open_[e["pid"], e["cat"], e["id2"]["local"]]
            if e["ph"] == "b":
                stack.append(e)
            else:
                began = stack.pop()
                assert began["name"] == e["name"]
                assert began["ts"] <= e["ts"]
        else:
            arrows[e["id"]].append(e)
    assert not any(open_.values())
    for found in lasting.values():
        around: list[Event] = []
        for e in sorted(found, key=lambda e: (e["ts"], -e["dur"])):
            while around and around[-1]["ts"] + around[-1]["dur"] <= e["ts"] + 0.002:
                around.pop()
            if around:
                assert e["ts"] + e["dur"] <= around[-1]["ts"] + around[-1]["dur"] + 0.002
            around.append(e)
    for pair in arrows.values():
        assert [e["ph"] for e in sorted(pair, key=lambda e: (e["ts"], e["ph"] == "f"))] == ["s", "f"]


def spans(events: list[Event], name: str) -> dict[int, tuple[float, float]]:
    """Of spans of a name by their batches: when they began and ended."""
    found: dict[int, list[float]] = defaultdict(list)
    for e in events:
        if e["ph"] in "be" and e["name"] == name:
            found[int(e["id2"]["local"], 16)].append(e["ts"])
    return {id: (times[0], times[1]) for id, times in found.items()}


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_a_batch_is_seen_on_its_whole_way(daemon: str, tmp_path: Path, transport: str) -> None:
    with gradd.connect(daemon, transport=transport) as session:
        p, events = trained(session, tmp_path / "trace.json")
    check(events)
    by_row = rows(events)
    assert tuple(by_row) == ROWS
    runs = {e["args"]["position"]: e for e in by_row["engine"] if e["ph"] == "X"}
    assert list(runs) == [b.position for b in p.batches]
    there, back = spans(by_row["wire"], "there"), spans(by_row["wire"], "back")
    front, queue = spans(by_row["front"], "batch"), spans(by_row["engine"], "waits")
    sends = {e["name"]: e for e in by_row["client"] if e["name"].startswith("send ")}
    assert set(runs) == set(there) == set(back) == set(front) == set(queue)
    for n, run in runs.items():
        moments = [
            sends[f"send batch {n}"]["ts"], there[n][0], there[n][1], queue[n][0], queue[n][1], run["ts"],
            run["ts"] + run["dur"], back[n][0], back[n][1],
        ]  # fmt: skip
        assert moments == pytest.approx(sorted(moments), abs=0.002)
        assert front[n] == (there[n][1], back[n][0])
    calls = by_row["kernels"]
    assert sum(k.calls for k in p.kernels) == len(calls) == len(p.calls)
    assert {k.name for k in p.kernels} == {e["name"] for e in calls}
    for call in calls:
        around = [
            run
            for run in runs.values()
            if run["ts"] - 1 <= call["ts"] and call["ts"] + call["dur"] <= run["ts"] + run["dur"] + 1
        ]
        assert len(around) == 1
    (wait,) = (e for e in by_row["client"] if e["name"].startswith("waits in test_timeline.py"))
    assert wait["args"]["code"] == "assert loss.item() >= 0"


def test_a_session_in_this_process_has_no_wire(tmp_path: Path) -> None:
    with gradd.connect("local:") as session:
        p, events = trained(session, tmp_path / "trace.json")
        assert session.wire.transport is p._trips.transport
        p.export_chrome_trace(tmp_path / "trace.json.gz")
    check(events)
    assert tuple(rows(events)) == ("client", "engine", "kernels")
    compressed = json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))
    assert compressed["traceEvents"] == events


def test_a_trace_is_of_what_was_measured(tmp_path: Path) -> None:
    with gradd.connect("local:") as session:
        with session.profile() as p, pytest.raises(RuntimeError, match="until it is stopped"):
            p.export_chrome_trace(tmp_path / "trace.json")
        p.export_chrome_trace(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"] == []


def test_ranges_of_the_script_stand_beside_what_they_sent(daemon: str, tmp_path: Path) -> None:
    marked = gradd.profiler.record_function
    with gradd.connect(daemon), gradd.profiler.profile() as p, marked("outer"):
        with marked("inner"):
            gradd.ones(3).sum().item()
        gradd.ones(4).sum().item()
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    check(events)
    found = [e["name"] for e in rows(events)["client"] if e["cat"] == "user_annotation"]
    assert found == ["outer", "inner"]


def test_the_clock_of_another_machine_is_put_where_batches_lie_between_their_messages() -> None:
    def trip(began: float, came: float) -> Trip:
        return Trip(1, began, began, 10, came, 10, 1)

    ahead = [(1001.0, 1002.0, trip(0.5, 2.0)), (1011.2, 1011.5, trip(10.0, 12.0))]
    shift = _shift(ahead)
    assert shift != 0
    for came, answered, sent in ahead:
        assert sent.began <= came + shift <= answered + shift <= sent.came
    assert _shift([(1.0, 1.5, trip(0.5, 2.0))]) == 0.0
    assert _shift([]) == 0.0
