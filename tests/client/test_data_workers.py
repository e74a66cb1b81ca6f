"""A loader's worker processes: what they compute, how they fail, and that they end."""

from __future__ import annotations

import functools
import os
import random
import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest
from gradd.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info
from gradd.utils.data._utils import pool

from tests.waiting import PATIENCE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")


@pytest.fixture(params=["local", "daemon"])
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    with gradd.connect(url) as s:
        yield s


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many processors the machine has."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(64), raising=False)


class Pictures(Dataset[Any]):
    """Samples made of arrays, in part by tensors."""

    def __len__(self) -> int:
        return 10

    def __getitem__(self, i: int) -> Any:
        x = torch.from_numpy(np.full((2, 2), i, np.float32))
        return {"x": (x * 2).clamp(max=9), "raw": np.arange(i, i + 3), "label": i, "name": f"n{i}"}


class Made(Dataset[Any]):
    """Samples made by a function."""

    def __init__(self, make: Callable[[int], Any], count: int = 6) -> None:
        self.make = make
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> Any:
        return self.make(i)


class Shards(IterableDataset[Any]):
    def __iter__(self) -> Iterator[int]:
        me = get_worker_info()
        assert me is not None
        return iter(range(me.id, 10, me.num_workers))


def test_workers_give_what_the_parent_would(session: Any) -> None:
    wanted = list(DataLoader(Pictures(), batch_size=4))
    for more in ({"num_workers": 2}, {"num_workers": 3, "prefetch_factor": 1}):
        found = list(DataLoader(Pictures(), batch_size=4, **more))  # type: ignore[arg-type]
        assert repr(found) == repr(wanted)
    assert found[0]["x"]._session is session
    assert (found[0]["x"] + torch.ones(2, 2)).shape == (4, 2, 2)


def test_a_batch_of_workers_is_an_upload_a_tensor(session: Any) -> None:
    session.flush()
    before = session.stats()
    loader = DataLoader(Pictures(), batch_size=5, num_workers=2)
    assert len(list(loader)) == 2
    session.flush()
    spent = {name: n - before[name] for name, n in session.stats().items()}
    assert spent["steps"] == 2 * 3 + 1  # and the seed of the workers
    assert spent["round_trips"] <= 3  # the seed, what the fork waits for, the flush


def test_a_batch_of_tensors_needs_no_worker(session: Any) -> None:
    loader = DataLoader(TensorDataset(torch.arange(6)), batch_size=4, num_workers=2)
    assert [x.tolist() for (x,) in loader] == [[0, 1, 2, 3], [4, 5]]


def test_tensors_of_the_parent_are_there(session: Any) -> None:
    table = torch.arange(12.0).reshape(6, 2) * 2
    loader = DataLoader(Made(lambda i: table[i]), batch_size=3, num_workers=2)
    assert [x.tolist() for x in loader] == table.reshape(2, 3, 2).tolist()


MEAN = np.float32(0.5)


class Normal(Dataset[Any]):
    """Samples of arrays and of tensors of the parent, which it has in several ways."""

    def __init__(self) -> None:
        self.by = {"scale": [torch.tensor(2.0, requires_grad=True) * 2]}
        self.shift = functools.partial(torch.add, torch.nn.Parameter(torch.ones(2)))

    def __len__(self) -> int:
        return 4

    def __getitem__(self, i: int) -> Any:
        x = torch.from_numpy(np.full(2, i, np.float32) - MEAN)
        return self.shift(x * self.by["scale"][0]).detach()


def test_samples_of_arrays_and_of_the_parents_tensors(session: Any) -> None:
    later = torch.full((2,), 10.0)
    whole = Normal()

    def collated(batch: list[Any]) -> Any:
        return torch.stack([x + later for x in batch])

    session.flush()
    before = session.stats()["round_trips"]
    loader = DataLoader(whole, batch_size=2, num_workers=2, collate_fn=collated)
    found = [x.tolist() for x in loader]
    assert found == [[[9.0, 9.0], [13.0, 13.0]], [[17.0, 17.0], [21.0, 21.0]]]
    # of the loader: the seed and the values of three tensors; of what is read here: two
    assert session.stats()["round_trips"] - before <= 4
    assert whole.by["scale"][0].requires_grad
    assert (whole.by["scale"][0]._session, later.tolist()) == (session, [10.0, 10.0])


def test_shards_of_an_iterable_dataset() -> None:
    with gradd.connect("local:"):
        found = [x.tolist() for x in DataLoader(Shards(), batch_size=2, num_workers=3)]
        assert found == [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]
        found = [x.tolist() for x in DataLoader(Shards(), batch_size=2, num_workers=3, drop_last=True)]
        assert found == [[0, 3], [1, 4], [2, 5], [6, 9]]
        assert list(DataLoader(Shards(), batch_size=None, num_workers=2)) == list(range(10))
        assert get_worker_info() is None


def test_a_worker_knows_itself_and_draws_its_own_numbers() -> None:
    def drawn(i: int) -> Any:
        me = get_worker_info()
        assert me is not None
        assert isinstance(me.dataset, Made)
        return me.id, me.seed, torch.initial_seed(), random.random(), np.random.rand(), torch.rand(()).item()

    def told(seed: int) -> list[Any]:
        torch.manual_seed(seed)
        return list(DataLoader(Made(drawn, 2), batch_size=None, num_workers=2))

    with gradd.connect("local:"):
        one, two = told(1)
        assert ([one, two], told(2)[0] == one) == (told(1), False)
        assert (one[0], two[0], two[1] - one[1]) == (0, 1, 1)
        assert one[1:3] == [one[1]] * 2
        assert all(a != b for a, b in zip(one, two, strict=True))


def test_another_order_where_none_is_asked_for() -> None:
    with gradd.connect("local:"):
        loader = DataLoader(range(20), batch_size=3, num_workers=3, in_order=False)  # type: ignore[arg-type]
        assert sorted(i for x in loader for i in x.tolist()) == list(range(20))


def test_workers_that_persist() -> None:
    with gradd.connect("local:"):
        loader = DataLoader(
            Made(lambda i: os.getpid()), batch_size=None, num_workers=2, persistent_workers=True
        )
        first = set(loader)
        next(iter(loader))  # and no more of that epoch
        again = list(loader)
        assert (len(first), set(again), len(again)) == (2, first, 6)
        processes = loader._iterator._pool.processes  # type: ignore[union-attr]
        assert all(p.is_alive() for p in processes)
        del loader
        assert not any(p.is_alive() for p in processes)


def test_workers_end_with_the_epoch_or_its_iterator() -> None:
    with gradd.connect("local:"):
        for count in (6, 2):
            it = iter(DataLoader(Made(lambda i: i), num_workers=2))
            processes = it._pool.processes  # type: ignore[attr-defined]
            assert [int(x) for x, _ in zip(it, range(count), strict=False)] == list(range(count))
            if count == 6:
                assert next(it, None) is None
            else:
                del it
            assert not any(p.is_alive() for p in processes)


def test_a_loader_ends_beside_another_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that were forked later hold the pipes of the earlier ones too."""
    ended = []
    with gradd.connect("local:"):
        early, late = (iter(DataLoader(Made(lambda i: i), num_workers=1)) for _ in range(2))
        (process,) = early._pool.processes  # type: ignore[attr-defined]
        monkeypatch.setattr(process, "terminate", lambda: ended.append(process))
        assert next(early).tolist() == next(late).tolist() == [0]
        del early
        assert (process.exitcode, ended) == (0, [])
        assert [int(x) for x in late] == [1, 2, 3, 4, 5]


class OddError(Exception):
    """Made of two arguments."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(a, b)


def fails(error: Callable[[], Exception]) -> Callable[[int], Any]:
    def make(i: int) -> Any:
        if i == 3:
            raise error()
        return i

    return make


def test_an_error_comes_with_the_workers_traceback() -> None:
    with gradd.connect("local:"), pytest.raises(ValueError, match="no picture") as found:
        list(DataLoader(Made(fails(lambda: ValueError("no picture"))), num_workers=2))
    head, told, *frames, last, end = str(found.value).split("\n")
    assert head == "Caught ValueError in DataLoader worker process 1."
    assert told == "Original Traceback (most recent call last):"
    assert any(frame.endswith(", in make") for frame in frames)
    assert (last, end) == ("ValueError: no picture", "")


@pytest.mark.parametrize(
    ("error", "kind"), [(lambda: KeyError("k"), KeyError), (lambda: OddError(1, 2), RuntimeError)]
)
def test_errors_of_any_class(error: Any, kind: type[Exception]) -> None:
    class Local(Exception):
        pass

    with gradd.connect("local:"):
        for make, raised in ((error, kind), (Local, RuntimeError)):
            loader = DataLoader(Made(fails(make)), num_workers=1)
            with pytest.raises(raised, match="in DataLoader worker process 0") as found:
                list(loader)
            assert "\nOriginal Traceback" in str(found.value)


def test_a_worker_that_cannot_begin_says_why() -> None:
    def begin(id: int) -> None:
        raise OSError(f"no disk for {id}")

    with gradd.connect("local:"), pytest.raises(OSError, match="no disk for 0"):
        list(DataLoader(Made(lambda i: i), num_workers=2, worker_init_fn=begin))


def test_an_answer_that_cannot_travel_is_told() -> None:
    with gradd.connect("local:"), pytest.raises(Exception, match="pickle"):
        list(DataLoader(Made(lambda i: lambda: i), num_workers=1, collate_fn=lambda batch: batch))


def test_a_worker_that_dies_is_told() -> None:
    def dies(i: int) -> Any:
        if i == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return i

    with gradd.connect("local:"):
        it = iter(DataLoader(Made(dies), num_workers=2))
        pid = it._pool.processes[0].pid  # type: ignore[attr-defined]
        with pytest.raises(
            RuntimeError, match=rf"^DataLoader worker \(pid\(s\) {pid}\) exited unexpectedly$"
        ):
            list(it)


def test_a_batch_that_does_not_come_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_GRACE", 0.1)
    with gradd.connect("local:"):
        loader = DataLoader(Made(lambda i: threading.Event().wait(PATIENCE)), num_workers=1, timeout=0.2)
        with pytest.raises(RuntimeError, match=re.escape("DataLoader timed out after 0.2 seconds")):
            list(loader)


def test_workers_end_with_their_parent() -> None:
    """A killed parent closes nothing. Its workers hold an end of our pipe for as long as they live."""
    out, into = os.pipe()
    with gradd.connect("local:"):
        torch.ones(1).tolist()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            parent = os.fork()
        if parent == 0:
            it = iter(DataLoader(Made(lambda i: i), num_workers=2))
            next(it)
            os.write(into, b"began")
            os.kill(os.getpid(), signal.SIGKILL)
        os.close(into)
        with os.fdopen(out, "rb") as pipe:
            assert pipe.read() == b"began"  # to its end
        os.waitpid(parent, 0)


def test_workers_that_are_not_forked(daemon: str) -> None:
    """What they get, they get by value, and in a session of theirs."""
    with gradd.connect(daemon):
        loader = DataLoader(
            TensorDataset(torch.arange(4)), num_workers=1, collate_fn=first, multiprocessing_context="spawn"
        )
        assert [x.tolist() for x in loader] == [0, 1, 2, 3]


def first(batch: Any) -> Any:
    return batch[0][0]
