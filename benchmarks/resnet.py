"""ResNet-18 on 32x32 pictures: what does a training step cost beside torch's?"""

from __future__ import annotations

from typing import Any

import numpy as np

from .bench import Bench, Row, main
from .beside import Chance, Step, row, started

BATCH = 4


def resnet18(lib: Any) -> Any:
    """Four stages of two residual blocks, 64 to 512 channels, and a first convolution for small pictures."""
    nn, functional = lib.nn, lib.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, before: int, after: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
            self.norm1 = nn.BatchNorm2d(after)
            self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
            self.norm2 = nn.BatchNorm2d(after)
            self.shortcut = nn.Sequential()
            if before != after or stride != 1:
                reduced = nn.Conv2d(before, after, 1, stride, bias=False)
                self.shortcut = nn.Sequential(reduced, nn.BatchNorm2d(after))

        def forward(self, x: Any) -> Any:
            out = functional.relu(self.norm1(self.conv1(x)))
            out = self.norm2(self.conv2(out))
            out += self.shortcut(x)
            return functional.relu(out)

    blocks = []
    for before, after in ((64, 64), (64, 128), (128, 256), (256, 512)):
        blocks += [Block(before, after, after // before), Block(after, after, 1)]
    return nn.Sequential(
        nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), *blocks,
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip


def make(lib: Any, chance: Chance) -> Step:
    """SGD with momentum and weight decay."""
    model = started(lib, resnet18(lib))
    optimizer = lib.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, weight_decay=5e-4)
    rng = np.random.default_rng(3)
    many = 16 * BATCH
    x_all = lib.from_numpy(rng.standard_normal((many, 3, 32, 32), dtype=np.float32))
    y_all = lib.from_numpy(rng.integers(0, 10, many))
    begins = 0

    def step() -> tuple[Any, ...]:
        nonlocal begins
        rows = slice(begins, begins + BATCH)
        begins = (begins + BATCH) % many
        optimizer.zero_grad()
        loss = lib.nn.functional.cross_entropy(model(x_all[rows]), y_all[rows])
        loss.backward()
        optimizer.step()
        return (loss,)

    return step


def question(bench: Bench) -> list[Row]:
    """Loss every 10."""
    work = f"ResNet-18 on 3x32x32, batch {BATCH}, SGD with momentum, loss every 10"
    return [row(bench, work, make, 1.05, rounds=4)]


if __name__ == "__main__":
    main(question)
