"""``python -m tools.walk [--check] [PAGE ...]`` runs the commands of docs/ and writes what they print."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .figures import FIGURES
from .home import Home
from .page import is_walk, walked
from .varying import alike, same_words

DOCS = Path(__file__).parents[2] / "docs"


def pages() -> list[str]:
    """The pages whose commands are run, from the folder of docs/."""
    found = sorted(path for path in DOCS.rglob("*.md") if is_walk(path.read_text(encoding="utf-8")))
    return [path.relative_to(DOCS).as_posix() for path in found]


def lacking(page: str) -> list[str]:
    """Which programs the commands of a page need that are not here."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [program for program in ("curl", "node") if f"$ {program} " in text and not shutil.which(program)]


def walk(page: str) -> Iterator[tuple[Path, str]]:
    """The files of a page as a run of its commands makes them, where that says something else than they say.
    Raises CommandFailed where a command fails.
    """
    path = DOCS / page
    there = path.read_text(encoding="utf-8")
    with Home() as home:
        made = walked(there, home, alike)
        if made != there:
            yield path, made
        for name, figure in FIGURES.get(page, {}).items():
            picture = path.parent / "pictures" / name
            svg, same = figure.draw(home.folder), same_words if figure.timed else alike
            if not (picture.exists() and same(picture.read_text(encoding="utf-8"), svg)):
                yield picture, svg


def main(arguments: list[str]) -> int:
    """Write what is stale, or with --check name it; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.walk")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where something is stale")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as quickstart.md [default: all]")
    given = parser.parse_args(arguments)
    stale = False
    for page in given.pages or pages():
        if missing := lacking(page):
            print(f"docs/{page}: skipped, {', '.join(missing)} is not here", file=sys.stderr)
            continue
        for path, text in walk(page):
            stale = True
            print(f"{'stale' if given.check else 'written'}: {path.relative_to(DOCS.parent)}")
            if not given.check:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
    return int(stale and given.check)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        raise SystemExit(main(sys.argv[1:]))
