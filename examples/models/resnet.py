"""ResNet-18 on pictures of CIFAR's form: each class is a pattern of its own, shifted and with noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from beside import main, started, tensor

CLASSES, SIDE, BATCH = 10, 32, 32


def pictures(count: int, seed: int) -> tuple[Any, Any]:
    """Pictures of 3 channels, and the class of each."""
    patterns = np.random.default_rng(7).normal(size=(CLASSES, 3, SIDE, SIDE))
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, CLASSES, count)
    shifted = [
        np.roll(patterns[k], chance.integers(-2, 3, 2), (1, 2)) + chance.normal(0, 0.5, (3, SIDE, SIDE))
        for k in labels
    ]
    return np.stack(shifted), labels


def resnet18(torch: Any, width: int) -> Any:
    """Four stages of two residual blocks; as for CIFAR, the first convolution is 3 x 3."""
    nn = torch.nn

    def convolution(before: int, after: int, size: int, stride: int) -> list[Any]:
        layer = nn.Conv2d(before, after, size, stride, padding=size // 2, bias=False)
        return [layer, nn.BatchNorm2d(after)]

    class Block(nn.Module):
        def __init__(self, before: int, after: int, stride: int) -> None:
            super().__init__()
            self.path = nn.Sequential(
                *convolution(before, after, 3, stride),
                nn.ReLU(inplace=True),
                *convolution(after, after, 3, 1),
            )
            same = before == after and stride == 1
            self.shortcut = nn.Identity() if same else nn.Sequential(*convolution(before, after, 1, stride))

        def forward(self, x: Any) -> Any:
            return torch.relu(self.path(x) + self.shortcut(x))

    stages = []
    for before, after, stride in ((1, 1, 1), (1, 2, 2), (2, 4, 2), (4, 8, 2)):
        stages += [Block(before * width, after * width, stride), Block(after * width, after * width, 1)]
    model = nn.Sequential(
        *convolution(3, width, 3, 1),
        nn.ReLU(inplace=True),
        *stages,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8 * width, CLASSES),
    )
    return started(torch, model)


def run(torch: Any, steps: int = 4, width: int = 4, batch: int = 8) -> list[float]:
    """The losses of `steps` steps, and the share of new pictures that it then tells right."""
    model = resnet18(torch, width)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    data = torch.utils.data.TensorDataset(*(tensor(torch, part) for part in pictures(steps * batch, 1)))
    losses = []
    for images, labels in torch.utils.data.DataLoader(data, batch):
        loss = torch.nn.functional.cross_entropy(model(images), labels, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.detach())
    model.eval()
    images, labels = (tensor(torch, part) for part in pictures(batch, 2))
    with torch.no_grad():
        right = (model(images).argmax(1) == labels).float().mean()
    return [*torch.stack(losses).tolist(), right.item()]


if __name__ == "__main__":
    main(lambda torch, steps: run(torch, steps, width=16, batch=BATCH), steps=60)
