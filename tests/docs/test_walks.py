"""What stands below the commands of pages is what they print, and their pictures are of their own runs."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tools.walk.__main__ import DOCS, lacking, pages, walk
from tools.walk.figures import FIGURES

PICTURES = sorted(DOCS.glob("*/pictures/*.svg"))


@pytest.mark.parametrize("page", pages())
def test_a_page_says_what_its_commands_print(page: str) -> None:
    if missing := lacking(page):
        pytest.skip(f"{', '.join(missing)} is not installed")
    made = dict(walk(page))
    assert {path: path.read_text() for path in made} == made, f"make walk PAGES={page}"


def test_the_quickstart_and_five_tutorials_are_walked() -> None:
    assert {"quickstart.md", *FIGURES} == {*pages()}
    assert len(FIGURES) == 5
    commands = re.findall(r"^\$ (.+)$", (DOCS / "quickstart.md").read_text(), re.MULTILINE)
    assert {"gradd serve", "gradd doctor", "python first.py", "gradd sessions"} <= {*commands}


def test_each_picture_is_shown_where_it_is_drawn() -> None:
    assert {path.relative_to(DOCS).as_posix() for path in PICTURES} == {
        f"{page.rpartition('/')[0]}/pictures/{name}" for page, drawn in FIGURES.items() for name in drawn
    }
    for page, drawn in FIGURES.items():
        text = (DOCS / page).read_text()
        assert [name for name in drawn if f"](pictures/{name})" not in text] == []


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_stays_within_its_frame(picture: Path) -> None:
    root = ET.fromstring(picture.read_text())
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    places = [
        (float(x), float(y))
        for line in root.iter()
        if line.tag.endswith("polyline")
        for x, y in (point.split(",") for point in line.get("points", "").split())
    ]
    boxes = [shape for shape in root.iter() if shape.tag.endswith("rect")][1:]  # but for the paper
    places += [(float(b.get("x", 0)), float(b.get("y", 0)) + float(b.get("height", 0))) for b in boxes]
    assert len(places) > 1
    assert all(0 <= x <= width and 0 <= y <= height for x, y in places)
