"""Training on the stand-in, in a session of this process: what it launches with device kernels and without.

``python -m tests.cuda.training`` prints it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from unittest import mock

import gradd as torch
from gradd._transports import local
from gradd_runtime.process import placement

from tests import standin
from tests.device.runs import backend

STEPS = 5


def mlp() -> Callable[[], Any]:
    """A perceptron with dropout and layer norm, by Adam."""
    x = torch.randn(64, 8)
    y = (x[:, :1] > 0).to(torch.float32)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Dropout(0.1), nn.LayerNorm(16), nn.Linear(16, 1))
    opt = torch.optim.Adam(model.parameters(), lr=0.01)

    def step() -> Any:
        opt.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        loss.backward()
        opt.step()
        return loss

    return step


def transformer() -> Callable[[], Any]:
    """A transformer's layer between an embedding and a head, by AdamW with clipped gradients."""
    nn, index = torch.nn, torch.randint(0, 11, (2, 6))
    parts = nn.Embedding(11, 16), nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    head = nn.Linear(16, 11)
    params = [p for part in (*parts, head) for p in part.parameters()]
    opt = torch.optim.AdamW(params, lr=1e-3)

    def step() -> Any:
        opt.zero_grad()
        found = head(parts[1](parts[0](index)))
        loss = nn.functional.cross_entropy(found.reshape(-1, 11), index.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
        return loss

    return step


def images() -> Callable[[], Any]:
    """A convolution with batch norm and pooling, by RMSprop."""
    nn, x, t = torch.nn, torch.randn(4, 1, 12, 12), torch.randint(0, 3, (4,))
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(288, 3),
    )  # fmt: skip
    opt = torch.optim.RMSprop(model.parameters(), lr=0.01)

    def step() -> Any:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), t)
        loss.backward()
        opt.step()
        return loss

    return step


#: calls that the stand-in counts and a device has no kernel for
NO_KERNELS = {"empty", "empty_like"}


def train(what: Callable[[], Callable[[], Any]], kernels: str) -> tuple[float, int, int]:
    """The last loss; launches and waits of the last step. `kernels`: "1" with device kernels, "0" without."""
    with mock.patch.dict(os.environ, {"GRADD_CUDA_KERNELS": kernels}):
        cupy = backend()
        cupy.kernels.load()
    with (
        mock.patch.object(placement, "backend_of", return_value=cupy),
        # a placement of its own, with that backend
        mock.patch.object(local, "_placement", None),
        torch.connect("local:"),
    ):
        torch.manual_seed(0)
        step = what()
        for _ in range(STEPS):
            standin.reset()
            loss = step().item()
        counted = sum(n for name, n in standin.LAUNCHES.items() if name not in NO_KERNELS)
        return loss, counted, sum(standin.WAITS.values())


def main() -> None:
    """Print a line for each."""
    for what in (mlp, transformer, images):
        for kernels in ("0", "1"):
            loss, launches, waits = train(what, kernels)
            print(f"{what.__name__:12} kernels={kernels} loss {loss:.6f} launches {launches} waits {waits}")
            if os.environ.get("GRADD_VERBOSE"):
                print(dict(standin.LAUNCHES.most_common(40)), dict(standin.WAITS))


if __name__ == "__main__":
    main()
