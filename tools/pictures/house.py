"""The house: five packages, their rooms, and who imports whom."""

from __future__ import annotations

import ast
import re
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from .imports import depths, imported, modules, reduced
from .svg import GREY, INK, TINTS, Box, arrow, page, rect, text, wrapped

if TYPE_CHECKING:
    from pathlib import Path

    from .imports import Graph

LEFT = ("client/gradd", "engine/gradd_engine")
RIGHT = ("server/gradd_server", "runtime/gradd_runtime", "protocol/gradd_protocol")
#: what the SDK imports of the runtime is for sessions in its own process
ONLY_LOCAL = ("gradd", "gradd_runtime")
#: a room's width by package
ROOM = {"gradd": 178.0, "gradd_engine": 270.0, "gradd_server": 218.0, "gradd_runtime": 218.0}
SLOT, GAP, RISE, PAD, LINE = 18.0, 16.0, 26.0, 14.0, 12.5
MARGIN, GUTTER, BETWEEN = 24.0, 64.0, 46.0
SIZE = 9.5
_SWEEPS = 8


class Package(NamedTuple):
    """One package: rooms and modules beside them, each with what it says of itself."""

    folder: str
    name: str
    about: str
    rooms: dict[str, str]
    loose: dict[str, str]
    #: the files, or rooms, in each room
    files: dict[str, list[str]]
    #: between its rooms, without what others imply
    arrows: Graph
    #: packages that it imports
    imports: set[str]


def about(path: Path, most: int) -> str:
    """The first sentence of a module's docstring, or its beginning where that is over `most` letters."""
    said = " ".join((ast.get_docstring(ast.parse(path.read_text())) or "").split()).replace("`", "")
    sentence = re.split(r"\.\s|\.$", said)[0]
    if len(sentence) <= most:
        return sentence
    at = max(sentence.rfind(c, 0, most) for c in ":;,(")
    return sentence[:at].rstrip() if at > most / 3 else textwrap.shorten(sentence, most, placeholder=" …")


def read(root: Path, folder: str) -> Package:
    """What the source of a package says."""
    package = root / folder
    name = package.name
    graph: Graph = {}
    rooms: dict[str, str] = {}
    loose: dict[str, str] = {}
    outside: set[str] = set()
    found = modules(package)
    for module, path in found.items():
        parts = module.split(".")
        if len(parts) == 2 and path.stem == "__init__":
            rooms[parts[1]] = about(path, 96)
        elif len(parts) == 2 and not parts[1].startswith("__"):
            loose[parts[1]] = about(path, 62)
    for module, path in found.items():
        for target in imported(module, path):
            here, there = module.split("."), target.split(".")
            if there[0] != name and there[0] in TINTS:
                outside.add(there[0])
            pair = [*here, "", ""][1], [*there, "", ""][1]
            if there[0] == name and pair[0] != pair[1] and rooms.keys() >= set(pair):
                graph.setdefault(pair[0], set()).add(pair[1])
    for room in rooms:
        graph.setdefault(room, set())
    files = {
        room: sorted(f"{p.name}/" if p.is_dir() else p.stem for p in (package / room).iterdir() if _counts(p))
        for room in rooms
    }
    whole = about(package / "__init__.py", 90)
    return Package(folder, name, whole, rooms, loose, files, reduced(graph), outside)


def _counts(path: Path) -> bool:
    """Whether a room's entry is a file of its own, or a room."""
    return (path.suffix == ".py" and not path.stem.startswith("__")) or (path / "__init__.py").exists()


class Layout:
    """Where a package's rooms and arrows stand, seen from the left upper corner of the first row."""

    def __init__(self, package: Package) -> None:
        depth = depths(package.arrows)
        rows: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
        for room in sorted(depth):
            rows[depth[room]].append(room)
        #: each arrow as the places that it comes by: rooms, and slots between rooms
        self.ways: list[list[str]] = []
        for a, below in sorted(package.arrows.items()):
            for b in sorted(below):
                slots = [f"{a} {b} {n}" for n in range(depth[a] + 1, depth[b])]
                for n, slot in enumerate(slots, depth[a] + 1):
                    rows[n].append(slot)
                self.ways.append([a, *slots, b])
        self.room = ROOM[package.name]
        self._untangle(rows)
        width = max(self._width(row) for row in rows)
        self.boxes: dict[str, Box] = {}
        #: what a room says of itself, and its files
        self.lines = {
            room: (
                wrapped(said, self.room - 16, SIZE),
                wrapped("  ".join(package.files[room]), self.room - 16, SIZE),
            )
            for room, said in package.rooms.items()
        }
        y = 0.0
        for row in rows:
            tall = max(26 + LINE * sum(map(len, self.lines.get(node, ()))) for node in row)
            x = (width - self._width(row)) / 2
            for node in row:
                box = Box(x, y, self.room if node in self.lines else SLOT, tall)
                self.boxes[node] = box
                x = box.right + GAP
            y += tall + RISE
        self.width, self.height = width, y - RISE

    def _width(self, row: list[str]) -> float:
        return sum((SLOT if " " in node else self.room) + GAP for node in row) - GAP

    def _untangle(self, rows: list[list[str]]) -> None:
        """Order each row by the mean place of its neighbours, down and up again, so that few arrows cross."""
        near: dict[str, list[str]] = {node: [] for row in rows for node in row}
        for way in self.ways:
            for a, b in pairwise(way):
                near[a].append(b)
                near[b].append(a)
        place = {node: (i + 0.5) / len(row) for row in rows for i, node in enumerate(row)}
        for sweep in range(_SWEEPS):
            for row in rows if sweep % 2 == 0 else reversed(rows):
                means = {
                    n: sum(place[m] for m in near[n]) / len(near[n]) if near[n] else place[n] for n in row
                }
                row.sort(key=lambda n: (round(means[n], 6), n))
                for i, node in enumerate(row):
                    place[node] = (i + 0.5) / len(row)

    def draw(self, at: Box, tint: tuple[str, str]) -> list[str]:
        """The rooms and arrows, below and right of the corner of `at`, in the middle of its width."""
        dx, dy = at.x + (at.width - self.width) / 2, at.y
        parts = []
        for way in self.ways:
            boxes = [self.boxes[node] for node in way]
            path = f"M{boxes[0].middle + dx:.1f} {boxes[0].bottom + dy:.1f}"
            for a, b in pairwise(boxes):
                half = (a.bottom + b.y) / 2 + dy
                path += (
                    f" C{a.middle + dx:.1f} {half:.1f} {b.middle + dx:.1f} {half:.1f} "
                    f"{b.middle + dx:.1f} {b.y + dy:.1f}"
                )
                if b is not boxes[-1]:
                    path += f" V{b.bottom + dy:.1f}"
            parts.append(arrow(path, tint[1]))
        for room, (said, files) in self.lines.items():
            b = self.boxes[room]
            moved = Box(b.x + dx, b.y + dy, b.width, b.height)
            parts.append(rect(moved, "#ffffff", tint[1]))
            parts.append(text(moved.x + 8, moved.y + 16, f"{room}/", size=11.5, style="bold"))
            parts += [
                text(moved.x + 8, moved.y + 17 + LINE * (i + 1), line, size=SIZE, colour=colour)
                for i, (line, colour) in enumerate(
                    [*((s, GREY) for s in said), *((f, tint[1]) for f in files)]
                )
            ]
        return parts


class _Block:
    """A package on the page."""

    def __init__(self, package: Package, x: float, y: float, width: float) -> None:
        self.package = package
        self.layout = Layout(package) if package.rooms else None
        self._title = wrapped(package.about, width - 2 * PAD, 10.5)
        self._top = 34 + 14 * len(self._title)
        inner = self.layout.height + PAD if self.layout else 0.0
        self._list = y + self._top + inner
        self.box = Box(x, y, width, self._top + inner + LINE * 1.2 * len(package.loose) + PAD)

    def draw(self) -> list[str]:
        """Everything in it."""
        package, box = self.package, self.box
        tint = TINTS[package.name]
        parts = [rect(box, *tint, corner=10, thick=1.5)]
        parts.append(text(box.x + PAD, box.y + 22, package.folder + "/", size=14, style="bold"))
        parts += [
            text(box.x + PAD, box.y + 38 + 14 * i, line, size=10.5, colour=GREY)
            for i, line in enumerate(self._title)
        ]
        if self.layout:
            parts += self.layout.draw(Box(box.x, box.y + self._top, box.width, 0), tint)
        for i, (name, said) in enumerate(package.loose.items()):
            y = self._list + LINE * 1.2 * i + 8
            parts.append(text(box.x + PAD, y, f"{name}.py", size=10, style="bold"))
            parts.append(text(box.x + PAD + 110, y, said, size=SIZE, colour=GREY))
        return parts


def _between(blocks: dict[str, _Block]) -> list[str]:
    """Arrows between packages, by ways that leave the rooms alone."""
    boxes = {name: block.box for name, block in blocks.items()}
    client, engine, server, runtime, protocol = (
        boxes[n] for n in ("gradd", "gradd_engine", "gradd_server", "gradd_runtime", "gradd_protocol")
    )
    lane = client.right + GUTTER / 2
    side = server.right + GUTTER / 3
    across = (max(client.y, runtime.y) + min(client.bottom, runtime.bottom)) / 2
    ways = {
        ("gradd", "gradd_engine"): f"M{client.middle} {client.bottom} V{engine.y}",
        ("gradd", "gradd_protocol"): (
            f"M{client.right} {client.bottom - 30} H{lane} V{protocol.y + 40} H{protocol.x}"
        ),
        ("gradd", "gradd_runtime"): f"M{client.right} {across} H{runtime.x}",
        ("gradd_runtime", "gradd_engine"): (
            f"M{runtime.x} {runtime.bottom - 30} H{lane - 14} V{engine.y + 60} H{engine.right}"
        ),
        ("gradd_runtime", "gradd_protocol"): f"M{runtime.middle} {runtime.bottom} V{protocol.y}",
        ("gradd_server", "gradd_runtime"): f"M{server.middle} {server.bottom} V{runtime.y}",
        ("gradd_server", "gradd_protocol"): (
            f"M{server.right} {server.bottom - 30} H{side} V{protocol.y + 40} H{protocol.right}"
        ),
    }
    found = {(name, target) for name, block in blocks.items() for target in block.package.imports}
    if found != set(ways):
        raise ValueError(
            f"arrows between packages: {sorted(found ^ set(ways))} are in the code or the picture alone"
        )
    parts = [arrow(way, INK, dashed=pair == ONLY_LOCAL, thick=2) for pair, way in ways.items()]
    parts.append(text(lane, across - 7, "local:", size=10, style="mono", anchor="middle"))
    return parts


def draw(root: Path) -> str:
    """The picture."""
    packages = {folder: read(root, folder) for folder in (*LEFT, *RIGHT)}
    blocks: dict[str, _Block] = {}
    x, bottom = MARGIN, 0.0
    for folders in (LEFT, RIGHT):
        rooms = [Layout(packages[f]).width for f in folders if packages[f].rooms]
        width = max(*rooms, 430.0) + 2 * PAD
        y = MARGIN
        for folder in folders:
            block = blocks[packages[folder].name] = _Block(packages[folder], x, y, width)
            y = block.box.bottom + BETWEEN
        x, bottom = x + width + GUTTER, max(bottom, y - BETWEEN)
    right = blocks["gradd_server"].box.right + GUTTER / 3 + MARGIN
    parts = [part for block in blocks.values() for part in block.draw()]
    parts += _between(blocks)
    last = blocks["gradd_protocol"].box
    said = (
        "An arrow says: imports, for types too.",
        "Arrows that others imply are left out.",
        "Dashed: in the SDK's local transport alone.",
    )
    parts += [text(last.x, last.bottom + 24 + 15 * i, line, colour=GREY) for i, line in enumerate(said)]
    return page(right, max(bottom, last.bottom + 70) + MARGIN, "The house: packages, rooms, imports", parts)
