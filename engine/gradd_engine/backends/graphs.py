"""CUDA graphs: what a device was told once, without doing it, is started as a whole from then on."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class _Streams(threading.local):
    def __init__(self) -> None:
        #: by array namespace
        self.made: dict[Any, Any] = {}


_streams = _Streams()


def _stream_of(xp: Any) -> Any:
    """The stream that this thread captures in: one for all graphs, so that they run one after another. What
    else the thread tells the device is in the default stream, which waits for this one and back.
    """
    if xp not in _streams.made:
        _streams.made[xp] = xp.cuda.Stream(non_blocking=False)
    return _streams.made[xp]


class DeviceGraph:
    """All that `work` starts on the device, captured; `work` must neither wait for the device nor take memory
    from the host to it. Raises whatever `work` or the end of the capture raises: then nothing was started.

    Its arrays keep their memory while the graph lives: it comes from a pool that nothing else allocates from
    but graphs that are made `beside` it. What is free there by the end of one is used by the next, so these
    are launched in the order in which they were captured. `ready` makes in the stream what no graph can make.
    """

    def __init__(
        self, xp: Any, work: Callable[[], None], ready: Callable[[], None], beside: DeviceGraph | None = None
    ) -> None:
        self._pool: Any = xp.cuda.MemoryPool() if beside is None else beside._pool
        self._stream = _stream_of(xp)
        with self._stream:
            ready()
            with xp.cuda.using_allocator(self._pool.malloc):
                self._stream.begin_capture()
                try:
                    work()
                except BaseException:
                    self._abandon()
                    raise
                self._graph = self._stream.end_capture()
        self._graph.upload(self._stream)

    def _abandon(self) -> None:
        """End the capture, which may have failed before."""
        try:
            self._stream.end_capture()
        except Exception:
            # The error that ended the work is the one to tell.
            return

    @property
    def nbytes(self) -> int:
        """Bytes of the memory that it and those beside it keep."""
        return int(self._pool.total_bytes())

    def launch(self) -> None:
        """Start all of it."""
        self._graph.launch(self._stream)
