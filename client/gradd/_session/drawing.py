"""A graph as SVG: boxes in layers, from a tensor down to the leaves."""

from __future__ import annotations

from html import escape
from typing import Any

from gradd_engine import graph_dump as picture

#: width of a character, height of a line, space around and between boxes
_CHAR, _LINE, _PAD, _GAP, _RISE = 7.0, 15.0, 8.0, 24.0, 40.0
_SWEEPS = 4


class _Box:
    """A node's box: its lines of text, its size, and its left edge."""

    def __init__(self, node: dict[str, Any]) -> None:
        self.lines = [picture.title(node), *picture.notes(node)]
        self.leaf = "leaf" in node
        self.width = _CHAR * max(map(len, self.lines)) + 2 * _PAD
        self.height = _LINE * len(self.lines) + _PAD
        self.x = self.y = 0.0

    @property
    def middle(self) -> float:
        """The horizontal middle."""
        return self.x + self.width / 2


def layers(count: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    """Nodes by the length of the longest path to them, so that every edge goes down."""
    below: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for a, b in edges:
        below[a].append(b)
        waiting[b] += 1
    depth = [0] * count
    ready = [n for n in range(count) if not waiting[n]]
    for n in ready:  # grows in the loop
        for b in below[n]:
            depth[b] = max(depth[b], depth[n] + 1)
            waiting[b] -= 1
            if not waiting[b]:
                ready.append(b)
    found: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for n in range(count):
        found[depth[n]].append(n)
    return found


def _untangle(rows: list[list[int]], edges: list[tuple[int, int]]) -> None:
    """Order each row by the mean position of the neighbours, down and up again, to reduce crossings."""
    near: dict[int, list[int]] = {}
    for a, b in edges:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    place = {n: i / max(len(row), 1) for row in rows for i, n in enumerate(row)}
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            row.sort(key=lambda n: sum(place[m] for m in near.get(n, [n])) / len(near.get(n, [n])))
            for i, n in enumerate(row):
                place[n] = (i + 0.5) / len(row)


def svg(data: dict[str, Any]) -> str:
    """The drawing of a graph's plain data."""
    boxes = [_Box(node) for node in data["nodes"]]
    edges = [(e["from"], e["to"]) for e in data["edges"]]
    rows = layers(len(boxes), edges)
    _untangle(rows, edges)
    widths = [sum(boxes[n].width + _GAP for n in row) - _GAP for row in rows]
    width = max(widths, default=300.0) + 2 * _PAD
    y = _PAD
    for row, own in zip(rows, widths, strict=True):
        x = (width - own) / 2
        for n in row:
            boxes[n].x, boxes[n].y = x, y
            x += boxes[n].width + _GAP
        y += max(boxes[n].height for n in row) + _RISE
    said = [] if boxes else [str(picture.text(data))]
    if data["truncated"]:
        said.append(f"more than {data['max_nodes']} nodes")
    height = y + _LINE * len(said)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" font-family="monospace" font-size="11">',
        '<g fill="none" stroke="#888">',
        *(_curve(boxes[a], boxes[b]) for a, b in edges),
        "</g>",
        *(_boxed(box) for box in boxes),
        *(
            f'<text x="{_PAD:.0f}" y="{y + _LINE * (i + 0.5):.0f}">{escape(line)}</text>'
            for i, line in enumerate(said)
        ),
        "</svg>",
    ]
    return "\n".join(parts)


def _curve(a: _Box, b: _Box) -> str:
    top, bottom = a.y + a.height, b.y
    half = (top + bottom) / 2
    return (
        f'<path d="M{a.middle:.1f} {top:.1f} C{a.middle:.1f} {half:.1f} {b.middle:.1f} {half:.1f} '
        f'{b.middle:.1f} {bottom:.1f}"/>'
    )


def _boxed(box: _Box) -> str:
    fill = "#dbeafe" if box.leaf else "#ffffff"
    words = "".join(
        f'<text x="{box.x + _PAD:.1f}" y="{box.y + _LINE * (i + 1):.1f}">{escape(line)}</text>'
        for i, line in enumerate(box.lines)
    )
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="3" '
        f'fill="{fill}" stroke="#444"/>{words}'
    )
