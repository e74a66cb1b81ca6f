"""One pass of a loader over its data: in this process, or with workers."""

from __future__ import annotations

import copy
import itertools
import queue
import threading
import warnings
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from gradd_engine.data import dtypes

from ...._recording import Ahead, Made
from ...._session import current
from ...._surface import DRAWING
from ..dataset import IterableDataset
from .fetch import Exhausted, Fetcher
from .pool import Answer, Gone, Pool
from .worker import Ended, Failed, Source

#: seeds are drawn below it
_SEEDS = 1 << 62
#: how many data are uploaded before they are asked for: the bytes of the second travel while those of the
#: first are made a tensor
_AHEAD = 2


class Iteration(ABC):
    """An iterator over a loader's data. `loader`: a DataLoader, which imports this."""

    def __init__(self, loader: Any) -> None:
        # a copy, since a loader with workers that persist holds its iterator
        self._loader = copy.copy(loader)
        self.begin()

    def begin(self) -> None:
        """Begin an epoch."""
        self._keys: Iterator[Any] = (
            itertools.repeat([None] * (self._loader.batch_size or 1))
            if isinstance(self._loader.dataset, IterableDataset)
            else iter(self._loader._index_sampler)
        )
        self._given = 0

    def __iter__(self) -> Iteration:
        return self

    def __len__(self) -> int:
        return len(self._loader)

    def __next__(self) -> Any:
        data = self._next()
        self._given += 1
        expected = self._loader._expected
        if expected is not None and self._given > expected:
            self._warn(expected)
        return data

    @abstractmethod
    def _next(self) -> Any:
        """The next data; raises StopIteration."""

    def _warn(self, expected: int) -> None:
        text = (
            f"Length of IterableDataset {self._loader.dataset} was reported to be {expected}"
            f"(when accessing len(dataloader)), but {self._given} samples have been fetched. "
        )
        if self._loader.num_workers:
            text += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
            )
        warnings.warn(text, stacklevel=3)


class Serial(Iteration):
    """In this process."""

    def begin(self) -> None:
        """See Iteration.begin."""
        super().begin()
        loader = self._loader
        self._fetcher = Fetcher(loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last)

    def _next(self) -> Any:
        keys = next(self._keys)
        try:
            return self._fetcher.fetch(keys)
        except Exhausted:
            raise StopIteration from None


class Parallel(Iteration):
    """With workers, each asked in turn; up to `prefetch_factor` requests are with each of them."""

    def __init__(self, loader: Any) -> None:
        seed = int(DRAWING["randint"](0, _SEEDS, (), dtype=dtypes.int64, generator=loader.generator).item())
        source = Source(
            loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last, loader.worker_init_fn
        )
        #: a worker that died while nobody waited
        self._gone: Gone | None = None
        self._pool = Pool(loader._context, source, loader.num_workers, seed)
        self._close = weakref.finalize(self, self._pool.close)
        super().__init__(loader)

    def begin(self) -> None:
        """See Iteration.begin."""
        super().begin()
        self._asked: dict[int, int] = {}
        #: what has arrived, in part before it is asked for: its tensors are uploaded already
        self._arrived: dict[int, Made] = {}
        self._number = self._due = 0
        self._workers = itertools.cycle(range(self._loader.num_workers))
        self._active = set(range(self._loader.num_workers))
        for _ in range((self._loader.prefetch_factor or 0) * self._loader.num_workers):
            self._ask()

    def again(self) -> None:
        """Begin another epoch with the same workers, once they have done what is left of the last one."""
        while self._asked:
            del self._asked[self._take().number]
        for worker in range(self._loader.num_workers):
            self._pool.request(worker, None)
        self.begin()

    def _ask(self) -> None:
        """Ask the next worker that has any for more, if there is more."""
        if not self._active:
            return
        keys = next(self._keys, self)
        if keys is self:
            return
        worker = next(w for w in self._workers if w in self._active)
        self._asked[self._number] = worker
        self._pool.request(worker, self._number, keys)
        self._number += 1

    def _next(self) -> Any:
        self._thread, self._session = threading.get_ident(), current()
        Ahead.of(self._session).call(self._look)
        while True:
            if self._loader.in_order:
                while self._due < self._number and self._due not in self._asked | self._arrived.keys():
                    self._due += 1  # where a worker had no more
            elif self._arrived:
                self._due = next(iter(self._arrived))
            if self._due in self._arrived:
                break
            if not self._asked:
                if not self._loader.persistent_workers:
                    self._close()
                raise StopIteration
            self._receive(self._take())
        made = self._arrived.pop(self._due)
        self._ask()
        if isinstance(made.data, Failed):
            made.data.reraise()
        return made.take(self._session)

    def _look(self) -> None:
        """A batch was sent: take in answers that came meanwhile, so that their tensors travel. Only where it
        is iterated: another thread may be in the middle of it.
        """
        if threading.get_ident() != self._thread or current() is not self._session:
            return
        while len(self._arrived) < _AHEAD and self._gone is None:
            try:
                found = self._pool.arrived.get_nowait()
            except queue.Empty:
                return
            if isinstance(found, Gone):
                self._gone = found  # told when it is waited for
            else:
                self._receive(found)

    def _receive(self, found: Answer) -> None:
        """Have an answer at hand."""
        try:
            made = Ahead.of(current()).make(found.decode)
        except BaseException:
            self._pool.arrived.put(found)  # Ctrl-C, which a script may survive
            raise
        del self._asked[found.number]
        if isinstance(made.data, Ended):
            self._active.discard(found.worker)
            self._ask()
        else:
            self._arrived[found.number] = made

    def _take(self) -> Answer:
        """Wait for an answer of any worker. RuntimeError if none comes in time, or one died."""
        wait = self._loader.timeout
        found: Answer | Gone | None = self._gone
        try:
            if found is None:
                found = self._pool.arrived.get(timeout=wait or None)
        except queue.Empty:
            raise RuntimeError(f"DataLoader timed out after {wait} seconds") from None
        if isinstance(found, Gone):
            pids = self._pool.pids(found.worker)
            self._close()
            raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly")
        return found
