"""What a loader without workers costs: round trips, steps, uploads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest
from gradd.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    RandomSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    random_split,
)


@pytest.fixture
def session(daemon: str) -> Iterator[Any]:
    with gradd.connect(daemon) as s:
        yield s


def rows(count: int = 40) -> TensorDataset:
    return TensorDataset(torch.arange(3.0 * count).reshape(count, 3), torch.arange(count))


class Spent:
    """What a session spent since."""

    def __init__(self, session: Any) -> None:
        self.session = session
        session.flush()
        self.before = session.stats()

    def __getitem__(self, name: str) -> int:
        return int(self.session.stats()[name] - self.before[name])


class Doubled(TensorDataset):
    """A subclass that makes its samples itself."""

    def __getitem__(self, index: Any) -> Any:
        return tuple(2 * t for t in super().__getitem__(index))


def test_a_shuffled_epoch_is_no_round_trip_and_three_steps_a_batch(session: Any) -> None:
    loader = DataLoader(rows(), batch_size=8, shuffle=True)
    total = torch.zeros(())
    spent = Spent(session)
    for x, y in loader:
        total += x.sum() + y.sum()
    assert spent["round_trips"] == 0  # the permutation is told here
    session.flush()
    # its making, and a batch: the upload of indices, two gathers, two sums, two additions
    assert spent["steps"] == 1 + 5 * (3 + 4)
    assert total.item() == sum(range(120)) + sum(range(40))


def test_a_sequential_epoch_waits_for_nothing(session: Any) -> None:
    spent = Spent(session)
    assert len(list(DataLoader(rows(), batch_size=8))) == 5
    assert spent["round_trips"] == 0


SHARES = {
    "random_split": lambda: random_split(rows(), [0.5, 0.5], torch.Generator().manual_seed(1))[0],
    "a subset of a subset": lambda: Subset(Subset(rows(), range(30, 0, -1)), [1, 2, 3, 5, 8]),
    "a subset by a tensor": lambda: Subset(rows(), torch.tensor([3, 1, -2])),  # type: ignore[arg-type]
    "concatenated": lambda: ConcatDataset([rows(3), Subset(rows(), [7, 5]), rows(2)]),
    "stacked": lambda: StackDataset(a=rows(6), b=StackDataset(rows(6), rows(6))),
    "a tensor of indices": lambda: Subset(rows(), list(torch.tensor([4, 2, 0]))),
}


@pytest.mark.parametrize("name", SHARES)
def test_parts_are_gathered_like_the_whole(session: Any, name: str) -> None:
    part: Any = SHARES[name]()
    for order in ([0, 2, 1], [2, 0], [1], [-1, 0]):
        one_by_one = default_collate([part[i] for i in order])
        spent = Spent(session)
        (batch,) = DataLoader(part, batch_sampler=[order])
        session.flush()
        assert (spent["round_trips"], spent["steps"] <= 12) == (1, True)  # the flush
        assert repr(batch) == repr(one_by_one)


def test_a_gathered_batch_carries_gradients(session: Any) -> None:
    w = torch.ones(4, 2, requires_grad=True)
    (batch,) = DataLoader(TensorDataset(w), batch_sampler=[[1, 3, 1]])
    batch[0].sum().backward()
    assert w.grad.tolist() == [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0], [1.0, 1.0]]


def test_a_subclass_makes_its_own_samples(session: Any) -> None:
    (x, y), *_ = DataLoader(Doubled(*rows(4).tensors), batch_size=2)
    assert (x.tolist(), y.tolist()) == ([[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]], [0, 2])


def test_indices_out_of_range_are_told_at_once(session: Any) -> None:
    with pytest.raises(IndexError, match="index 4 is out of bounds for dimension 0 with size 4"):
        list(DataLoader(rows(4), batch_sampler=[[0, 4]]))


class Pictures(Dataset[Any]):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> Any:
        return {"x": np.full((2, 3), i, np.uint8), "label": i, "weight": np.float32(i) / 2}


def test_a_batch_of_arrays_is_one_upload(session: Any) -> None:
    spent = Spent(session)
    first, second = DataLoader(Pictures(), batch_size=4)
    session.flush()
    assert (spent["round_trips"], spent["steps"], spent["batches"]) == (1, 6, 1)
    assert second["x"].shape == (4, 2, 3)
    assert second["x"][:, 0, 0].tolist() == [4, 5, 6, 7]
    assert (first["label"].dtype, first["weight"].dtype) == (torch.int64, torch.float32)


@pytest.mark.parametrize("shuffled", [True, False])
def test_samplers_draw_at_once(session: Any, shuffled: bool) -> None:
    spent = Spent(session)
    stream = torch.Generator().manual_seed(7)
    samplers: list[Any] = [
        RandomSampler(range(100), True, 1000, generator=stream),
        SubsetRandomSampler(range(50), generator=stream),
        WeightedRandomSampler([1.0, 3.0] * 10, 200, generator=stream),
        RandomSampler(range(30), generator=stream),
    ]
    drawn = [list(s) for s in samplers]
    assert spent["round_trips"] == 1  # by weights: those are values
    stream.manual_seed(7)
    assert [list(s) for s in samplers] == drawn


def test_a_seed_says_the_order() -> None:
    with gradd.connect("local:"):
        orders = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            orders.append([y.tolist() for _, y in DataLoader(rows(), batch_size=40, shuffle=True)])
        assert orders[0] == orders[1] != orders[2]


class Rows(Dataset[Any]):
    """Rows of tensors, one by one, as most scripts write it."""

    def __init__(self, count: int) -> None:
        self.x, self.y = torch.rand(count, 3), torch.arange(count)

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, i: int) -> Any:
        return self.x[i], self.y[i]


def test_rows_one_by_one_are_one_program_and_no_round_trip(session: Any) -> None:
    rows = Rows(32)
    programs: set[str] = set()
    spent = Spent(session)
    found = []
    for x, y in DataLoader(rows, batch_size=8, shuffle=True):
        found.append((x.sum(1), y))
        session.step_done()
        programs.add(session.outbox.latest.message.program)
    assert (spent["round_trips"], len(programs)) == (0, 2)  # the first draws the permutation too
    order = [i for _, y in found for i in y.tolist()]
    assert sorted(order) == list(range(32))
    assert [v for s, _ in found for v in s.tolist()] == rows.x.sum(1)[torch.tensor(order)].tolist()
