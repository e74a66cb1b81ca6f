"""Ways through the house: steps in lanes, from top to bottom, each a definition that exists."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any, NamedTuple

from .svg import GREY, INK, TINTS, Box, arrow, page, rect, text, wrapped

LANE, PAD, RISE, LINE, HEAD, SIZE = 344.0, 10.0, 26.0, 14.0, 64.0, 10.5
#: between lanes, where what crosses is written
GUTTER, MARGIN = 84.0, 20.0
#: what a lane leaves free at its left, where arrows go back up
INSET = 30.0


class Step(NamedTuple):
    """What happens next: `definition` is ``module:name``, or empty for the user's own code.

    `lane` counts from the left; a `half` box ("left", "right") shares its row with another.
    """

    key: str
    lane: int
    definition: str
    label: str
    half: str = ""


class Lane(NamedTuple):
    """A column: a process, in the colours of a package."""

    title: str
    below: str
    tint: str


class Arrow(NamedTuple):
    """From one step to another. A `back` arrow goes up, by the left margin of their lane."""

    source: str
    target: str
    label: str = ""
    back: bool = False


class Way(NamedTuple):
    """A picture: its lanes, its rows of steps, its arrows."""

    title: str
    lanes: tuple[Lane, ...]
    rows: tuple[tuple[Step, ...], ...]
    arrows: tuple[Arrow, ...]


def source(definition: str, root: Path) -> str:
    """The file of a definition, seen from `root`; ValueError where there is no such definition."""
    module, _, name = definition.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"a picture shows {definition}: {error}") from None
    if getattr(inspect.unwrap(found), "__module__", "") != module:
        raise ValueError(f"a picture shows {definition}, which is defined elsewhere")
    path = inspect.getsourcefile(importlib.import_module(module))
    assert path is not None
    return Path(path).resolve().relative_to(root.resolve()).as_posix()


def _lines(step: Step, width: float) -> list[str]:
    return wrapped(step.label, width - 2 * PAD, SIZE)


def _place(step: Step, root: Path) -> list[str]:
    """The file of a step, in two lines where its box is narrow."""
    if not step.definition:
        return []
    path = source(step.definition, root)
    return [path[: path.rindex("/") + 1], path[path.rindex("/") + 1 :]] if step.half else [path]


def _name(step: Step) -> str:
    name = step.definition.partition(":")[2]
    return f"{name}()" if name.rpartition(".")[2][:1].islower() or "._" in name or name[:1] == "_" else name


def _placed(way: Way, root: Path) -> dict[str, Box]:
    boxes = {}
    y = MARGIN + HEAD
    inset = INSET if any(a.back for a in way.arrows) else 0.0
    for row in way.rows:
        for step in row:
            full = LANE - inset
            width = (full - 12) / 2 if step.half else full
            x = MARGIN + step.lane * (LANE + GUTTER) + inset + (full - width if step.half == "right" else 0)
            files = len(_place(step, root))
            above = 20 + 12.0 * files if files else 6.0
            boxes[step.key] = Box(x, y, width, above + LINE * len(_lines(step, width)) + 8)
        tall = max(boxes[step.key].height for step in row)
        for step in row:
            boxes[step.key] = boxes[step.key]._replace(height=tall)
        y += tall + RISE
    return boxes


def _drawn(step: Step, box: Box, root: Path) -> list[str]:
    line = TINTS[step.definition.partition(":")[0].partition(".")[0]][1]
    parts = [rect(box, "#ffffff", line)]
    y = box.y + 17
    if step.definition:
        parts.append(text(box.x + PAD, y, _name(step), size=11, style="mono bold"))
        for path in _place(step, root):
            y += 12
            size = 8.0 if step.half else 9.0
            parts.append(text(box.x + PAD, y, path, size=size, colour=line, style="mono"))
        y += LINE + 2
    for words in _lines(step, box.width):
        parts.append(text(box.x + PAD, y, words, size=SIZE))
        y += LINE
    return parts


def _arrow(a: Arrow, one: Box, two: Box) -> list[str]:
    anchor = "middle"
    if a.back:
        x = min(one.x, two.x) - INSET / 2
        path = f"M{one.x:.1f} {one.centre:.1f} H{x:.1f} V{two.centre:.1f} H{two.x:.1f}"
        at = x, two.centre - 8
    elif one.right <= two.x or two.right <= one.x:
        begin, end = (one.right, two.x) if one.right <= two.x else (one.x, two.right)
        half = (begin + end) / 2
        path = (
            f"M{begin:.1f} {one.centre:.1f} C{half:.1f} {one.centre:.1f} {half:.1f} {two.centre:.1f} "
            f"{end:.1f} {two.centre:.1f}"
        )
        at = half, min(one.centre, two.centre) - 7
    else:
        bend = (one.bottom + two.y) / 2
        path = (
            f"M{one.middle:.1f} {one.bottom:.1f} C{one.middle:.1f} {bend:.1f} {two.middle:.1f} {bend:.1f} "
            f"{two.middle:.1f} {two.y:.1f}"
        )
        at, anchor = ((one.middle + two.middle) / 2 + 8, bend + 3), "start"
    parts = [arrow(path, INK, thick=1.5)]
    if a.label:
        parts.append(text(*at, a.label, size=9.5, colour=GREY, anchor=anchor))
    return parts


def draw(way: Way, root: Path) -> str:
    """The picture; ValueError where a definition is not there."""
    boxes = _placed(way, root)
    bottom = max(box.bottom for box in boxes.values()) + MARGIN
    parts = []
    for n, lane in enumerate(way.lanes):
        x = MARGIN + n * (LANE + GUTTER)
        around = Box(x - 12, MARGIN, LANE + 24, bottom - MARGIN)
        parts.append(rect(around, *TINTS[lane.tint], corner=10, thick=1.2))
        parts.append(text(x, MARGIN + 24, lane.title, size=14, style="bold"))
        parts.append(text(x, MARGIN + 41, lane.below, size=10, colour=GREY))
    for each in way.arrows:
        parts += _arrow(each, boxes[each.source], boxes[each.target])
    for step in (step for row in way.rows for step in row):
        parts += _drawn(step, boxes[step.key], root)
    width = 2 * MARGIN + len(way.lanes) * (LANE + GUTTER) - GUTTER
    return page(width, bottom + MARGIN, way.title, parts)
