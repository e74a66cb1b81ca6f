"""`gradd serve --placement ray` over the fake placement and without Ray, as a process of its own."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from gradd_server.commands import leading
from gradd_server.fronts import following, leads

from tests.server import fake_daemon
from tests.server.fake_placement import FakePlacement

found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: object() if name == "ray" else found(name, *more)  # type: ignore[assignment, misc, return-value]
fake: Any = leading
fake.Overseer = lambda order: SimpleNamespace(close=lambda: None)
fake._placement = lambda *_: FakePlacement()
following.LOOK_SECONDS = following.SURE_SECONDS = leads.LOOK_SECONDS = 0.05

if __name__ == "__main__":
    raise SystemExit(fake_daemon.cli.main())
