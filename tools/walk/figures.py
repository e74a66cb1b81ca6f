"""The pictures of walks, each drawn from files that the page's own commands wrote."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .charts import Bar, Line, bars, lines

#: how many batches of a trace are drawn
_BATCHES = 3


class Figure(NamedTuple):
    """What draws a picture from the folder of a walk; whether it shows times, which no two runs share."""

    draw: Callable[[Path], str]
    timed: bool = False


def _curves(path: Path) -> list[Line]:
    """What `GET /v1/sessions/{name}/series` answered."""
    found: dict[str, Any] = json.loads(path.read_text())["series"]
    return [Line(name, [*zip(curve["steps"], curve["values"], strict=True)]) for name, curve in found.items()]


def _columns(path: Path) -> list[Line]:
    """A file of comma-separated columns under their names; the first is x."""
    head, *rows = csv.reader(path.read_text().splitlines())
    return [
        Line(name, [(float(row[0]), float(row[n])) for row in rows]) for n, name in enumerate(head[1:], 1)
    ]


def _losses(folder: Path) -> str:
    return lines("The loss, step by step", _curves(folder / "series.json"), "step", "loss", log=True)


def _solution(folder: Path) -> str:
    solution, *networks = _columns(folder / "solution.csv")
    return lines("The solution, and the network's", [solution._replace(wide=True), *networks], "x", "u")


def _error(folder: Path) -> str:
    return lines("How far the network is off", _columns(folder / "error.csv"), "x", "error")


def _descent(folder: Path) -> str:
    return lines("The loss, step by step", _columns(folder / "losses.csv"), "step", "loss", log=True)


def _shares(folder: Path) -> str:
    """What each tenant holds, as `GET /v1/status` tells an operator."""
    tenants: list[dict[str, Any]] = json.loads((folder / "status.json").read_text())["tenants"]
    held = sorted((t["tenant"], t["bytes"] / 2**20) for t in tenants)
    return bars("What each tenant holds", [Bar(name, 0.0, size) for name, size in held], "MiB")


def _timeline(folder: Path) -> str:
    """The latest batches of a trace, from row to row."""
    events: list[dict[str, Any]] = json.loads((folder / "step.json").read_text())["traceEvents"]
    rows = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    sent = [e for e in events if e["ph"] == "s"][-_BATCHES:]
    ran = {e["ts"]: e["id"] for e in events if e["ph"] == "f"}
    began, ids = sent[0]["ts"], {e["id"] for e in sent}
    first = min(ts for ts, id in ran.items() if id in ids)
    parts = [(e, int(e["id2"]["local"], 16)) for e in events if e["ph"] in "be"]
    ends = {(e["pid"], e["name"], id): e["ts"] for e, id in parts if e["ph"] == "e"}
    spans = [
        (e["pid"], e["ts"], ends[e["pid"], e["name"], id])
        for e, id in parts
        if e["ph"] == "b" and id in ids and rows[e["pid"]] != "engine"
    ]
    spans += [
        (e["pid"], e["ts"], e["ts"] + e["dur"])
        for e in events
        if e["ph"] == "X" and e["ts"] >= (began if rows[e["pid"]] == "client" else first)
    ]
    shown = [
        Bar(rows[pid], (ts - began) / 1e3, (end - began) / 1e3, pid - 1) for pid, ts, end in sorted(spans)
    ]
    return bars("A few steps on their way", shown, "ms")


FIGURES: Mapping[str, Mapping[str, Figure]] = {
    "tutorials/train.md": {"losses.svg": Figure(_losses)},
    "tutorials/share.md": {"shares.svg": Figure(_shares)},
    "tutorials/pinn.md": {"solution.svg": Figure(_solution), "error.svg": Figure(_error)},
    "tutorials/javascript.md": {"descent.svg": Figure(_descent)},
    "tutorials/profile.md": {"timeline.svg": Figure(_timeline, timed=True)},
}
"""By page, from the folder of docs/: the pictures in `pictures` beside it."""
