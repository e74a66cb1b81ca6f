"""A daemon's front over the fake placement, or another, listening in a thread of this process: what it is and
says can be set by the test.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gradd_server.app import create_app
from gradd_server.daemon import Server, configuration
from gradd_server.settings import Settings
from gradd_server.tls import Certificate

from tests.server.conftest import OPS
from tests.server.fake_placement import FakePlacement
from tests.waiting import PATIENCE


@contextmanager
def front(
    keys: Any = None, tls: tuple[Path, Path] | None = None, address: str = "127.0.0.1",
    placement: Any = None, ops: Any = OPS, traces: Any = None, **settings: Any,
) -> Iterator[str]:  # fmt: skip
    """Its URL, for as long as the block lives. `tls`: certificate and key; `keys`: who may connect; `traces`:
    what makes spans; `placement`: a real one, of `ops`.
    """
    placement = placement or FakePlacement()
    said = Settings(**settings)
    gate = create_app(said, placement, ops, keys=keys)
    gate.front.traces = traces
    ready = threading.Event()
    server = Server(
        configuration(said, gate, gate.front.connected), gate, placement, ready.set,
        Certificate(*tls) if tls else None,
    )  # fmt: skip
    listener = socket.create_server((address, 0))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield f"{'https' if tls else 'http'}://{address}:{listener.getsockname()[1]}"
    finally:
        server.handle_exit(signal.SIGTERM, None)
        thread.join(PATIENCE)
        placement.shutdown()
        listener.close()
    assert not thread.is_alive()
