"""What reading one element of a small tensor brings along, and what needs no reading at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import pytest


@pytest.fixture
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


class Trips:
    """How often a session waited inside a `with` block."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def __enter__(self) -> Trips:
        self._before = self._session.stats()["round_trips"]
        return self

    def __exit__(self, *exc: object) -> None:
        self.count = self._session.stats()["round_trips"] - self._before


@pytest.fixture
def trips(session: Any) -> Trips:
    return Trips(session)


# -- parts of a small tensor -------------------------------------------------------------------------


def test_a_loop_over_a_small_tensor_is_one_round_trip(trips: Trips) -> None:
    ix = torch.arange(32) * 3
    with trips:
        assert [int(i) for i in ix] == [3 * i for i in range(32)]
    assert trips.count == 1


def test_elements_of_a_small_tensor_are_one_round_trip(trips: Trips) -> None:
    x = torch.arange(6.0).reshape(2, 3).t() * 2
    with trips:
        assert [[float(x[i, j]) for j in range(2)] for i in range(3)] == [[0.0, 6.0], [2.0, 8.0], [4.0, 10.0]]
        assert x[1:].tolist() == [[2.0, 8.0], [4.0, 10.0]]
        assert x[:, 1].flip(0).tolist() == [10.0, 8.0, 6.0]
    assert trips.count == 2  # flip() is no part of it


def test_a_row_of_a_large_tensor_brings_its_elements(trips: Trips) -> None:
    rows = torch.arange(3 << 20).reshape(3, 1 << 20)[:, :16]
    with trips:
        assert sum(int(i) for i in rows[2]) == 16 * (2 << 20) + 120
    assert trips.count == 1


def test_a_large_tensor_is_brought_once_it_is_read_again_and_again(trips: Trips) -> None:
    order = torch.arange(20_000).flip(0)
    with trips:
        assert [int(order[k]) for k in range(200)] == list(range(19_999, 19_799, -1))
    assert 2 < trips.count < 10


def test_a_write_makes_the_neighbours_stale(trips: Trips) -> None:
    x = torch.arange(4)
    with trips:
        assert int(x[0]) == 0
        x[1] = 7
        assert int(x[1]) == 7
        x[2:].add_(10)
        assert [int(i) for i in x] == [0, 7, 12, 13]
    assert trips.count == 3


def test_a_part_that_shares_memory_unseen_is_read_itself(session: Any) -> None:
    x = torch.arange(4)
    assert int(x[0]) == 0
    x.data.add_(1)
    assert [int(i) for i in x] == [1, 2, 3, 4]
    y = torch.zeros(3)
    part = y[1]
    y.data = torch.ones(5)
    assert float(part) == 0.0
    assert float(y[1]) == 1.0


def test_parts_that_are_not_plain_strides_are_read_themselves(session: Any) -> None:
    z = torch.tensor([1 + 2j, 3 - 4j])
    assert complex(z[1]) == 3 - 4j
    assert complex(z.conj()[1].resolve_conj()) == 3 + 4j
    assert torch.view_as_real(z)[1].tolist() == [3.0, -4.0]
    x = torch.arange(6.0).reshape(2, 3).t().clone()
    assert x[2, 1].item() == 5.0
    assert x.expand(2, 3, 2)[1, 0].tolist() == [0.0, 3.0]
    assert torch.zeros(0, 3)[0:].tolist() == []


# -- what follows from values that are here -----------------------------------------------------------


def test_windows_at_random_places_are_no_round_trip(trips: Trips) -> None:
    data, T = torch.arange(1000), 8
    torch.manual_seed(1)
    for _ in range(3):
        with trips:
            ix = torch.randint(len(data) - T, (32,))
            x = torch.stack([data[i : i + T] for i in ix])
            y = torch.stack([data[i + 1 : i + 1 + T] for i in ix])
        assert trips.count == 0
        assert torch.equal(x + 1, y)
        assert torch.equal(x[:, 0], ix)


def test_ends_that_were_computed_first_come_along(trips: Trips) -> None:
    data, starts = torch.arange(100), torch.arange(3) * 5 + 5
    ends = [i + 3 for i in starts]
    with trips:
        parts = [data[i:j] for i, j in zip(starts, ends, strict=True)]
    assert trips.count == 1
    assert [p.tolist() for p in parts] == [[5, 6, 7], [10, 11, 12], [15, 16, 17]]


def test_rows_by_a_permutation_are_no_round_trip(trips: Trips) -> None:
    data = torch.arange(20).reshape(10, 2)
    with trips:
        order = torch.randperm(10)
        rows = torch.stack([data[i] for i in order])
    assert trips.count == 0
    assert torch.equal(rows, data[order])


def test_a_comparison_with_a_value_that_is_here_needs_no_trip(trips: Trips) -> None:
    loss, best = torch.tensor(0.5), torch.tensor(0.75)
    assert (loss.item(), best.item()) == (0.5, 0.75)
    with trips:
        assert loss < best
        assert not loss > 1
        assert bool((loss < best) & (best == 0.75))
    assert trips.count == 0


def test_computed_here_is_what_the_server_computes(trips: Trips) -> None:
    made: list[tuple[Any, Any]] = []
    integers = (torch.int64, torch.int32, torch.uint8, torch.int8)
    for dtype in (*integers, torch.bool, torch.float16, torch.float32, torch.bfloat16):
        a = torch.tensor([3, 200, 0, 7]).to(dtype)
        a.tolist()
        with trips:
            for each in a:
                results = [each == 7, each != 0, (each > 1) | (each < -1), each.long() + 1, each.byte()]
                if dtype in integers:
                    results += [each + 100, each * 3, 5 - each, -each, each.abs(), each.clamp(1, 5)]
                for result in results:
                    made.append((result.item(), result))
        assert trips.count == 0, dtype
    assert [here for here, _ in made] == torch.stack([there.long() for _, there in made]).tolist()


def test_what_was_written_between_is_not_computed_from_what_was(session: Any) -> None:
    i = torch.tensor(3)
    assert int(i) == 3
    j = i + 1
    j.add_(10)
    assert int(j) == 14
    k = i + 1
    i.add_(5)
    assert (int(k), int(i)) == (4, 8)
    n = i + 0
    m = n * 2
    n.zero_()
    assert (int(m), int(n)) == (16, 0)


def test_values_in_another_order_than_their_rows(session: Any) -> None:
    turned = torch.arange(4).reshape(2, 2).t().clone()
    assert (turned.stride(), turned.tolist()) == ((1, 2), [[0, 2], [1, 3]])
    assert (turned.t().view(-1) > 1).tolist() == [False, False, True, True]
    assert (turned.t().reshape(-1)[1:] + 1).tolist() == [2, 3, 4]
    assert (turned[1] * 2).tolist() == [2, 6]


def test_a_range_over_a_tensor_and_its_sum(trips: Trips) -> None:
    n = torch.arange(5).max()
    with trips:
        assert [i for _ in range(2) for i in range(n)] == [0, 1, 2, 3] * 2
        assert list(range(n + 1)) == [0, 1, 2, 3, 4]
    assert trips.count == 1


def test_an_error_is_raised_where_a_part_is_read(session: Any) -> None:
    x = torch.arange(4).index_select(0, torch.tensor([9]))
    with pytest.raises(IndexError, match="out of range"):
        int(x[0])


# -- values of one kind --------------------------------------------------------------------------------


def test_a_list_of_losses_is_read_in_three_round_trips(trips: Trips) -> None:
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    losses = []
    for _ in range(20):
        loss = (w * w).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    with trips:
        values = [loss.item() for loss in losses]
    assert values == sorted(values, reverse=True)
    assert trips.count <= 3


def test_scalars_of_one_batch_come_together(trips: Trips) -> None:
    x = torch.arange(5.0)
    with trips:
        assert (x.sum().item(), x.mean().item()) == (10.0, 2.0)
        low, high = x.min(), x.max()
        assert (low.item(), high.item()) == (0.0, 4.0)
    assert trips.count == 3
