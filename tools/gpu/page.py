"""The page of a device: what ran on it, and what it measured."""

from __future__ import annotations

import datetime
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .kept import StepSaid
from .machine import FACTS, ROOT, Python
from .parts import WORKS

FOLDER = ROOT / "benchmarks" / "results"
OURS = "gradd"
_TOP = """\
# {device}

Written by `make gpu`, {date}: driver {driver}, CUDA {cuda}, cupy {cupy}, {versions}. {clocks}.

## Tests

On the device beside NumPy's kernels, planned steps beside unplanned ones, and who waits for the device.

{tests}

## compute-sanitizer

{sanitize}

## Benchmarks

Milliseconds a step: the median of the rounds and its quartiles. All run the same model on the same batches,
in turn within one run, and each round ends with a loss that is read. gradd is {where}. torch has its
defaults, TF32 in convolutions among them.

{bench}
"""
_NOT_YET = "Not run yet."


def path_of(device: str) -> Path:
    """The page of a device."""
    return FOLDER / f"{re.sub(r'[^a-z0-9]+', '-', device.lower()).strip('-')}.md"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def spread(values: Sequence[float], unit: str = "") -> str:
    """The median, and the quartiles."""
    if len(values) == 1:
        return f"{_number(values[0])}{unit}"
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{_number(middle)}{unit} ({_number(low)} – {_number(high)})"


def why(said: StepSaid) -> str:
    """What a step that was cut says first; of any other, what it said last."""
    lines = said.text.strip().splitlines() or [""]
    return lines[0 if said.outcome == "cut" else -1]


def tests(said: Mapping[str, StepSaid]) -> str:
    """How many tests of each file passed, and which did not."""
    if not said:
        return _NOT_YET
    counts: dict[str, Counter[str]] = {}
    for name, one in said.items():
        if "::" in name:
            file = Path(name.partition("::")[0]).stem.removeprefix("test_")
            counts.setdefault(file, Counter())[one.outcome] += 1
    rows = []
    for file, count in sorted(counts.items()):
        step = said.get(file)
        how = "not to its end yet" if step is None or step.outcome == "cut" else step.outcome
        rows.append((file, *(str(count[each]) for each in ("passed", "failed", "skipped")), how))
    bad = [f"- `{name}`" for name, one in said.items() if "::" in name and one.outcome == "failed"]
    broken = [
        f"- {name}: {one.outcome}, {why(one)}"
        for name, one in said.items()
        if "::" not in name and name not in counts and one.outcome != "passed"
    ]
    text = table(("file", "passed", "failed", "skipped", "in all"), rows) if rows else _NOT_YET
    return "\n\n".join(filter(None, (text, "\n".join(sorted(bad)), "\n".join(broken))))


def sanitize(said: Mapping[str, StepSaid]) -> str:
    """What each check came to."""
    rows = [(name, one.outcome, why(one)) for name, one in said.items()]
    return table(("check", "outcome", "says"), rows) if rows else _NOT_YET


def bench(said: Mapping[str, StepSaid]) -> str:
    """What a step takes on each side, how gradd's time compares within each round, and who was left out."""
    measured = {name: said[name].figures for name in WORKS if name in said and said[name].figures}
    if not measured:
        return "\n".join([_NOT_YET, *_missing(said)])
    sides = list(dict.fromkeys(side for figures in measured.values() for side in figures["seconds"]))
    times, ratios, notes = [], [], []
    for figures in measured.values():
        seconds: dict[str, list[float]] = figures["seconds"]
        shown = [spread([1e3 * s for s in seconds[side]]) if side in seconds else "–" for side in sides]
        rounds = len(next(iter(seconds.values())))
        times.append((figures["work"], *shown, str(rounds), figures.get("clock") or "–"))
        against = [
            spread([mine / s for mine, s in zip(seconds[OURS], seconds[side], strict=True)])
            if side in seconds
            else "–"
            for side in sides
            if side != OURS
        ]
        ratios.append((figures["work"], *against))
        notes += [f"- {figures['work']}: {note}" for note in figures["notes"]]
    head = ("work", *sides, "rounds", "SM clock after")
    beside = ("gradd's time over that of", *(side for side in sides if side != OURS))
    compared = table(beside, ratios) if len(sides) > 1 else ""
    return "\n\n".join(filter(None, (table(head, times), compared, "\n".join([*notes, *_missing(said)]))))


def _missing(said: Mapping[str, StepSaid]) -> list[str]:
    """What was not measured, and why."""
    return [
        f"- {name}: {said[name].outcome}, {why(said[name])}" if name in said else f"- {name}: not run yet"
        for name in WORKS
        if name not in said or not said[name].figures
    ]


def document(python: Python, said: Mapping[str, Mapping[str, StepSaid]], facts: Mapping[str, str]) -> str:
    """The page."""
    figures = [one.figures for one in said["bench"].values() if one.figures]
    versions = figures[-1]["versions"] if figures else {"Python": python.version}
    known = dict.fromkeys(FACTS, "?") | dict(facts)
    clocks = (
        f"{known['memory.total']}, power limit {known['power.limit']}; clocks before: SM "
        f"{known['clocks.sm']} of at most {known['clocks.max.sm']}, memory {known['clocks.mem']}"
    )
    return _TOP.format(
        device=python.device, date=f"{datetime.date.today():%d %B %Y}", driver=known["driver_version"],
        cuda=f"{python.cuda // 1000}.{python.cuda % 1000 // 10}", cupy=python.cupy, clocks=clocks,
        versions=", ".join(f"{name} {version}" for name, version in versions.items()),
        where=figures[-1]["where"] if figures else "a daemon on this machine", tests=tests(said["tests"]),
        sanitize=sanitize(said["sanitize"]), bench=bench(said["bench"]),
    )  # fmt: skip
