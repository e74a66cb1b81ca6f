"""A placement that keeps its sessions in a child process: only bytes cross."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from tests.waiting import PATIENCE

CHILD = """
import json, struct, sys
from gradd_runtime.process import InlinePlacement
from tests.waiting import PATIENCE

inline, source, sink = InlinePlacement(), sys.stdin.buffer, sys.stdout.buffer
while head := source.read(8):
    first, second = struct.unpack("<II", head)
    note, frame = json.loads(source.read(first)), source.read(second)
    reply = b""
    if note["do"] == "open":
        inline.open(note["name"], note["options"])
    elif note["do"] == "close":
        inline.close(note["name"])
    else:
        reply = inline.submit(note["name"], frame).result()
    sink.write(struct.pack("<Q", len(reply)) + reply)
    sink.flush()
"""


class PipePlacement:
    """The Placement interface over the pipes of a child process; frames are answered in order."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._lock = threading.Lock()
        self.crossed = 0

    def _ask(self, note: dict[str, Any], frame: bytes = b"") -> bytes:
        text = json.dumps(note).encode()
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with self._lock:
            self._child.stdin.write(struct.pack("<II", len(text), len(frame)) + text + frame)
            self._child.stdin.flush()
            (size,) = struct.unpack("<Q", self._child.stdout.read(8))
            self.crossed += 1
            return self._child.stdout.read(size)

    def open(self, name: str, options: Mapping[str, Any]) -> None:
        self._ask({"do": "open", "name": name, "options": dict(options)})

    def submit(self, name: str, frame: bytes | bytearray | memoryview) -> Future[bytes]:
        future: Future[bytes] = Future()
        future.set_result(self._ask({"do": "submit", "name": name}, bytes(frame)))
        return future

    def close(self, name: str) -> None:
        self._ask({"do": "close", "name": name})

    def shutdown(self) -> None:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        self._child.wait(timeout=PATIENCE)
        self._child.stdout.close()
