"""What does distance cost? Training, a first loss and bulk over a link with a round trip of 20 and 150 ms.

The link is `benchmarks.farlink`. A bar is what the same script takes on loopback and the round trips that it
cannot do without, by the link's own round trip.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import gradd
import numpy as np

from .bench import MS, Bench, Row, Timing, main, spread
from .farlink import far
from .mlp_sgd import TASK
from .models import transformer
from .training import data, script

NEAR, FAR = 0.020, 0.150
#: of a slow link: bits a second, and bytes that go over it
BITS, SIZE = 100e6, 16_000_000
MLP = "MLP 784-512-256-10, batch 64, SGD"
#: what the first loss may take besides its round trips (s)
FIRST_SECONDS = 0.3
#: characters of a text, and of them in a row
TEXT, LENGTH, ROWS = 4096, 32, 8


def seconds(run: Callable[[], Any]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def within(session: gradd.Session, make: Callable[[], Callable[[], None]]) -> Callable[[], None]:
    """What `make` makes in a session, to be run in it."""
    session.enter()
    try:
        run = make()
    finally:
        session.leave()

    def entered() -> None:
        session.enter()
        try:
            run()
        finally:
            session.leave()

    return entered


def loop(
    bench: Bench, work: str, rtt: float, every: int, bar: float, make: Callable[[], Callable[[], None]],
    rounds: int,
) -> Row:  # fmt: skip
    """The row of a loop of `every` steps: its time over that on loopback and a round trip of the steps, both
    in turn.
    """
    with (
        gradd.connect(bench.url) as here,
        far(bench.url, rtt) as link,
        gradd.connect(link.url, token=link.key) as there,
    ):
        found = bench.interleave(within(there, make), within(here, make), every, rounds)
    trip = rtt / every
    name = f"{work}, loss every {every}, RTT {MS * rtt:.0f} ms, of loopback and RTT/{every}"
    row = Timing(found.mine, [s + trip for s in found.peer], found.cpu).ratio(name, bar)
    row.peer = f"loopback {MS * statistics.median(found.peer):.2f} ms"
    return row


def first_loss(
    url: str, key: str | None, inputs: Any, targets: Any, start: list[Any], read: Callable[[], Any]
) -> Any:
    """Connect, upload the model and the data, read the loss, and return what `read` says then."""
    with gradd.connect(url, token=key):
        model = TASK.model(gradd)
        with gradd.no_grad():
            for p, values in zip(model.parameters(), start, strict=True):
                p.copy_(gradd.from_numpy(values))
        x, y = gradd.from_numpy(inputs), gradd.from_numpy(targets)
        TASK.loss(gradd, model(x), y).item()
        return read()


def _first(bench: Bench, rounds: int) -> Row:
    inputs, targets = data(TASK)
    with gradd.connect(bench.url):
        start = [p.detach().numpy() for p in TASK.model(gradd).parameters()]
    took = []
    with far(bench.url, FAR) as link:
        for _ in range(rounds):
            began = time.perf_counter()
            took.append(first_loss(link.url, link.key, inputs, targets, start, time.perf_counter) - began)
    value, low, high = spread(took)
    work = f"first loss: connect, upload MLP and 16 batches, read it, RTT {MS * FAR:.0f} ms"
    return Row(work=work, value=value, low=low, high=high, unit="s", bar=3 * FAR + FIRST_SECONDS)


def _language(lib: Any) -> Callable[[], Callable[[], None]]:
    """A small language model, whose batches are cut out of a text at random places."""

    def make() -> Callable[[], None]:
        lib.manual_seed(0)
        text = lib.arange(TEXT) % 64
        table = lib.nn.Embedding(64, 32)
        model, head = transformer(lib, 32, 2, 1), lib.nn.Linear(32, 64)
        parameters = [*table.parameters(), *model.parameters(), *head.parameters()]
        optimizer = lib.optim.SGD(parameters, lr=1e-3)

        def run() -> None:
            for _ in range(10):
                ix = lib.randint(TEXT - LENGTH - 1, (ROWS,))
                x = lib.stack([text[i : i + LENGTH] for i in ix])
                y = lib.stack([text[i + 1 : i + 1 + LENGTH] for i in ix])
                optimizer.zero_grad()
                out = head(model(table(x)))
                loss = lib.nn.functional.cross_entropy(out.reshape(-1, 64), y.reshape(-1))
                loss.backward()
                optimizer.step()
            loss.item()

        return run

    return make


def _trips(bench: Bench) -> Row:
    """How many round trips ten steps of the language model take, one of which reads the loss."""
    with gradd.connect(bench.url) as session:
        run = _language(gradd)()
        for _ in range(2):
            run()
        before = session.stats()["round_trips"]
        run()
        found = session.stats()["round_trips"] - before
    work = "language model, 10 steps on rows cut out at random places, round trips beyond the loss"
    return Row(work=work, value=float(found - 1), bar=0.0)


def _bulk(bench: Bench, rounds: int) -> list[Row]:
    """How much of a slow link's bytes a second an upload and a download get."""
    nbytes = bench.pick(SIZE, SIZE // 4, 1 << 20)
    array = np.ones(nbytes // 4, np.float32)
    least = 8 * nbytes / BITS + NEAR
    up, down = [], []
    with far(bench.url, NEAR, BITS) as link, gradd.connect(link.url, token=link.key) as session:
        for _ in range(rounds):

            def upload() -> gradd.Tensor:
                t = gradd.from_numpy(array)
                session.flush()
                return t

            up.append(least / seconds(upload))
            there = gradd.ones(nbytes // 4) + 0.0
            session.flush()
            down.append(least / seconds(there.numpy))
    rows = []
    for way, found in (("upload", up), ("download", down)):
        value, low, high = spread(found)
        work = f"{way} {nbytes / 1e6:.0f} MB at {BITS / 1e6:.0f} Mbit/s, RTT {MS * NEAR:.0f} ms, of the link"
        rows.append(Row(work=work, value=value, low=low, high=high, bar=0.9, at_least=True))
    return rows


def question(bench: Bench) -> list[Row]:
    """Loops, the first loss, bulk, and a language model's round trips."""
    if bench.pid is None:
        return [Row(work="far away", note="there is no link to a session in this process")]
    rounds, few = bench.pick(5, 3), bench.pick(3, 2)

    def mlp(every: int, upload: bool = False) -> Callable[[], Callable[[], None]]:
        return lambda: script(gradd, TASK, every, every, False, upload)

    uploaded = f"{MLP}, batch uploaded each step"
    return [
        loop(bench, MLP, NEAR, 10, 1.02, mlp(10), 4 * rounds),
        loop(bench, MLP, FAR, 100, 1.05, mlp(100), rounds),
        loop(bench, uploaded, NEAR, 10, 1.05, mlp(10, True), 4 * rounds),
        loop(bench, uploaded, FAR, 100, 1.10, mlp(100, True), rounds),
        _first(bench, rounds),
        *_bulk(bench, few),
        _trips(bench),
    ]


if __name__ == "__main__":
    main(question)
