"""A worker process of a loader: it fetches what it is told to, and answers with bytes.

It computes in a session of its own, in its process, and takes along the tensors of its dataset. For any
others of the process that forked it, it becomes a writer of their session, as any forked child.
"""

from __future__ import annotations

import io
import os
import random
import traceback
from collections.abc import Callable
from multiprocessing import connection, parent_process
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...._session import begin_alone, close_all
from ...._surface import from_numpy, manual_seed
from .carried import Carried, unpack
from .collate import collate, default_collate, default_collate_fn_map, stacked
from .fetch import Exhausted, Fetcher

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.synchronize import Event

#: seconds after which a worker looks whether its parent is still there, should no pipe have told it
_LOOK = 5.0


class WorkerInfo:
    """What a worker knows of itself: `id`, `num_workers`, `seed`, `dataset` (its copy)."""

    def __init__(self, id: int, num_workers: int, seed: int, dataset: Any) -> None:
        self.id = id
        self.num_workers = num_workers
        self.seed = seed
        self.dataset = dataset

    def __repr__(self) -> str:
        return f"WorkerInfo({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """What this worker of a DataLoader is; None in any other process (torch.utils.data.get_worker_info)."""
    return _info


class Source(NamedTuple):
    """What a worker fetches from."""

    dataset: Any
    batched: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    init_fn: Callable[[int], Any] | None


class Seat(NamedTuple):
    """A worker among the others: its number, how many there are, and what all of them are seeded with."""

    id: int
    workers: int
    base_seed: int


class Failed(NamedTuple):
    """What a worker answers when it raised: the class, and its traceback as text."""

    kind: type[BaseException]
    text: str

    def reraise(self) -> None:
        """Raise it here, with the worker's traceback as its message."""
        if self.kind is KeyError:
            raise KeyError(_Said(self.text))
        try:
            error = self.kind(self.text)
        except Exception:  # one whose class wants other arguments
            raise RuntimeError(self.text) from None
        raise error


class _Said(str):
    """A KeyError shows the repr of its argument."""

    def __repr__(self) -> str:
        return str(self)


class Ended(NamedTuple):
    """What a worker answers when its part of an iterable dataset has no more samples."""


def failure(error: BaseException, id: int) -> Failed:
    """An exception of a worker as it travels."""
    told = "".join(traceback.format_exception(error))
    kind = type(error)
    return Failed(kind, f"Caught {kind.__name__} in DataLoader worker process {id}.\nOriginal {told}")


class _Upload:
    """An array that is a tensor where it arrives: a worker that only stacks arrays needs no session."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array

    def __reduce__(self) -> Any:
        return from_numpy, (self._array,)


def _arrays(batch: Any, *, collate_fn_map: Any = None) -> Any:
    whole = stacked(batch)
    return default_collate(batch) if whole is None else _Upload(whole)


def _scalars(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return _Upload(np.array(batch))


_TABLE = {**default_collate_fn_map, np.ndarray: _arrays, (np.bool_, np.number): _scalars}


def _collate(batch: Any) -> Any:
    """`default_collate` for a batch that is sent away."""
    return collate(batch, collate_fn_map=_TABLE)


def send(pipe: Connection, number: int, answer: Any) -> None:
    """Send an answer: its number, its pickle, and the buffers of its arrays, each by itself."""
    head, buffers = io.BytesIO(), list[Any]()
    ForkingPickler(head, 5, True, buffers.append).dump(answer)
    pipe.send((number, len(buffers)))
    pipe.send_bytes(head.getbuffer())
    for buffer in buffers:
        pipe.send_bytes(buffer.raw())


def work(
    source: Source | bytes, parcel: Carried, seat: Seat, requests: Connection, answers: Connection,
    others: list[Connection], done: Event,
) -> None:  # fmt: skip
    """A worker's life. `source`: pickled, where the process was not forked, else what tensors it holds is in
    `parcel`; `others`: the parent's ends of
    pipes that a fork copied; `done`: set when nobody wants answers any more.
    """
    for pipe in others:
        pipe.close()
    try:
        begin_alone()
        unpack(parcel)
        _serve(source, seat, requests, answers, done)
    except (KeyboardInterrupt, BrokenPipeError, EOFError):
        pass  # the parent has it too, or is no more
    finally:
        close_all()


def _serve(
    source: Source | bytes, seat: Seat, requests: Connection, answers: Connection, done: Event
) -> None:
    fetcher: Fetcher | None = None
    broken: Failed | None = None
    try:
        known: Source = ForkingPickler.loads(source) if isinstance(source, bytes) else source
        _settle(known, seat)
    except Exception as error:
        broken = failure(error, seat.id)
    while _waits(requests):
        number, keys = requests.recv()
        if done.is_set():
            return
        if number is None:  # another epoch
            fetcher = None
            continue
        try:
            if broken is None and fetcher is None:
                own = _collate if known.collate_fn is default_collate else known.collate_fn
                fetcher = Fetcher(known.dataset, known.batched, own, known.drop_last)
            answer = broken if fetcher is None else fetcher.fetch(keys)
            send(answers, number, answer)
        except Exhausted:
            send(answers, number, Ended())
        except BrokenPipeError:
            raise
        except Exception as error:
            told = failure(error, seat.id)
            try:
                send(answers, number, told)
            except Exception:  # a class that cannot be pickled
                send(answers, number, Failed(RuntimeError, told.text))


def _settle(source: Source, seat: Seat) -> None:
    """Seed the random streams and say who this is."""
    global _info
    seed = seat.base_seed + seat.id
    random.seed(seed)
    manual_seed(seed)
    np.random.seed(np.random.SeedSequence((seat.base_seed, seat.id)).generate_state(4))
    _info = WorkerInfo(seat.id, seat.workers, seed, source.dataset)
    if source.init_fn is not None:
        source.init_fn(seat.id)


def _waits(requests: Connection) -> bool:
    """Wait for a request; False when the parent is gone."""
    parent = parent_process()
    assert parent is not None
    while True:
        ready = connection.wait([requests, parent.sentinel], timeout=_LOOK)
        if requests in ready:
            return True
        if ready or os.getppid() != parent.pid:
            return False
