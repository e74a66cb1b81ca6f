"""The worker processes of a loader, as their parent has them: requests go out, answers come in on a thread.

The thread always reads, so that no worker is blocked by its answers and no request by a worker.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import warnings
from multiprocessing import connection
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, NamedTuple

from ...._transports import prepare_local
from .carried import carried
from .worker import Seat, Source, work

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

#: seconds that a worker gets to end by itself
_GRACE = 5.0


class Answer(NamedTuple):
    """What a worker sent: the number of the request, and a pickle with its buffers."""

    worker: int
    number: int
    head: bytes
    buffers: list[bytearray]

    def decode(self) -> Any:
        """The data, whose tensors are made in the current session."""
        return ForkingPickler.loads(self.head, buffers=self.buffers)


class Gone(NamedTuple):
    """Told instead of an answer when a worker died."""

    worker: int


class Pool:
    """Running workers. RuntimeError where a platform cannot start them."""

    def __init__(self, context: Any, source: Source, count: int, base_seed: int) -> None:
        prepare_local()
        forks = context.get_start_method() == "fork"
        given = source if forks else bytes(ForkingPickler.dumps(source))
        parcel = carried(source) if forks else []
        self._requests: list[Connection] = []
        self._answers: list[Connection] = []
        self._done = context.Event()
        self.processes: list[Any] = []
        self.arrived: queue.SimpleQueue[Answer | Gone] = queue.SimpleQueue()
        for id in range(count):
            their_requests, requests = context.Pipe(duplex=False)
            answers, their_answers = context.Pipe(duplex=False)
            self._requests.append(requests)
            self._answers.append(answers)
            copied = [*self._requests, *self._answers] if forks else []
            seat = Seat(id, count, base_seed)
            process = context.Process(
                target=work,
                args=(given, parcel, seat, their_requests, their_answers, copied, self._done),
                daemon=True,
            )
            with warnings.catch_warnings():
                # of threads that a fork does not copy: the child uses none of them
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            their_requests.close()
            their_answers.close()
            self.processes.append(process)
        self._owner = os.getpid()
        self._reader = threading.Thread(
            target=_read, args=(self._answers, self.arrived), name="gradd-loader", daemon=True
        )
        self._reader.start()

    def request(self, worker: int, number: int | None, keys: Any = None) -> None:
        """Have a worker fetch what `keys` ask for; without a number, begin another epoch."""
        with contextlib.suppress(BrokenPipeError):  # the reader says that it is gone
            self._requests[worker].send((number, keys))

    def pids(self, worker: int) -> str:
        """The process of a worker that died, and any others."""
        self.processes[worker].join(_GRACE)
        dead = [p.pid for i, p in enumerate(self.processes) if i == worker or not p.is_alive()]
        return ", ".join(map(str, dead))

    def close(self) -> None:
        """End the workers: at once where they wait, after what they fetch otherwise, and by force at last."""
        if self._owner != os.getpid():
            return  # a forked child collects a copy of the loader
        self._done.set()
        for worker, pipe in enumerate(self._requests):
            # other forked processes may hold the pipe open, so that its end alone tells nothing
            self.request(worker, None)
            pipe.close()
        for process in self.processes:
            process.join(_GRACE)
            if process.is_alive():
                process.terminate()
                process.join()
        self._reader.join()
        for pipe in self._answers:
            pipe.close()


def _read(pipes: list[Connection], arrived: queue.SimpleQueue[Answer | Gone]) -> None:
    """Take in answers until no worker is left."""
    left = {pipe: worker for worker, pipe in enumerate(pipes)}
    while left:
        for pipe in connection.wait(list(left)):
            assert isinstance(pipe, connection.Connection)
            try:
                number, count = pipe.recv()
                head = pipe.recv_bytes()
                # writable, as arrays are that nobody else has
                buffers = [bytearray(pipe.recv_bytes()) for _ in range(count)]
                arrived.put(Answer(left[pipe], number, head, buffers))
            except (EOFError, OSError):
                arrived.put(Gone(left.pop(pipe)))
