"""docs/wild.md, from the outcomes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

HEAD = """# Scripts in the wild

Public PyTorch scripts, none of them written for gradd, run unchanged with gradd in torch's place. `make
wild WILD=<folder>` runs them and writes this page; the folder holds a checkout of each repository, as
`<owner>/<name>`, at the commit that is named here. Nothing of theirs is part of gradd.

Each is run twice, under torch on a CPU and under gradd, in a copy of its folder, and made small: by its own
arguments, by small synthetic pictures in the place of torchvision's data sets, by an end after so many
backward passes. Files that define a model or an optimizer get a few lines that train with it
(`tests/wild/libraries.py`, `courses.py`, `models.py`, `projects.py`). Both sides are given the same random
numbers, which NumPy draws (`tests/wild/draws.py`).

- **same**: it ran to its end, and its losses (the first {first} of them; what it printed where it has none)
  are torch's within {tolerance}.
- **runs**: it ran to its end and all its losses are finite, but they are not torch's: some number was drawn
  in another order, or rounding has grown.
- **differs**: it ran to its end, with losses that are not finite where torch's are.
- **stops**: it raised what torch does not; the error is named.
- **unfit**: torch itself does not run it here (too old for this PyTorch, or for what else is installed). It
  is not counted.
"""


@dataclass(frozen=True)
class Row:
    """What came of one script."""

    repository: str
    commit: str
    path: str
    args: str
    outcome: str
    error: str


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def page(rows: list[Row], first: int, tolerance: float) -> str:
    """The whole page, as Markdown."""
    counts = Counter(row.outcome for row in rows)
    fit = len(rows) - counts["unfit"]
    well = counts["same"] + counts["runs"]
    lines = [HEAD.format(first=first, tolerance=f"{tolerance:g}")]
    same = counts["same"]
    lines += [
        f"Of {fit} scripts that torch runs, **{well} run under gradd**, {same} with torch's losses.",
        "",
    ]
    for repository in dict.fromkeys(row.repository for row in rows):
        held = [row for row in rows if row.repository == repository]
        lines += [f"## [{repository}](https://github.com/{repository}/tree/{held[0].commit})", ""]
        lines += [f"Commit `{held[0].commit}`.", "", "| script | result |", "| --- | --- |"]
        for row in held:
            name = f"`{row.path} {row.args}`" if row.args else f"`{row.path}`"
            said = f"{row.outcome}: {_cell(row.error)}" if row.error else row.outcome
            lines.append(f"| {name} | {said} |")
        lines.append("")
    return "\n".join(lines)


def first_line(found: dict[str, Any]) -> str:
    """An error as a page shows it, without the folders of this machine."""
    return re.sub(r" \(/[^)]*\)", "", str(found.get("error", "")).partition("\n")[0])[:160]
