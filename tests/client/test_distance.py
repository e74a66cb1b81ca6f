"""How many round trips what a script does takes: each is what a daemon far away costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradd
import numpy as np
import pytest

from tests.client.trips import Clock

F = gradd.nn.functional
LARGE = (1 << 10, 128)  # 512 KiB: sent ahead of its batch


def model() -> Any:
    return gradd.nn.Sequential(gradd.nn.Linear(8, 16), gradd.nn.ReLU(), gradd.nn.Linear(16, 4))


class Script:
    """What a script has when it does what is counted, all of it sent and answered."""

    def __init__(self, session: gradd.Session, folder: Path) -> None:
        gradd.manual_seed(0)
        self.session = session
        self.folder = folder
        self.model = model()
        self.x, self.y = gradd.randn(64, 8), gradd.randint(0, 4, (64,))
        self.optimizer = gradd.optim.SGD(self.model.parameters(), lr=0.1)
        self.loss = self.step()
        self.many = [self.x[n].sum() for n in range(5)]
        gradd.save(self.model.state_dict(), folder / "model.safetensors")
        self.session.flush()

    def step(self) -> Any:
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(self.x), self.y)
        loss.backward()
        self.optimizer.step()
        return loss

    def train(self, read_every: int) -> None:
        for n in range(10):
            loss = self.step()
            if (n + 1) % read_every == 0:
                loss.item()

    def evaluate(self) -> None:
        with gradd.no_grad():
            (self.model(self.x).argmax(1) == self.y).float().mean().item()

    def loader(self) -> None:
        data = gradd.utils.data.TensorDataset(self.x, self.y)
        assert len(data) == 64
        for x, y in gradd.utils.data.DataLoader(data, batch_size=16, shuffle=True):
            F.cross_entropy(self.model(x), y)

    def numbers_of_a_passed_loop(self) -> None:
        losses = [self.step() for _ in range(5)]
        for loss in losses:
            loss.item()

    def rows(self) -> Any:
        text = gradd.arange(1000)
        starts = gradd.randint(1000 - 8, (16,))
        return gradd.stack([text[i : i + 8] for i in starts])

    def language(self) -> None:
        for _ in range(4):
            self.rows().float().mean().item()

    def uploads(self) -> None:
        each = [gradd.from_numpy(np.ones(LARGE, np.float32)) for _ in range(4)]
        sum(t.sum() for t in each).item()


TRIPS: dict[str, tuple[int, Callable[[Script], Any]]] = {
    "make a model": (0, lambda s: model()),
    "make an optimizer": (0, lambda s: gradd.optim.Adam(s.model.parameters())),
    "a step": (0, Script.step),
    "zero_grad": (0, lambda s: s.optimizer.zero_grad()),
    "clip_grad_norm_": (0, lambda s: gradd.nn.utils.clip_grad_norm_(s.model.parameters(), 1.0)),
    "manual_seed": (0, lambda s: gradd.manual_seed(1)),
    "train, read no loss": (0, lambda s: s.train(100)),
    "item()": (1, lambda s: s.loss.item()),
    "tolist()": (1, lambda s: s.x.tolist()),
    "an op and its value": (1, lambda s: (s.x + 1).sum().item()),
    "numpy() of 512 KiB": (2, lambda s: gradd.ones(LARGE).numpy()),
    "print a tensor": (1, lambda s: str(s.x)),
    "print a model": (0, lambda s: str(s.model)),
    "state_dict": (0, lambda s: s.model.state_dict()),
    "save a model": (1, lambda s: gradd.save(s.model.state_dict(), s.folder / "again.safetensors")),
    "load a model": (0, lambda s: s.model.load_state_dict(gradd.load(s.folder / "model.safetensors"))),
    "upload a small array": (0, lambda s: gradd.from_numpy(np.ones(8, np.float32))),
    "upload 512 KiB": (0, lambda s: gradd.from_numpy(np.ones(LARGE, np.float32))),
    "upload 4 times 512 KiB and read a value": (2, Script.uploads),
    "a loader over tensors": (0, Script.loader),
    "evaluate without gradients": (1, Script.evaluate),
    "five losses, each read after the last": (2, Script.numbers_of_a_passed_loop),
    "five numbers, read in a row": (0, lambda s: [t.item() for t in s.many]),
    "ten steps, each loss read": (10, lambda s: s.train(1)),
    "ten steps, every fifth loss read": (2, lambda s: s.train(5)),
    "rows cut out of a text at random places": (0, Script.rows),
    "four batches of indexed text": (4, Script.language),
    "flush": (0, lambda s: s.session.flush()),
    "close": (1, lambda s: s.session.close()),
}


@pytest.fixture
def clock() -> Iterator[Clock]:
    with Clock().counting() as counting:
        yield counting


@pytest.mark.parametrize("action", TRIPS)
def test_round_trips(daemon: str, clock: Clock, tmp_path: Path, action: str) -> None:
    most, act = TRIPS[action]
    with gradd.connect(daemon) as session:
        script = Script(session, tmp_path)
        before = clock.now
        act(script)
        assert clock.now - before == most


def test_to_connect(daemon: str, clock: Clock) -> None:
    """A connection, and the stream's handshake, which brings that this client is a writer."""
    with gradd.connect(daemon):
        assert clock.now == 2
