"""The rooms inside the packages: small circles, none between rooms, and doors; imports for types counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.rooms import circles, imports, past_doors, room

ROOT = Path(__file__).parents[2]

PACKAGES = (
    "client/gradd",
    "engine/gradd_engine",
    "engine/gradd_engine/ops",
    "protocol/gradd_protocol",
    "runtime/gradd_runtime",
    "server/gradd_server",
)
#: of a package the rooms that others enter by the names in their `__init__` alone
DOORS = {
    package: {path.parent.name for path in (ROOT / package).glob(doors)} - {"ops"}  # its families have doors
    for package, doors in (
        ("client/gradd", "_*/__init__.py"),
        ("engine/gradd_engine", "*/__init__.py"),
        ("engine/gradd_engine/ops", "*/__init__.py"),
        ("runtime/gradd_runtime", "*/__init__.py"),
    )
}

#: imports past a door, each with its reason
PAST: dict[str, str] = {
    "gradd -> gradd._surface.top": "type checkers find the names of ops in the stub of a star import",
}

#: files of a circle, at most
LARGEST = 2


@pytest.mark.parametrize("package", PACKAGES)
def test_circles_are_small_and_stay_in_a_room(package: str) -> None:
    graph = imports(ROOT / package)
    assert len(graph) > 2
    found = circles(graph)
    assert [group for group in found if len(group) > LARGEST] == []
    assert [group for group in found if len(set(map(room, group))) > 1] == []


@pytest.mark.parametrize("package", DOORS)
def test_rooms_are_entered_by_their_doors(package: str) -> None:
    assert DOORS[package]
    assert past_doors(imports(ROOT / package), DOORS[package]) - set(PAST) == set()


# -- the checker itself ----------------------------------------------------------------------------

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
    assert past_doors(graph, {"low"}) == set()


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
def test_a_planted_circle_is_caught(tmp_path: Path, line: str) -> None:
    graph = imports(planted(tmp_path, low_inner=line))
    assert circles(graph) == [{"planted.high", "planted.low", "planted.low.inner"}]


def test_a_planted_way_past_a_door_is_caught(tmp_path: Path) -> None:
    graph = imports(planted(tmp_path, high="from .low.other import value"))
    assert past_doors(graph, {"low"}) == {"planted.high -> planted.low.other"}
    assert past_doors(graph, {"leaf"}) == set()
