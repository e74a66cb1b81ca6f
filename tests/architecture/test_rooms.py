"""The rooms inside the packages: no circles, arrows that point down, imports for types counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.rooms import House, circles, imports, past_doors, room, unplaced, upward

ROOT = Path(__file__).parents[2]

#: package -> its rooms from the top down
HOUSES: dict[str, House] = {}

#: files of a circle, at most
LARGEST = 2


@pytest.mark.parametrize("package", HOUSES)
def test_arrows_point_down(package: str) -> None:
    house = HOUSES[package]
    graph = imports(ROOT / house.folder)
    assert len(graph) > 2
    assert unplaced(house, graph) == set()
    assert upward(house, graph) == set(house.upward)


@pytest.mark.parametrize("package", HOUSES)
def test_circles_are_small_and_stay_in_a_room(package: str) -> None:
    house = HOUSES[package]
    found = circles(imports(ROOT / house.folder))
    assert [group for group in found if len(group) > LARGEST] == []
    assert [group for group in found if len(set(map(room, group))) > 1] == []


@pytest.mark.parametrize("package", HOUSES)
def test_rooms_are_entered_by_their_doors(package: str) -> None:
    house = HOUSES[package]
    assert past_doors(house, imports(ROOT / house.folder)) == set()


# -- the checker itself ----------------------------------------------------------------------------

SMALL = House("planted", (".", "high", "low | leaf"), doors=frozenset({"low"}))
FILES = {
    "__init__": "from .high import top",
    "high": "from .low import name\nfrom . import leaf\n\ntop = (name, leaf)",
    "leaf": "import math",
    "low.__init__": "from .inner import name as name",
    "low.inner": "from . import other\n\nname = other.value",
    "low.other": "value = 1",
}


def planted(tmp_path: Path, **more: str) -> Path:
    """A package of three floors, with `more` in some of its files."""
    for name, text in FILES.items():
        path = tmp_path / "planted" / (name.replace(".", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n{more.get(name.replace('.', '_'), '')}\n")
    return tmp_path / "planted"


def test_a_sound_house_passes(tmp_path: Path) -> None:
    graph = imports(planted(tmp_path))
    assert graph["planted.high"] == {"planted.low", "planted.leaf"}
    assert graph["planted.low.inner"] == {"planted.low.other"}
    assert circles(graph) == []
    assert unplaced(SMALL, graph) == upward(SMALL, graph) == past_doors(SMALL, graph) == set()


@pytest.mark.parametrize(
    "line",
    [
        "from ..high import top",
        "import planted.high",
        "from planted import high",
        "if TYPE_CHECKING:\n    from ..high import top",
        "def late():\n    from .. import high",
    ],
)
def test_a_planted_upward_import_is_caught(tmp_path: Path, line: str) -> None:
    graph = imports(planted(tmp_path, low_inner=line))
    assert upward(SMALL, graph) == {"planted.low.inner -> planted.high"}
    assert circles(graph) == [{"planted.high", "planted.low", "planted.low.inner"}]


def test_a_planted_import_of_a_neighbour_is_caught(tmp_path: Path) -> None:
    graph = imports(planted(tmp_path, leaf="from .low import name"))
    assert upward(SMALL, graph) == {"planted.leaf -> planted.low"}
    assert circles(graph) == []


def test_a_planted_way_past_a_door_is_caught(tmp_path: Path) -> None:
    graph = imports(planted(tmp_path, high="from .low.other import value"))
    assert past_doors(SMALL, graph) == {"planted.high -> planted.low.other"}


def test_a_planted_room_without_a_floor_is_caught(tmp_path: Path) -> None:
    folder = planted(tmp_path)
    (folder / "attic.py").write_text("")
    assert unplaced(SMALL, imports(folder)) == {"attic"}
