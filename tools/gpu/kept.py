"""What steps came to, kept in a file as they end: a run that was cut goes on where it was."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class StepSaid:
    """What a step came to: `passed`, `failed`, `skipped` or `cut`; and what it said or found."""

    outcome: str
    seconds: float
    text: str = ""
    figures: dict[str, Any] = field(default_factory=dict)


class KeptSteps:
    """A file of what steps came to, of one state `of` the sources on one device; what is of another is as if
    it were not there.
    """

    def __init__(self, path: Path, of: str) -> None:
        self._path = path
        self._of = of

    def add(
        self, step: str, outcome: str, seconds: float, text: str = "", figures: dict[str, Any] | None = None
    ) -> StepSaid:
        """Note it, on a line of its own, also behind one that was cut."""
        said = StepSaid(outcome, round(seconds, 3), text, figures or {})
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps({'of': self._of, 'step': step, **asdict(said)})}\n")
        return said

    def latest(self) -> dict[str, StepSaid]:
        """What each step came to last. A line that was cut in the middle is none."""
        found: dict[str, StepSaid] = {}
        for line in self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if row.pop("of") == self._of:
                step = row.pop("step")
                found[step] = StepSaid(**row)
        return found
