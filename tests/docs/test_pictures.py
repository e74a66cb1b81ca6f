"""The pictures show the code as it is: a stale one fails, and so does one of what is not there."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tools.pictures import __main__ as tool
from tools.pictures import flows, house, lanes
from tools.pictures.__main__ import PAGES, pictures
from tools.pictures.imports import depths, reduced

ROOT = Path(__file__).parents[2]
STEPS = [
    step for way in (flows.BATCH, flows.CALLBACKS) for row in way.rows for step in row if step.definition
]


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    return pictures()


def test_pictures_are_fresh(drawn: dict[str, str]) -> None:
    assert {path.name: path.read_text() for path in PAGES.glob("*.svg")} == drawn, "make pictures"


def test_a_stale_picture_is_named(
    drawn: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "PAGES", tmp_path)
    monkeypatch.setattr(tool, "pictures", lambda: drawn)
    assert tool.main([]) == 0
    assert tool.main(["--check"]) == 0
    (tmp_path / "house.svg").write_text("<svg/>")
    assert tool.main(["--check"]) == 1
    assert "house.svg" in capsys.readouterr().err


def test_pictures_are_whole_and_linked(drawn: dict[str, str]) -> None:
    pages = "".join((ROOT / page).read_text() for page in ("docs/design.md", "docs/built.md"))
    assert {path.name for path in PAGES.glob("*.svg")} == set(drawn)
    for name, svg in drawn.items():
        root = ET.fromstring(svg)
        width, height = float(root.get("width", 0)), float(root.get("height", 0))
        shapes = [e for e in root.iter() if e.tag.endswith("rect")]
        assert len(shapes) > 10
        assert all(
            float(e.get("x", 0)) >= 0 and float(e.get("x", 0)) + float(e.get("width", 0)) <= width
            for e in shapes
        )
        assert all(float(e.get("y", 0)) + float(e.get("height", 0)) <= height for e in shapes)
        assert f"(pictures/{name})" in pages


def test_house_shows_every_package_and_room(drawn: dict[str, str]) -> None:
    words = set(re.findall(r">([^<]+)</text>", drawn["house.svg"]))
    for folder in (*house.LEFT, *house.RIGHT):
        package = house.read(ROOT, folder)
        assert f"{folder}/" in words
        assert words >= {f"{room}/" for room in package.rooms}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.definition)
def test_each_step_names_its_file(step: lanes.Step, drawn: dict[str, str]) -> None:
    path = lanes.source(step.definition, ROOT)
    assert (ROOT / path).is_file()
    assert path.rpartition("/")[2] in drawn["batch.svg"] + drawn["callbacks.svg"]


@pytest.mark.parametrize(
    "definition",
    [
        "gradd_engine.declare.dispatch:dispatched",
        "gradd_engine.declare.dispatching:dispatch",
        "gradd_engine.declare:dispatch",  # handed out there, defined elsewhere
    ],
)
def test_a_planted_definition_is_refused(definition: str) -> None:
    with pytest.raises(ValueError, match="a picture shows"):
        lanes.source(definition, ROOT)


def test_a_planted_arrow_between_packages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    read = house.read

    def with_arrow(root: Path, folder: str) -> house.Package:
        package = read(root, folder)
        return (
            package._replace(imports={*package.imports, "gradd_server"})
            if folder == "client/gradd"
            else package
        )

    monkeypatch.setattr(house, "read", with_arrow)
    with pytest.raises(ValueError, match="gradd_server"):
        house.draw(ROOT)


def test_implied_arrows_are_left_out() -> None:
    graph = {"a": {"b", "c", "d"}, "b": {"d"}, "c": {"d"}, "d": set()}
    assert reduced(graph) == {"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}
    assert depths(graph) == {"a": 0, "b": 1, "c": 1, "d": 2}
