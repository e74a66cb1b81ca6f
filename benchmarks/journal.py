"""What does the record of a session cost a training step in the engine process, beside one that keeps none?

The frames of a small MLP's training, which is planned, go to two sessions of this process in turn, a few
dozen at a time: one of level `memory`, and one of level `process`. CPU time of the thread that runs them.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradd
from gradd import nn
from gradd._transports import local
from gradd_engine.backends.array import NUMPY
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import Hosted
from gradd_runtime.store import make_record

from .bench import Bench, Row, main, spread

BAR = 1.05
_BLOCK = 40
_NAME = "journal"


def training(steps: int) -> list[bytes]:
    """The frames of a training of an MLP 20-16-4 with SGD, batch 64, whose loss is read every 10 steps."""
    sent: list[bytes] = []
    placement = local._inline()
    submit = placement.submit

    def recorded(name: str, frame: Any, **more: Any) -> Any:
        if name.endswith(_NAME):
            sent.append(bytes(frame))
        return submit(name, frame, **more)

    placement.submit = recorded  # type: ignore[method-assign]
    try:
        with gradd.connect("local:", _NAME):
            gradd.manual_seed(0)
            x, y = gradd.randn(64, 20), gradd.randint(0, 4, (64,))
            model = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 4))
            optimizer = gradd.optim.SGD(model.parameters(), lr=0.1)
            for step in range(steps):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
                if step % 10 == 9:
                    loss.item()
    finally:
        placement.submit = submit  # type: ignore[method-assign]
    gradd.delete_session(_NAME, "local:")
    return [f for f in sent if isinstance(frames.decode_request(f)[0], (m.Attach, m.Batch))]


def seconds(hosted: Hosted, some: Sequence[bytes]) -> float:
    """CPU seconds of a few frames."""
    began = time.thread_time()
    for frame in some:
        hosted.answer(memoryview(frame))
    return time.thread_time() - began


def question(bench: Bench) -> list[Row]:
    """The time of a step that is recorded over that of one that is not."""
    sent = training(bench.pick(8000, 2000, 20))
    ratios, steps = [], []
    with tempfile.TemporaryDirectory(prefix="gradd-journal-") as folder:
        path = Path(folder, "record.db")
        make_record(path)
        plain = Hosted(_NAME, {"epoch": epoch(sent)}, NUMPY)
        kept = Hosted(_NAME, {"epoch": epoch(sent), "store": str(path), "durability": "process"}, NUMPY)
        while not kept.wake():
            """There is nothing to replay."""
        warm = min(len(sent) // 4, 5 * _BLOCK)
        for hosted in (plain, kept):
            seconds(hosted, sent[:warm])
        for n, begin in enumerate(range(warm, len(sent), _BLOCK)):
            some = sent[begin : begin + _BLOCK]
            if n % 2:
                without = seconds(plain, some)
                took = seconds(kept, some)
            else:
                took = seconds(kept, some)
                without = seconds(plain, some)
            ratios.append(took / without)
            steps.append((1e6 * without / len(some), 1e6 * took / len(some)))
        assert kept.session is not None
        assert plain.session is not None
        if kept.session.counts["batches"] != plain.session.counts["batches"]:
            raise SystemExit("the sessions did not do the same")
        kept.close()
    value, low, high = spread(ratios)
    mine, peer = (spread([pair[side] for pair in steps])[0] for side in (1, 0))
    return [
        Row(
            work="planned MLP step in the engine process, level process, beside one of level memory",
            value=value, low=low, high=high, bar=BAR, mine=f"{mine:.1f} µs", peer=f"{peer:.1f} µs",
        )
    ]  # fmt: skip


def epoch(sent: Sequence[bytes]) -> int:
    """The epoch that the batches name."""
    return next(
        message.epoch
        for message in (frames.decode_request(frame)[0] for frame in sent)
        if isinstance(message, m.Batch)
    )


if __name__ == "__main__":
    main(question)
