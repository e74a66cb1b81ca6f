"""The pages that docs/index.md lists: their groups, their names on the site, and what their links become."""

from __future__ import annotations

import os.path
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
INDEX = DOCS / "index.md"
#: a link or picture: what is before its target, the target, its anchor
_LINK = re.compile(r"(\]\()(?!\w+:)([^)\s#]+)(#[^)\s]*)?(?=\))")
_ROW = re.compile(r"^\| \[[^]]+\]\(([^)#]+)\) \|", re.MULTILINE)


def groups() -> dict[str, list[Path]]:
    """The pages that the tables of docs/index.md list first in a row, by heading, in order."""
    sections = re.split(r"^## (.+)\n", INDEX.read_text(), flags=re.MULTILINE)[1:]
    return {
        title: [(DOCS / target).resolve() for target in _ROW.findall(text)]
        for title, text in zip(sections[::2], sections[1::2], strict=True)
    }


def name_of(page: Path) -> str:
    """A page's name on the site: its path below docs/, else its own name, or for a README its folder's."""
    if page.is_relative_to(DOCS):
        return page.relative_to(DOCS).with_suffix("").as_posix()
    return (page.parent.name if page.stem == "README" else page.stem).lower()


def write(folder: Path, generated: dict[str, list[str]]) -> None:
    """Write the listed pages and what they link to into a folder, and the front with the contents of all.

    `generated`: names of pages that are there by other means, by the group that they come last in. Raises
    ValueError where a link leads nowhere.
    """
    listed = groups()
    names = {page: name_of(page) for pages in listed.values() for page in pages} | {INDEX: "index"}
    front = {ROOT / "README.md": "index"}
    for page, name in names.items():
        text = _moved(page, name, names | front, folder)
        if page == INDEX:
            text += _contents({t: [names[p] for p in pages] for t, pages in listed.items()}, generated)
        target = folder / f"{name}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def _moved(page: Path, name: str, names: dict[Path, str], folder: Path) -> str:
    """The text of a page with its links as they are on the site. Files that are no pages come along."""

    def target(path: str) -> str:
        linked = (page.parent / path).resolve()
        if linked in names:
            there = f"{names[linked]}.md"
        elif linked.is_file() and linked.is_relative_to(ROOT):
            base = DOCS if linked.is_relative_to(DOCS) else ROOT
            there = ("" if base is DOCS else "files/") + linked.relative_to(base).as_posix()
            (folder / there).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(linked, folder / there)
        else:
            raise ValueError(f"{page.relative_to(ROOT)} links to {path}, which is no file of this repository")
        return os.path.relpath(there, os.path.dirname(name) or ".")

    def moved(link: re.Match[str]) -> str:
        return f"{link[1]}{target(link[2])}{link[3] or ''}"

    return "".join(
        line if code else _LINK.sub(moved, line) for line, code in lines_with_code(page.read_text())
    )


def lines_with_code(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of a page, each with whether it is code."""
    fenced = False
    for line in text.splitlines(keepends=True):
        fence = line.lstrip().startswith("```")
        yield line, fenced or fence or line.startswith("    ")
        fenced ^= fence


def _contents(listed: dict[str, list[str]], generated: dict[str, list[str]]) -> str:
    """The directives that tell Sphinx which pages there are; a group is a part of the sidebar."""
    parts = []
    for title in dict.fromkeys([*listed, *generated]):
        inside = "\n".join([*listed.get(title, ()), *generated.get(title, ())])
        parts.append(f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{inside}\n```\n")
    return "".join(parts)
