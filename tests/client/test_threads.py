"""Several threads on one session: each records for itself, storages are touched in the script's order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import gradd as torch
import pytest


@pytest.fixture
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def elsewhere(*work: Callable[[], Any]) -> list[Any]:
    """Run each piece on a thread of its own, one after the other; returns their results."""
    found: list[Any] = []
    for piece in work:
        failed: list[BaseException] = []

        def run(piece: Callable[[], Any] = piece, failed: list[BaseException] = failed) -> None:
            try:
                found.append(piece())
            except BaseException as e:
                failed.append(e)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
    return found


def test_writes_of_two_threads_keep_their_order(session: Any) -> None:
    x = torch.ones(2)
    x.add_(1)
    elsewhere(lambda: x.mul_(10))
    x.add_(1)
    elsewhere(lambda: x.mul_(10), lambda: x.add_(1))
    assert x.tolist() == [211.0, 211.0]


def test_a_view_is_the_same_storage(session: Any) -> None:
    x = torch.ones(4)
    view = x[:2]
    elsewhere(lambda: x.mul_(3))
    view.add_(1)
    elsewhere(lambda: x.mul_(3))
    assert x.tolist() == [12.0, 12.0, 9.0, 9.0]


def test_what_a_dead_thread_recorded_is_not_lost(session: Any) -> None:
    (y,) = elsewhere(lambda: torch.ones(2) + 1)
    assert y.tolist() == [2.0, 2.0]
    (z,) = elsewhere(lambda: torch.ones(2) * 3)
    assert (z + y).tolist() == [5.0, 5.0]


def test_a_pass_on_another_thread_comes_before_its_gradients_are_read(session: Any) -> None:
    w = torch.ones(2, requires_grad=True)
    loss = (w * w).sum()
    elsewhere(loss.backward)
    assert w.grad.tolist() == [2.0, 2.0]


def test_a_pass_comes_after_what_other_threads_recorded(session: Any) -> None:
    w = torch.ones(2, requires_grad=True)
    h = elsewhere(lambda: w * 3)[0]
    elsewhere(lambda: (h * h).sum().backward())
    elsewhere(lambda: w.grad.mul_(2))
    assert w.grad.tolist() == [36.0, 36.0]


def test_reading_brings_what_another_thread_recorded(session: Any) -> None:
    x = torch.zeros(2)
    elsewhere(lambda: x.add_(5))
    assert x.tolist() == [5.0, 5.0]


def test_threads_at_the_same_time_do_not_lose_steps(session: Any) -> None:
    total, failures = torch.zeros(2), []
    start = threading.Barrier(4)

    def work(k: int) -> None:
        try:
            start.wait()
            mine = torch.zeros(2)
            for _ in range(200):
                mine.add_(k)
                total.add_(1)
            assert mine.tolist() == [200.0 * k] * 2
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []
    assert total.tolist() == [800.0, 800.0]
    assert total._version == 800
    assert session.tensors() == session.mirror()


def test_an_error_is_told_to_the_thread_that_syncs_first(session: Any) -> None:
    table = torch.ones(3)
    with pytest.raises(IndexError):
        elsewhere(lambda: table[torch.tensor([99])], session.flush)
    session.flush()
    assert table.tolist() == [1.0, 1.0, 1.0]


def test_with_blocks_are_a_threads_own(session: Any) -> None:
    with gradd.connect("local:") as inner:
        assert gradd.current_session() is inner
        assert elsewhere(gradd.current_session) == [inner]
        with session:
            assert gradd.current_session() is session
            assert elsewhere(gradd.current_session) == [inner]
            session_is_open = torch.ones(1).tolist()
    assert session_is_open == [1.0]
