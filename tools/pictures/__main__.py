"""``python -m tools.pictures`` writes docs/pictures/*.svg; with ``--check`` it fails where one is stale."""

from __future__ import annotations

import sys
from pathlib import Path

from . import flows, house, lanes

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "pictures"


def pictures() -> dict[str, str]:
    """Each picture by the name of its file."""
    return {
        "house.svg": house.draw(ROOT),
        "batch.svg": lanes.draw(flows.BATCH, ROOT),
        "callbacks.svg": lanes.draw(flows.CALLBACKS, ROOT),
    }


def main(arguments: list[str]) -> int:
    """Write the pictures, or compare them with what is there; the exit code."""
    drawn = pictures()
    if arguments == ["--check"]:
        stale = [n for n, svg in drawn.items() if not (PAGES / n).exists() or (PAGES / n).read_text() != svg]
        if stale:
            print(f"stale in docs/pictures: {', '.join(stale)}: make pictures", file=sys.stderr)
        return int(bool(stale))
    PAGES.mkdir(exist_ok=True)
    for name, svg in drawn.items():
        (PAGES / name).write_text(svg)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
