"""Two tenants in one engine process, one of them hostile: what the other notices."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from concurrent.futures import Future
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from gradd_protocol import frames, names
from gradd_protocol.program import Step
from gradd_server.placement.workers import WorkersPlacement

from tests.runtime.peer import Peer, housed
from tests.waiting import PATIENCE

SESSIONS, QUEUED, REQUESTS = 100, 3, 20
#: some milliseconds of work
HEAVY = [
    Step("ones", [], {"size": [400, 400], "dtype": "float64"}),
    Step("matmul", [0, 0]),
    Step("matmul", [1, 0]),
    Step("sum", [2]),
]


@pytest.fixture
def placement() -> Iterator[WorkersPlacement]:
    made = WorkersPlacement(workers=1, threads=1)
    yield made
    made.shutdown()


def small_requests(other: Peer) -> list[float]:
    """Seconds of each of a+b, one after another; each result is right."""
    waits = []
    for _ in range(REQUESTS):
        began = perf_counter()
        reply = other.batch(Step("add", [0, 1]), inputs=["a", "b"], fetch=[2])
        waits.append(perf_counter() - began)
        assert reply.problem is None
        assert other.arrays[0].tolist() == [4.0]
    return waits


def test_a_small_request_is_not_stuck_behind_a_strangers_hundred_queues(placement: WorkersPlacement) -> None:
    other = housed(placement, "other", "s")
    other.put("a", np.array([1.0]))
    other.put("b", np.array([3.0]))
    small_requests(other)
    alone = small_requests(other)
    hostile = {f"s{n}": housed(placement, "hostile", f"s{n}") for n in range(SESSIONS)}
    queued: list[Future[Any]] = []
    for session, writer in hostile.items():
        batches = [writer.message(*HEAVY, seq=seq, fetch=[3]) for seq in range(1, QUEUED + 1)]
        key = names.keyed("hostile", session)
        queued += [placement.submit(key, frames.join(frames.encode(batch))) for batch in batches]
    before = sum(future.done() for future in queued)
    beside = small_requests(other)
    meanwhile = sum(future.done() for future in queued) - before
    turn = statistics.median(_seconds(future) for future in queued)
    print(
        f"a+b of a tenant, median {1e3 * statistics.median(alone):.2f} ms alone, "
        f"{1e3 * statistics.median(beside):.2f} ms (longest {1e3 * max(beside):.2f}) beside {SESSIONS} "
        f"sessions with queues of another, whose turns take {1e3 * turn:.2f} ms"
    )
    # In turns by session it would be a hundred turns a request.
    assert meanwhile <= 5 * REQUESTS
    replies = [frames.decode_reply(future.result(PATIENCE))[0] for future in queued]
    assert [len(reply.results) for reply in replies] == [1] * len(queued)
    assert [reply.seq for reply in replies] == list(range(1, QUEUED + 1)) * SESSIONS


def _seconds(future: Any) -> float:
    future.result(PATIENCE)
    return float(future.ran)
