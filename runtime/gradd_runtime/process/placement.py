"""Where sessions run. Only bytes cross this interface, also in one process."""

from __future__ import annotations

import ctypes
import logging
import threading
from concurrent.futures import Future
from queue import SimpleQueue
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from gradd_engine.data import SEED
from gradd_protocol import frames
from gradd_protocol.problems import ProtocolError

from ..session import Session
from .bulk import Bulk
from .refusals import refusal, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

_log = logging.getLogger("gradd.runtime")

KERNEL_SECONDS = 5.0
"""Longest wait for the kernel that runs, where all work was given up."""


class Pending(Future[frames.Bytes]):
    """A reply frame to come."""

    #: seconds that the session took for it, where that is known once it is there
    ran = 0.0


class Placement(Protocol):
    """Opens sessions somewhere and carries frames to them."""

    def open(self, name: str, options: Mapping[str, Any]) -> None:
        """Make the session `name` unless it is there; options: ``seed`` (int), ``quota_bytes`` (int)."""

    def submit(self, name: str, frame: frames.Bytes | Bulk) -> Future[frames.Bytes]:
        """Hand one request frame to the session; the future has its reply frame. Frames of a session run in
        order. A frame in writable memory, or in a Bulk, is the session's from now on.
        """
        ...

    def close(self, name: str) -> None:
        """End the session; its tensors are gone. Unknown names are ignored."""

    def abandon(self) -> None:
        """Give up what was submitted; `shutdown` does not wait for it any more."""

    def shutdown(self) -> None:
        """Finish what was submitted and stop."""


class InlinePlacement:
    """All sessions on one thread of this process."""

    def __init__(self, device: str = "cpu") -> None:
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()
        self._backend = backend_of(device)
        self._abandoned = False
        self._start()

    def _start(self) -> None:
        # Not an executor: those stop before a client's exit handlers, which still have batches to send.
        self._queue: SimpleQueue[tuple[str, Any, Pending, float] | Session | None] = SimpleQueue()
        self._thread = threading.Thread(
            target=self._work, args=(self._queue,), name="gradd-engine", daemon=True
        )
        self._thread.start()

    def revive(self) -> None:
        """In a forked child, where the thread is gone: go on with this process's copy of the sessions."""
        self._lock = threading.Lock()
        self._start()

    def open(self, name: str, options: Mapping[str, Any]) -> None:
        """See Placement.open."""
        with self._lock:
            if name not in self._sessions:
                self._sessions[name] = open_session(name, options, self._backend)

    def submit(self, name: str, frame: frames.Bytes | Bulk) -> Future[frames.Bytes]:
        """See Placement.submit."""
        future = Pending()
        self._queue.put((name, frame, future, perf_counter()))
        return future

    def _work(self, queue: SimpleQueue[tuple[str, Any, Pending, float] | Session | None]) -> None:
        while (job := queue.get()) is not None:
            if isinstance(job, Session):
                job.close()
                del job
                continue
            name, frame, future, came = job
            if future.set_running_or_notify_cancel():
                began = perf_counter()
                with self._lock:
                    session = self._sessions.get(name)
                if session is not None and session.profiler is not None:
                    session.profiler.waited(began - came)
                reply = self._run(name, frame)
                future.ran = perf_counter() - began
                future.set_result(reply)
                del session, reply
            del job, frame, future

    def _run(self, name: str, frame: frames.Bytes | Bulk) -> bytes:
        with self._lock:
            session = self._sessions.get(name)
        return frames.join(answer(session, frame)) if session is not None else unknown(name)

    def close(self, name: str) -> None:
        """See Placement.close."""
        with self._lock:
            session = self._sessions.pop(name, None)
        if session is not None:
            self._queue.put(session)  # its thread may be running it

    def abandon(self) -> None:
        """See Placement.abandon. The kernel that runs is the last."""
        self._abandoned = True
        # Raised in that thread between two of its instructions; a flag would be looked at in every step.
        thread = ctypes.c_ulong(self._thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(SystemExit))

    def shutdown(self) -> None:
        """See Placement.shutdown."""
        self._queue.put(None)
        self._thread.join(KERNEL_SECONDS if self._abandoned else None)


def open_session(name: str, options: Mapping[str, Any], backend: Any) -> Session:
    """A new session; options as Placement.open has them."""
    limit = {"limit": options["quota_bytes"]} if "quota_bytes" in options else {}
    return Session(name, seed=options.get("seed", SEED), backend=backend, **limit)


def answer(session: Session, frame: frames.Bytes | Bulk) -> list[frames.Part]:
    """The session's reply frame, as `Session.answer` has it; where the engine has a bug, a problem that says
    no more than that.
    """
    try:
        return session.answer(frame.map() if isinstance(frame, Bulk) else memoryview(frame))
    except Exception:
        _log.exception("session %s failed on a frame", session.name)
        return [refusal(ProtocolError.of("internal", "the engine failed on this request"))]


def backend_of(device: str) -> Any:
    """The engine's backend for `cpu`, `cuda` or `cuda:N`, its kernels loaded. Raises ValueError for other
    names, ImportError or RuntimeError where the device, or the kernels asked for, are not there.
    """
    if device == "cpu":
        from gradd_engine.backends.numpy import NUMPY

        NUMPY.kernels.load()
        return NUMPY
    if device.startswith("cuda"):
        from gradd_engine.backends.cupy import CupyBackend

        return CupyBackend(int(device.partition(":")[2] or 0))
    raise ValueError(f"there is no device {device!r}: cpu, cuda or cuda:N")
