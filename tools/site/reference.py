"""The pages that are written from the code."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from . import api, commands, metrics, operators, rest

if TYPE_CHECKING:
    from collections.abc import Callable

#: by their names on the site, in the order of the sidebar
PAGES: dict[str, Callable[[], str]] = {
    "reference/sessions": api.sessions,
    "reference/gradd": api.top,
    **{f"reference/{name}": functools.partial(api.modules, name) for name in api.MODULES},
    "reference/commands": commands.command_line,
    "reference/settings": commands.settings,
    "reference/metrics": metrics.page,
    "reference/paths": rest.page,
}


def write(folder: Path) -> None:
    """Write them, and docs/ops.md in the form that the site has it in."""
    for name, make in {**PAGES, "ops": operators.page}.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(make())
