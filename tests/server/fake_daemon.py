"""The `gradd` command over the fake placement, as a process of its own: `python fake_daemon.py serve ...`.

What stands behind the front is put in place before the command line looks for it; nothing else is faked.
A batch of the program "held" waits for SIGUSR1.
"""

from __future__ import annotations

import signal
import sys
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from gradd_server import cli
from gradd_server.commands import serving

from tests.server.conftest import OPS
from tests.server.fake_placement import RELEASED, FakePlacement

catalog = types.ModuleType("gradd_runtime.catalog")
catalog.ops = lambda: OPS  # type: ignore[attr-defined]
sys.modules[catalog.__name__] = catalog
serving.begun = lambda settings: None  # nothing that computes is wanted
serving.placement_of = lambda settings, early: FakePlacement()

signal.signal(signal.SIGUSR1, lambda *_: RELEASED.set())

if __name__ == "__main__":
    raise SystemExit(cli.main())
