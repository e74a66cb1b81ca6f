"""Two counters behind a bad network: one that a script of the SDK counts, one that is counted over REST in
numbered batches of JSON. Both are exact at the end, and each answer over REST is.

`GRADD_BATCHES` says how many batches (`make faults`: 100,000; a tenth of them over REST) and
`GRADD_BATCHES_SEED` what they meet with.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import gradd as torch
import pytest

from tests.faults.client import Client
from tests.faults.daemon import Daemon
from tests.faults.network import RATES, Network
from tests.waiting import silence

BATCHES = int(os.environ.get("GRADD_BATCHES", "2000"))
SEED = os.environ.get("GRADD_BATCHES_SEED", "0")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    # Whoever comes through a relay does not find the local user's key.
    with Daemon(tmp_path_factory.mktemp("network"), "--no-auth") as made:
        yield made


@pytest.fixture
def network(
    daemon: Daemon, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Network]:
    monkeypatch.setenv("GRADD_SILENCE_SECONDS", str(silence()))
    made = Network(daemon.port, f"{SEED} {request.node.name}")
    yield made
    made.close()


def _met(tally: Callable[..., None], network: Network, batches: int) -> None:
    for kind in RATES:
        tally(f"network: {kind}", network.done[kind])
    # Not of each kind: of some there are few.
    assert sum(network.done.values()) > batches * sum(RATES.values()) / 4


def test_a_counter_of_the_sdk(daemon: Daemon, network: Network, tally: Callable[..., None]) -> None:
    count = BATCHES * 9 // 10
    wrong = 0
    session: Any = gradd.connect(network.url, session="counter")
    with session:
        c = torch.zeros((), dtype=torch.float64)
        for k in range(1, count + 1):
            c += 1
            session.step_done()
            if k % 100 == 0:
                wrong += c.item() != k
        found, applied, sent = c.item(), session.info().batches, session.wire.seq
    gradd.delete_session("counter", daemon.url)
    _met(tally, network, count)
    assert sent >= count
    lost, twice = max(count - found, sent - applied, 0), max(found - count, applied - sent, 0)
    tally("batches over a bad network", count, int(lost), int(twice), wrong)


def test_a_counter_over_rest(network: Network, tally: Callable[..., None]) -> None:
    count = BATCHES // 10
    add = {"steps": [{"op": "add_", "inputs": ["c", 1.0]}], "fetch": ["c"]}
    client = Client(network.url, "rest", patience=silence())
    client.begin()
    assert client.call("PUT", "/tensors/c", json={"data": 0.0, "dtype": "float64"}).is_success
    lost = twice = 0
    last = 0.0
    for seq in range(1, count + 1):
        # It has read the answers to all before.
        answer = client.numbered(seq, add)
        found = answer.json()["results"]["c"]["data"]
        lost += found < last + 1
        twice += found > last + 1
        last = found
    applied = client.applied()
    client.end()
    _met(tally, network, count)
    wrong = int(last != count) + int(applied != count)
    tally("batches of JSON over a bad network", count, lost, twice, wrong)
