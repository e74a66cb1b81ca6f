"""A few training steps, for files that define a model or an optimizer and do nothing with it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any


def tensors(found: Any) -> Iterator[Any]:
    """The tensors of real numbers in nested results."""
    import torch

    if isinstance(found, torch.Tensor):
        if found.is_floating_point():
            yield found
    elif isinstance(found, dict):
        for value in found.values():
            yield from tensors(value)
    elif isinstance(found, (list, tuple)):
        for value in found:
            yield from tensors(value)


def squares(found: Any) -> Any:
    """The mean squares of all that a model returned, or the loss that it returned."""
    found = list(tensors(found))
    return found[0] if len(found) == 1 and not found[0].dim() else sum(t.pow(2).mean() for t in found)


def train(
    model: Any, *inputs: Any, steps: int = 3, loss: Callable[[Any], Any] = squares, lr: float = 1e-2
) -> None:
    """Steps of gradient descent."""
    import torch

    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(model(*inputs)).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(f"{float(loss(model(*inputs))):.6f}", sum(p.numel() for p in model.parameters()))
    names = importlib.import_module("io").BytesIO()
    torch.save(model.state_dict(), names)
    names.seek(0)
    model.load_state_dict(torch.load(names))


def optimize(
    make: Callable[[Any], Any], steps: int = 12, closure: bool = False, second: bool = False
) -> None:
    """Steps of an optimizer on a small network, its state saved and taken up again half-way."""
    import torch

    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4))
    x, y = torch.randn(32, 8), torch.randn(32, 4)
    optimizer = make(model.parameters())

    def loss() -> Any:
        optimizer.zero_grad()
        value = (model(x) - y).pow(2).mean()
        value.backward(create_graph=second)
        return value

    for step in range(steps):
        optimizer.step(loss) if closure else (loss(), optimizer.step())
        if step == steps // 2:
            optimizer.load_state_dict(optimizer.state_dict())
    print(f"{float((model(x) - y).pow(2).mean()):.6f}")
