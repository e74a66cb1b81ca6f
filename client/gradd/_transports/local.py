"""Sessions in this process: frames go to the runtime, on a thread. The only module that imports the
runtime.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from gradd_protocol import frames, names
from gradd_protocol import messages as m
from gradd_protocol.problems import problem
from gradd_protocol.version import EXTENSIONS

from .._exceptions import answered, error_of
from . import waits
from .base import Glance
from .snapshots import LocalShelf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from .base import Member

#: who computes
_WHOM = "the session in this process"

_lock = threading.Lock()
_placement: Any = None


def _inline() -> Any:
    """The placement of this process, created on first use."""
    global _placement
    with _lock:
        if _placement is None:
            from gradd_runtime.process import InlinePlacement

            _placement = InlinePlacement()
        return _placement


def prepare() -> None:
    """Import what sessions of this process need, so that forked children need not."""
    import gradd_runtime.process  # noqa: F401


def revive() -> None:
    """In a forked child: run the copied sessions on a new thread."""
    global _lock
    _lock = threading.Lock()
    if _placement is not None:
        _placement.revive()


def abandon() -> None:
    """At the end of the process: abandon the work of its sessions."""
    if _placement is not None:
        _placement.abandon()
        _placement.shutdown()


class LocalTransport:
    """Frames to a session of this process. See `Transport`."""

    far = False

    def __init__(self, session: str) -> None:
        self._name = session
        self._placement = _inline()
        self._waiting: deque[Future[bytes]] = deque()
        self.extensions = frozenset(EXTENSIONS)
        self.snapshots = LocalShelf(self._order, self.delete)

    def _order(self, path: str, save: bool) -> bytes:
        from gradd_runtime.process import FileOrder

        self._placement.open(self._name, {})
        reply: bytes = waits.result(self._placement.submit(self._name, FileOrder(path, save)), _WHOM)
        return reply

    def attach(self, resume: tuple[int, int] | None = None) -> m.Attached:
        """See Transport.attach."""
        self._placement = _inline()
        self._waiting.clear()
        if resume is None:  # what one was a writer of before is there, or is lost
            self._placement.open(self._name, {})
        writer, epoch = resume or (None, None)
        reply, _ = self.request(m.Attach("gradd-python", writer, epoch))
        if isinstance(reply, m.ProblemReply):
            raise error_of(reply.problem, None, None)
        assert isinstance(reply, m.Attached)
        return reply

    def send(self, parts: Sequence[frames.Part], seq: int) -> None:
        """See Transport.send."""
        self._waiting.append(self._placement.submit(self._name, frames.join(parts)))

    def receive(self, block: bool) -> bytes | None:
        """See Transport.receive."""
        if not self._waiting or not (block or self._waiting[0].done()):
            return None
        data: bytes = waits.result(self._waiting[0], _WHOM)
        self._waiting.popleft()
        return data

    def coming(self, told: Callable[[], None]) -> None:
        """See Transport.coming."""
        if self._waiting:
            self._waiting[0].add_done_callback(lambda _: told())
        else:
            told()

    def doubt(self) -> None:
        """See Transport.doubt: it is this process."""

    def request(
        self, message: m.Request, buffers: Sequence[frames.Array] = ()
    ) -> tuple[m.Reply, list[frames.Array]]:
        """See Transport.request."""
        return self._begin(message, buffers)()

    def stage(self, key: str, array: frames.Array) -> Callable[[], None]:
        """See Transport.stage."""
        reply = self._begin(m.Stage(key), [array])

        def arrived() -> None:
            answered(reply())

        return arrived

    def reduce(self, mean: bool, members: Sequence[Member]) -> None:
        """See Transport.reduce."""
        from gradd_runtime.tensors import combined

        givers, takers = ([each for each in members if each[at]] for at in (1, 2))
        for at in range(len(givers[0].tensors)):
            given = [self._begin(m.GetTensor(each.tensors[at]), (), each.session) for each in givers]
            result = combined([answered(reply())[1][0] for reply in given], mean)
            taken = [self._begin(m.Stage(each.uploads[at]), [result], each.session) for each in takers]
            for reply in taken:
                answered(reply())

    def _begin(
        self, message: m.Request, buffers: Sequence[frames.Array], session: str | None = None
    ) -> Callable[[], tuple[m.Reply, list[frames.Array]]]:
        frame = frames.join(frames.encode(message, buffers))
        replying = self._placement.submit(session or self._name, frame)
        return lambda: frames.decode_reply(waits.result(replying, _WHOM))

    def cancel(self, writer: int, seq: int) -> None:
        """See Transport.cancel."""
        self._placement.stop(self._name, problem("cancelled", "its client asked for it"), writer, seq)

    def glance(self) -> Glance | None:
        """See Transport.glance."""
        from gradd_runtime.process import decode_figures

        (process,) = self._placement.engines().processes
        figures = decode_figures(process.figures.result())
        for each in [] if figures is None else figures.recent:
            if each.key == self._name:
                counts = each.counts
                return Glance(each.tensors, each.bytes, counts.get("planned", 0), counts.get("eager", 0))
        return None

    def place(self, device: str) -> None:
        """See Transport.place."""
        devices = self._placement.devices
        if not names.is_device(device, devices):
            said = f"this process has no device {device!r}: its sessions are on {', '.join(devices)}"
            raise error_of(problem("invalid-data", said), None, None)
        self._placement.open(self._name, {"device": device})

    def delete(self, within: float | None = None) -> None:
        """See Transport.delete."""
        self._placement.close(self._name)

    def close(self) -> None:
        """See Transport.close."""
        self._waiting.clear()
