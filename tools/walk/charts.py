"""Charts in SVG: lines over axes, bars, and a timeline. Lengths are pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import NamedTuple

from tools.pictures.svg import GREY, INK, TINTS, Box, page, rect, text

COLOURS = tuple(TINTS[name][1] for name in ("gradd", "gradd_server", "gradd_engine", "gradd_runtime"))
WIDTH, HEIGHT = 640.0, 300.0
_LEFT, _RIGHT, _ABOVE, _BELOW = 74.0, 24.0, 44.0, 46.0
_ROW = 30.0


class Line(NamedTuple):
    """One curve: the points (x, y), all finite; its label stands in its colour above the chart. A `wide` one
    can be seen below others.
    """

    label: str
    points: Sequence[tuple[float, float]]
    wide: bool = False


class Bar(NamedTuple):
    """A row of a timeline or of bars: from `begin` to `end` (in what the axis counts)."""

    row: str
    begin: float
    end: float
    colour: int = 0


class _Axis(NamedTuple):
    low: float
    high: float
    log: bool
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return self.begin + (self.end - self.begin) * (at - low) / (high - low)

    def ticks(self) -> Iterable[float]:
        """Round numbers from `low` to `high`: powers of ten, or about five steps of 1, 2 or 5."""
        if self.log:
            return [10.0**n for n in range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)]
        step = _step(self.high - self.low)
        return [n * step for n in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def _step(span: float) -> float:
    power = 10.0 ** math.floor(math.log10(span / 5))
    return next(power * n for n in (1, 2, 5, 10) if power * n * 6 >= span)


def _axis(
    values: Iterable[float], begin: float, end: float, *, log: bool = False, tight: bool = False
) -> _Axis:
    """An axis that has all values: up to the next round number, unless it is to end with them."""
    found = [*values]
    low, high = min(found), max(found)
    if log:
        first = math.floor(math.log10(low))
        return _Axis(10.0**first, 10.0 ** max(math.ceil(math.log10(high)), first + 1), True, begin, end)
    if not tight:
        step = _step((high - low) or 1.0)
        low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    return _Axis(low, high if high > low else low + 1.0, False, begin, end)


def _rule(x1: float, y1: float, x2: float, y2: float, colour: str = "#d8dce0") -> str:
    return f'<path d="M{x1:.1f} {y1:.1f} L{x2:.1f} {y2:.1f}" stroke="{colour}" stroke-width="1"/>'


def _written(axis: _Axis, tick: float) -> str:
    return f"{tick:,.0f}" if axis.log and tick >= 1 else f"{tick:g}"


def _across(axis: _Axis, below: float, label: str) -> list[str]:
    """The axis of x, at the height `below`."""
    parts = [_rule(axis.begin, below, axis.end, below, GREY)]
    for tick in axis.ticks():
        parts += [
            _rule(axis(tick), below, axis(tick), below + 4, GREY),
            text(axis(tick), below + 17, _written(axis, tick), size=10, colour=GREY, anchor="middle"),
        ]
    middle = (axis.begin + axis.end) / 2
    return [*parts, text(middle, below + 35, label, size=11, anchor="middle")]


def lines(
    title: str,
    drawn: Sequence[Line],
    x: str,
    y: str,
    *,
    log: bool = False,
    along_log: bool = False,
    zero: bool = False,
) -> str:
    """Curves in one chart, with a logarithmic axis of y if `log`, of x if `along_log`; that of y begins with
    zero if `zero`.
    """
    below = HEIGHT - _BELOW
    wide = (px for line in drawn for px, _ in line.points)
    across = _axis(wide, _LEFT, WIDTH - _RIGHT, log=along_log, tight=True)
    high = [py for line in drawn for _, py in line.points] + [0.0] * zero
    up = _axis(high, below, _ABOVE, log=log)
    parts = []
    for tick in up.ticks():
        parts += [
            _rule(_LEFT, up(tick), WIDTH - _RIGHT, up(tick)),
            text(_LEFT - 8, up(tick) + 3.5, f"{tick:g}", size=10, colour=GREY, anchor="end"),
        ]
    parts += [*_across(across, below, x), text(16, _ABOVE - 16, y, size=11)]
    names, at = [], WIDTH - _RIGHT - sum(8.0 * len(line.label) + 16 for line in drawn)
    for line, colour in zip(drawn, cycle(COLOURS)):
        style = 'stroke-width="7" opacity="0.35"' if line.wide else 'stroke-width="1.8"'
        way = " ".join(f"{across(px):.1f},{up(py):.1f}" for px, py in line.points)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" {style}/>')
        at += 8.0 * len(line.label) + 16
        names.append(text(at, _ABOVE - 16, line.label, size=11, colour=colour, style="bold", anchor="end"))
    parts += names if len(drawn) > 1 else []
    return page(WIDTH, HEIGHT, title, parts)


def bars(title: str, drawn: Sequence[Bar], x: str) -> str:
    """Bars over one axis, in a row for each name."""
    rows = [*dict.fromkeys(bar.row for bar in drawn)]
    left = max(len(row) for row in rows) * 6.6 + 24
    below = _ABOVE - 20 + _ROW * len(rows)
    ends = (end for bar in drawn for end in (bar.begin, bar.end))
    across = _axis([0.0, *ends], left, WIDTH - _RIGHT, tight=True)
    parts = _across(across, below, x)
    for n, row in enumerate(rows):
        parts.append(text(left - 10, _ABOVE - 20 + _ROW * n + 18, row, size=11, colour=INK, anchor="end"))
    for bar in drawn:
        box = Box(
            across(bar.begin),
            _ABOVE - 20 + _ROW * rows.index(bar.row) + 5,
            max(across(bar.end) - across(bar.begin), 0.5),
            _ROW - 10,
        )
        fill, line = TINTS[[*TINTS][bar.colour % len(TINTS)]]
        parts.append(rect(box, fill, line, corner=2))
    return page(WIDTH, below + _BELOW, title, parts)
