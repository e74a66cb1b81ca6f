"""Lines of a script as others are told them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gradd_protocol.limits import DEFAULT
from gradd_protocol.program import Sites

from .._exceptions import line_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._exceptions import Site


def sites_of(sites: Sequence[Site]) -> Sites:
    """The lines of a program's steps as a batch tells them."""
    known: dict[tuple[int, int], tuple[int, int]] = {}
    files: dict[str, int] = {}
    steps = []
    for code, last in sites:
        at = known.get((id(code), last))  # not by code object, whose hash takes all its bytes
        if at is None:
            file, line = place((code, last))
            at = known[id(code), last] = files.setdefault(file, len(files)), line
        steps.append(at)
    return Sites(list(files), steps)


def place(site: Site) -> tuple[str, int]:
    """File and line of a call site, without what folders tell of a machine and its user: a file below the
    current folder is named from there, any other by its last part.
    """
    file, line = line_of(site)
    try:
        below = os.path.commonpath([os.getcwd(), file]) == os.getcwd()
    except (OSError, ValueError):  # the folder is gone; the file is of another drive, or none
        below = False
    name = os.path.relpath(file) if below else os.path.basename(file)
    # What was compiled of text has any name.
    return name.encode(errors="replace").decode()[-DEFAULT.name_chars :], max(line, 0)
