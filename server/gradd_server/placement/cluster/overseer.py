"""The front's side of the agent: it is started, heard, and started again where it ends."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import msgspec

from gradd_server.placement.cluster.nodes import AgentOrder, ClusterSeen

logger = logging.getLogger("gradd.server")

AGAIN_SECONDS = 1.0
"""Pause before an agent that ended is started again."""

_decode = msgspec.json.Decoder(ClusterSeen).decode


class Overseer:
    """Looks at the cluster until `close`, which leaves it as it is."""

    def __init__(self, order: AgentOrder) -> None:
        self._order = order
        self._listener: Callable[[ClusterSeen], None] | None = None
        self._change = threading.Condition()
        self._seen: ClusterSeen | None = None
        self._closed = False
        self._child = self._started()
        self._thread = threading.Thread(target=self._hear, name="gradd-cluster", daemon=True)
        self._thread.start()

    def _started(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "gradd_server.placement.cluster.agent"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C in a terminal is for the front
        )
        assert child.stdin is not None
        with suppress(OSError):  # it has ended; who hears it finds out
            child.stdin.write(msgspec.json.encode(self._order) + b"\n")
            child.stdin.flush()
        return child

    def tell(self, listener: Callable[[ClusterSeen], None] | None) -> None:
        """Let `listener` be told each time that an agent looked, on a thread of this one's, and of the latest
        look at once; or nobody.
        """
        with self._change:
            self._listener, seen = listener, self._seen
        if listener is not None and seen is not None and not seen.trouble:
            listener(seen)

    def first(self, seconds: float) -> ClusterSeen:
        """What the cluster is, once a host of it answers. Raises RuntimeError where none does in time."""
        with self._change:
            self._change.wait_for(lambda: self._seen and any(h.address for h in self._seen.hosts), seconds)
            seen = self._seen
        if seen is None:
            raise RuntimeError(f"nothing was heard of the Ray cluster within {seconds:g} s")
        if not any(host.address for host in seen.hosts):
            why = seen.trouble or f"of {len(seen.hosts)} hosts none answers: no node has what they ask for"
            raise RuntimeError(f"the Ray cluster runs no engine processes: {why}")
        return seen

    def _hear(self) -> None:
        trouble = ""
        while not self._closed:
            child = self._child
            stdout, stdin = child.stdout, child.stdin
            assert stdout is not None
            assert stdin is not None
            for line in stdout:
                try:
                    seen = _decode(line)
                except msgspec.MsgspecError:  # half a line, of one that was killed
                    continue
                if seen.trouble != trouble:
                    trouble = seen.trouble
                    logger.warning(
                        "the cluster %s", f"is not seen: {trouble}" if trouble else "is seen again"
                    )
                with self._change:
                    self._seen = seen
                    listener = self._listener
                    self._change.notify_all()
                if listener is not None and not seen.trouble:
                    listener(seen)
            code = child.wait()
            stdout.close()
            with suppress(OSError):  # what it did not read
                stdin.close()
            if not self._closed:
                logger.warning("the agent of the cluster ended with code %d; another is started", code)
                time.sleep(AGAIN_SECONDS)
                with self._change:
                    if not self._closed:
                        self._child = self._started()

    def close(self) -> None:
        """End the agent."""
        with self._change:
            self._closed = True
            child = self._child
        assert child.stdin is not None
        with suppress(OSError):
            child.stdin.close()
        try:
            child.wait(AGAIN_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        self._thread.join()
