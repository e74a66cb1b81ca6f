"""Rows as a table, and the document around it."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from tools.walk.charts import Line, lines

from .bench import PROCESSES, Row, Spread
from .beside import COMPARED, TOLERANCE
from .tried import TRIED

_PAGE = """\
# Benchmarks

Written by `make bench`; `make bench-quick` prints less of it in two minutes. Each question is a file of
`benchmarks/` and runs alone too: `python -m benchmarks.mlp_sgd`.

{date}, {machine}. {interpreter} Load average {before:.1f} before and
{after:.1f} after: where other work ran on the machine, read the ratios and their quartiles, not the times.

gradd and its peers run in turn, in one run, several rounds each; a figure is the median over the rounds, of
the ratio within a round where it is a ratio (below 1 gradd is faster). The daemon serves on loopback with
one BLAS thread; the peer of a ratio is torch eager with one thread and its default optimizer, and raw TCP
for the wire. Data is on the server, sliced there, unless the row says otherwise. CPU is that of a step (an
op, a request), with its quartiles: of the process that runs the script, and of the daemon's front and engine
process; the system shares the cores between them.

Other peers run in the same rounds, each where it is installed (`.venv/bin/pip install --group bench`), with
one thread: "fused" is torch eager with its fused optimizer, "torch.compile" torch with the model compiled
(where there is a C++ compiler), "jax.jit" the whole step as one program, update and all, and "autograd"
HIPS autograd. Their figures are medians of warm runs, with no compiling in them; no bar is held to them.

The models, from char-GPT to PINN, begin with the same weights and data on both sides. Before one is measured,
the losses of its first {compared} steps are compared with torch's, with NumPy's random numbers in place of
either library's and nothing dropped out; the run fails where they differ by more than {tolerance}.

{table}
{growth}
## {missed} of {measured} bars are not met

By how much, and where the time goes. The split is CPU time, measured in the same run, with the session in
the script's process and each planned kernel timed. "Script" is recording, sending and reading replies;
"session outside planned kernels" is decoding, admission, the loop of a replay, its bookkeeping and the
reply, and whole steps where a batch runs eagerly.

{list}
{tried}{others}"""

#: below the table, where a row has a picture
_GROWTH = """
## What grows

CPU time a step, as what is beside it grows.

{pictures}
"""
#: the pictures' folder, beside the page
PICTURES = "pictures/benchmarks"

_HEAD = (
    "work", "figure", "quartiles", "bar", "met", "gradd", "peer", "other peers",
    *(f"{each} CPU" for each in PROCESSES),
)  # fmt: skip


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f} {unit}".strip()


def _quartiles(low: float, high: float) -> str:
    return f"{_number(low, '')} – {_number(high, '')}"


def _cpu(used: Spread) -> str:
    value, low, high = used
    return f"{_number(value, '')} µs" + (f" ({_quartiles(low, high)})" if low < high else "")


def _cells(row: Row) -> tuple[str, ...]:
    met = {None: "", True: "yes", False: "no"}[row.met()]
    bar = "" if row.bar is None else f"{'≥' if row.at_least else '≤'} {row.bar:g} {row.unit}".strip()
    quartiles = "" if row.low is None or row.high is None else _quartiles(row.low, row.high)
    figure = row.note if row.value is None else _number(row.value, row.unit)
    cpu = [_cpu(row.cpu[each]) if each in row.cpu else "" for each in PROCESSES]
    return (row.work, figure, quartiles, bar, met, row.mine, row.peer, row.others, *cpu)


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table, with a column for another commit where one was asked."""
    lines = [_HEAD, *map(_cells, rows)]
    if any(row.against for row in rows):
        compared = ["beside the other", *(row.against for row in rows)]
        lines = [(*line, more) for line, more in zip(lines, compared, strict=True)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines]
    return "\n".join([text[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *text[1:]])


def machine() -> str:
    """Processor, cores, and the versions of what computed."""
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    versions = [f"Python {platform.python_version()}"]
    for name in ("numpy", "numba", "torch", "jax", "autograd"):
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"no {name}")
    return f"{found[1] if found else platform.machine()}, {os.cpu_count()} cores, {', '.join(versions)}"


def _missed(row: Row) -> str:
    assert row.value is not None
    assert row.bar is not None
    over, under = (row.bar, row.value) if row.at_least else (row.value, row.bar)
    text = f"- **{row.work}**: {_number(row.value, row.unit)} where {_number(row.bar, row.unit)} is wanted"
    text += f", {over / under:.2f} times off." if under else "."
    cpu = [f"{process} {_number(used[0], 'µs')}" for process, used in row.cpu.items()]
    if cpu:
        text += f" CPU a step: {', '.join(cpu)}."
    return text + (f" {row.where}" if row.where else "")


def tried(missed: Sequence[Row]) -> str:
    """What was tried against the bars that are missed."""
    questions = {row.question for row in missed}
    told = []
    for asked, what in TRIED:
        names = ", ".join(f"`{each}`" for each in asked if each in questions)
        told += [f"- {names}: {what}"] if names else []
    return "\nWhat was tried, by question:\n\n" + "\n".join(told) + "\n" if told else ""


def pictures(rows: Sequence[Row]) -> dict[str, str]:
    """What the rows have to show, as SVG by the name of its file."""
    found = {}
    for curve in (row.curve for row in rows if row.curve is not None):
        drawn = [Line(process, points) for process, points in curve.points.items()]
        picture = lines(curve.title, drawn, curve.along, "µs a step", along_log=True, zero=True)
        found[f"{curve.name}.svg"] = picture
    return found


def growth(rows: Sequence[Row]) -> str:
    """The part of the page with the pictures."""
    shown = [row.curve for row in rows if row.curve is not None]
    told = "\n\n".join(f"![{curve.title}]({PICTURES}/{curve.name}.svg)" for curve in shown)
    return _GROWTH.format(pictures=told) if told else ""


def write(page: Path, text: str, rows: Sequence[Row]) -> None:
    """Write the page, and its pictures beside it."""
    page.write_text(text)
    folder = page.parent / PICTURES
    for name, picture in pictures(rows).items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(picture)


def document(rows: Sequence[Row], load: tuple[float, float], interpreter: str) -> str:
    """docs/benchmarks.md."""
    missed = [row for row in rows if row.met() is False]
    measured = [row for row in rows if row.met() is not None]
    listed = "\n".join(f"- **{row.work}**: {row.where}" for row in rows if row.where and row not in missed)
    page = _PAGE.format(
        date=f"{datetime.date.today():%d %B %Y}", interpreter=interpreter, machine=machine(),
        before=load[0], after=load[1], table=table(rows), growth=growth(rows),
        missed=len(missed), measured=len(measured),
        list="\n".join(map(_missed, missed)), tried=tried(missed),
        compared=COMPARED, tolerance=f"{TOLERANCE:.1%}",
        others=f"\nWhere the time goes in the others:\n\n{listed}\n" if listed else "",
    )  # fmt: skip
    return folded(page)


def folded(page: str) -> str:
    """The page with its long lines wrapped, but for rows of tables and pictures."""
    lines: list[str] = []
    for line in page.split("\n"):
        indent = "  " if line.startswith("- ") else ""
        short = textwrap.wrap(line, 110, subsequent_indent=indent, break_on_hyphens=False)
        lines += [line] if line.startswith(("|", "![")) or len(line) <= 110 else short
    return "\n".join(lines)
