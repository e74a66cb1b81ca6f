"""One blocking call of the SDK in a process of its own: `... -m tests.client.hanging URL TRANSPORT CALL`.

It says "ready" once the call is prepared, makes it when a line comes in, and prints how it ended.
"""

from __future__ import annotations

import faulthandler
import json
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import gradd
import gradd as torch
import numpy as np

#: bytes of what is too large for a message
LARGE = 6 << 20


def _calls(url: str, transport: str) -> dict[str, Callable[[], Callable[[], Any]]]:
    """Name -> what prepares the call and returns it."""

    def session() -> Any:
        return gradd.connect(url, transport=transport)

    def small() -> Any:
        session()
        x = torch.ones(4)
        x.tolist()
        return x

    def flush() -> Callable[[], Any]:
        s, x = session(), torch.ones(4)
        s.flush()
        x.add_(1)
        return lambda: s.flush()

    def fetch() -> Callable[[], Any]:
        x = small()
        return lambda: (x * 2).tolist()

    def many() -> Callable[[], Any]:
        x = small()

        def run() -> Any:
            for _ in range(100):
                x.add_(1)
                gradd.current_session().step_done()
            return x.tolist()

        return run

    def upload() -> Callable[[], Any]:
        s = session()
        values = np.ones(LARGE // 8)
        return lambda: (torch.from_numpy(values), s.flush())

    def download() -> Callable[[], Any]:
        s = session()
        x = torch.ones(LARGE // 8, dtype=torch.float64)
        s.flush()
        return lambda: float(x.numpy().sum())

    def info() -> Callable[[], Any]:
        s = session()
        s.flush()
        return lambda: s.info().name

    def close() -> Callable[[], Any]:
        s, x = session(), torch.ones(4)
        s.flush()
        x.add_(1)
        return lambda: s.close()

    def product(size: int, times: int) -> tuple[Any, Callable[[], Any]]:
        """A session, and what records so many products of matrices of so many rows."""
        s, a = session(), torch.ones(size, size)
        s.flush()

        def record() -> Any:
            b = a
            for _ in range(times):
                b = b @ a * 1e-3
            return b

        return s, record

    def long() -> Callable[[], Any]:
        """Some seconds of work in one batch."""
        _, record = product(1000, 80)
        return lambda: record().sum().item()

    def endless() -> Callable[[], Any]:
        """Minutes of work in one batch."""
        _, record = product(3000, 1000)
        return lambda: record().sum().item()

    def waiting() -> Callable[[], Any]:
        """Minutes of work in a batch that nobody waits for."""
        s, record = product(3000, 1000)

        def run() -> Any:
            record()
            s.step_done()
            print("sent", flush=True)
            threading.Event().wait()

        return run

    def caught() -> Callable[[], Any]:
        """Minutes of work in one batch, and an end for who does not want to wait for it."""
        s, record = product(3000, 1000)
        receive = s.wire.transport.receive

        def told(block: bool) -> Any:
            if block:
                print("waits", flush=True)
            return receive(block)

        def run() -> Any:
            s.wire.transport.receive = told
            try:
                record().sum().item()
            except KeyboardInterrupt:
                return

        return run

    return {
        "open": lambda: session,
        "flush": flush, "fetch": fetch, "many": many, "upload": upload, "download": download, "info": info,
        "close": close, "long": long, "endless": endless, "waiting": waiting,
        "caught": caught,
    }  # fmt: skip


def main(url: str, transport: str, name: str) -> None:
    """Prepare, wait to be told, call, and say how it ended."""
    faulthandler.enable()
    # Where tests run in the background, interrupts are ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    call = _calls(url, transport)[name]()
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        call()
    except Exception as e:
        print(json.dumps({"ended": type(e).__name__, "said": str(e)}), flush=True)
    else:
        print(json.dumps({"ended": "ok", "said": ""}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
