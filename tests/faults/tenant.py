"""An honest tenant: `python -m tests.faults.tenant URL SECONDS`; `GRADD_API_KEY` says who it is.

It trains and adds. At each line that it reads, it does so for SECONDS, and says in JSON how long each took
(seconds of every `a + b` and of every training step) and what the model is by then.
"""

from __future__ import annotations

import hashlib
import json
import sys
from time import perf_counter

import gradd as torch
from gradd import nn


class Honest:
    """A model that is trained in the current session, always alike."""

    def __init__(self) -> None:
        torch.manual_seed(3)
        self._model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=0.01)
        self._x, self._y = torch.randn(32, 64), torch.randint(8, (32,))
        self._a, self._b = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0])
        self.steps = 0

    def step(self) -> None:
        """One step, and its loss."""
        self._optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self._model(self._x), self._y)
        loss.backward()
        self._optimizer.step()
        loss.item()
        self.steps += 1

    def add(self) -> None:
        """A small question."""
        assert (self._a + self._b).numpy().tolist() == [2.0, 3.0]

    def digest(self) -> str:
        """Of the parameters."""
        octets = [p.detach().numpy().tobytes() for p in self._model.parameters()]
        return hashlib.sha256(b"".join(octets)).hexdigest()


def undisturbed(steps: int) -> str:
    """What the model is after so many steps."""
    with torch.connect("local:"):
        honest = Honest()
        for _ in range(steps):
            honest.step()
        return honest.digest()


def main(url: str, seconds: float) -> None:
    """Obey what comes over the standard input."""
    with torch.connect(url):
        honest = Honest()
        for _ in range(20):
            honest.step()
            honest.add()
        print("ready", flush=True)
        for _ in sys.stdin:
            adds, steps = [], []
            end = perf_counter() + seconds
            while (began := perf_counter()) < end or not adds:
                honest.add()
                then = perf_counter()
                honest.step()
                adds.append(then - began)
                steps.append(perf_counter() - then)
            said = {"add": adds, "step": steps, "steps": honest.steps, "digest": honest.digest()}
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
