"""Which lines of each package the tests ran: ``python -m tests.covered``, after a run under coverage.

Prints the share of each package and the files below the bar, and fails where a package is below it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

#: percent of the lines of a package
BAR = 95.0


class Lines(NamedTuple):
    """Lines that could be run, and those that were."""

    all: int
    run: int

    @property
    def share(self) -> float:
        """In percent; nothing is run as a whole."""
        return 100.0 * self.run / self.all if self.all else 100.0


def by_package(files: dict[str, Lines]) -> dict[str, Lines]:
    """The sums of the files (``client/gradd/...``) of each package."""
    found: dict[str, Lines] = defaultdict(lambda: Lines(0, 0))
    for path, lines in files.items():
        room = Path(path).parts[0]
        found[room] = Lines(found[room].all + lines.all, found[room].run + lines.run)
    return dict(sorted(found.items()))


def report(files: dict[str, Lines]) -> tuple[str, bool]:
    """What is printed, and whether every package is at the bar."""
    packages = by_package(files)
    low = sorted((lines.share, path) for path, lines in files.items() if lines.share < BAR)
    text = [f"{room:10} {lines.share:6.1f} % of {lines.all} lines" for room, lines in packages.items()]
    text += [f"files below {BAR:.0f} %: {len(low)}", *(f"  {share:5.1f} %  {path}" for share, path in low)]
    return "\n".join(text), all(lines.share >= BAR for lines in packages.values())


def measured() -> dict[str, Lines]:
    """What coverage knows of each file."""
    coverage = [sys.executable, "-m", "coverage"]
    found = subprocess.run([*coverage, "json", "-q", "-o", "-"], capture_output=True, check=True).stdout
    files = json.loads(found)["files"]
    return {
        path: Lines(file["summary"]["num_statements"], file["summary"]["covered_lines"])
        for path, file in files.items()
    }


def main() -> int:
    """Print the report."""
    text, enough = report(measured())
    print(text)
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
