"""Clients that train again and again while something is killed under them, and what they count."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import gradd
import numpy as np
import pytest
from gradd import nn, optim
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import InlinePlacement
from gradd_runtime.session import Session

from tests.faults.client import Client, told, train
from tests.waiting import PATIENCE

STEPS = 30
#: replies to the batches of a script, and the tensors that are there at its end
Expected = tuple[list[Any], dict[str, bytes]]


def training() -> None:
    """Dropout, Adam, fresh data, a large upload, values read, an error that is caught."""
    gradd.manual_seed(1)
    model = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 4))
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    table = gradd.tensor(np.linspace(0, 1, 300_000, dtype=np.float32).reshape(15_000, 20))
    losses = []
    for step in range(STEPS):
        x = table[64 * step % 4900 :][:64] + gradd.randn(64, 20)
        y = gradd.tensor([(step + k) % 4 for k in range(64)])
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss)
        if step % 3 == 0:
            loss.item()
        if step == STEPS // 2:
            with pytest.raises(RuntimeError):
                gradd.linalg.inv(gradd.zeros(2, 2))
    training.kept = model, optimizer, losses  # type: ignore[attr-defined]


def recorded() -> list[bytes]:
    """The batches and uploads of a training, as the SDK sends them."""
    sent: list[bytes] = []
    real = InlinePlacement._run

    def run(self: InlinePlacement, name: str, frame: Any) -> bytes:
        if name == "killed":
            sent.append(bytes(frame))
        return real(self, name, frame)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InlinePlacement, "_run", run)
        with gradd.connect("local:", session="killed"):
            training()
            kept = [f for f in sent if isinstance(frames.decode_request(f)[0], (m.Batch, m.Stage))]
            del training.kept  # type: ignore[attr-defined]
    assert len(kept) > STEPS
    return kept


def alone(script: list[bytes]) -> Expected:
    """What comes of the script where nothing disturbs it."""
    (epoch, *_) = (frames.decode_request(f)[0].epoch for f in script if _is_batch(f))  # type: ignore[union-attr]
    session = Session("undisturbed", epoch=epoch)
    session.submit(frames.join(frames.encode(m.Attach())))
    replies = [session.submit(frame) for frame in script]
    batches = [told(r) for r, f in zip(replies, script, strict=True) if _is_batch(f)]
    return batches, {name: t.array.tobytes() for name, t in session.table.ids.items()}


def _is_batch(frame: bytes) -> bool:
    return isinstance(frames.decode_request(frame)[0], m.Batch)


class Progress:
    """How many frames the clients got answers to, what was wrong with any, and whether they have to go on."""

    def __init__(self) -> None:
        self.change = threading.Condition()
        #: frames by client
        self.of: Counter[int] = Counter()
        self.frames = self.batches = self.lost = self.twice = self.differing = 0
        self.done = False
        self.failures: list[BaseException] = []

    def acknowledged(self, n: int) -> None:
        with self.change:
            self.frames += 1
            self.of[n] += 1
            self.change.notify_all()

    def trained(self, sent: int, applied: int, differing: int) -> None:
        """A training came to its end: how many batches it had sent and its session had applied."""
        with self.change:
            self.batches += sent
            self.lost += max(sent - applied, 0)
            self.twice += max(applied - sent, 0)
            self.differing += differing

    def wait_for_each(self, clients: int, more: int) -> None:
        """Wait until each client got so many more answers."""
        with self.change:
            wanted = {n: self.of[n] + more for n in range(clients)}
            assert self.change.wait_for(
                lambda: self.failures or all(self.of[n] >= count for n, count in wanted.items()), PATIENCE
            )

    def wait_for(self, frames: int) -> None:
        with self.change:
            assert self.change.wait_for(lambda: self.frames >= frames or self.failures, PATIENCE)


def train_on(
    url: str, n: int, script: list[bytes], expected: Expected, progress: Progress,
    patience: float = PATIENCE, key: str = "",
) -> None:  # fmt: skip
    """Train again and again until the kills are over, and compare each time. `patience`, `key`: see
    Client.
    """
    replies, tensors = expected
    try:
        for turn in range(10_000):
            name = f"train-{n}-{turn}"
            client = Client(url, name, patience, key)
            client.begin()
            came = [told(reply) for reply in train(client, script, lambda: progress.acknowledged(n))]
            differing = sum(one != other for one, other in zip(came, replies, strict=True))
            first = next((one for one, other in zip(came, replies, strict=True) if one != other), None)
            if first is not None:
                print(f"{name}: {str(first)[:300]}")
            differing += client.tensors() != tensors
            progress.trained(len(came), client.applied(), differing)
            client.end()
            if progress.done:
                return
    except BaseException as error:
        with progress.change:
            progress.failures.append(error)
            progress.change.notify_all()
