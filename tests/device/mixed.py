"""Trainings in mixed precision, the same by gradd and by PyTorch: nothing in them is drawn.

``python -m tests.device.mixed`` prints their losses on the stand-in, in a CPU session and by PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Model = Callable[[Any], tuple[list[Any], Callable[[], Any], Any]]
WORDS, LENGTH, WIDTH, HEADS = 17, 8, 32, 4


def _filled(T: Any, parameters: list[Any], scale: float = 1.0) -> list[Any]:
    """Matrices of small numbers that are the same everywhere; vectors stay as they are made."""
    rng = np.random.default_rng(3)
    with T.no_grad():
        for p in parameters:
            if p.ndim > 1:
                values = rng.normal(size=tuple(p.shape)) * scale / np.sqrt(np.prod(p.shape[1:]))
                p.copy_(T.tensor(values.astype(np.float32)))
            else:
                p.fill_(float(p.ndim and p.reshape(-1)[0].item() == 1))
    return parameters


class _Block:
    """A block of a transformer, before the class that its modules are of is known."""

    def __init__(self, T: Any) -> None:
        nn = T.nn
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.heads, self.joined = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self._functional = nn.functional

    def parameters(self) -> list[Any]:
        """Those of all its modules."""
        modules = (self.first, self.second, self.heads, self.joined, self.wide, self.narrow)
        return [p for m in modules for p in m.parameters()]

    def __call__(self, x: Any) -> Any:
        batch, length, _ = x.shape
        found = self.heads(self.first(x)).reshape(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = found.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = self._functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.joined(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.narrow(self._functional.gelu(self.wide(self.second(x))))


def gpt(T: Any) -> tuple[list[Any], Callable[[], Any], Any]:
    """Two blocks with causal attention that learn which character comes next."""
    nn = T.nn
    table, places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
    blocks, last, head = [_Block(T) for _ in range(2)], nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)
    modules = (table, places, *blocks, last, head)
    owned = _filled(T, [p for m in modules for p in m.parameters()])
    text = T.tensor([[(i * i + 3 * row) % WORDS for i in range(LENGTH + 1)] for row in range(6)])

    def outputs() -> Any:
        x = table(text[:, :-1]) + places(T.arange(LENGTH))
        for block in blocks:
            x = block(x)
        return head(last(x))

    return owned, outputs, text[:, 1:]


def convnet(T: Any) -> tuple[list[Any], Callable[[], Any], Any]:
    """Convolutions, batch norm and pooling that tell three kinds of pictures apart."""
    nn = T.nn
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3),
    )  # fmt: skip
    owned = _filled(T, list(model.parameters()), 1.4)
    pictures = T.tensor(np.random.default_rng(4).normal(size=(9, 1, 10, 10)).astype(np.float32))
    return owned, lambda: model(pictures), T.tensor([i % 3 for i in range(9)])


MODELS: dict[str, Model] = {"gpt": gpt, "convnet": convnet}


class Training:
    """Steps of a model, with casts for a `kind` of device to a dtype; None for none."""

    def __init__(self, T: Any, name: str, kind: str, dtype: str | None) -> None:
        self.T, self.kind, self.dtype = T, kind, dtype
        self.owned, self._outputs, self._targets = MODELS[name](T)
        self.optimizer = (
            T.optim.AdamW(self.owned, lr=3e-3)
            if name == "gpt"
            else T.optim.SGD(self.owned, lr=0.05, momentum=0.9)
        )
        self.scaler = T.amp.GradScaler(kind, init_scale=256.0, enabled=dtype == "float16")
        self.seen: tuple[Any, Any] = (None, None)

    def step(self) -> Any:
        """One step; its loss."""
        T = self.T
        self.optimizer.zero_grad()
        cast = getattr(T, self.dtype or "bfloat16")
        with T.autocast(device_type=self.kind, dtype=cast, enabled=self.dtype is not None):
            found = self._outputs()
            loss = T.nn.functional.cross_entropy(
                found.reshape(-1, found.shape[-1]), self._targets.reshape(-1)
            )
        self.seen = found.dtype, loss.dtype
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        T.nn.utils.clip_grad_norm_(self.owned, 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.detach()


def curve(T: Any, name: str, kind: str, dtype: str | None, steps: int) -> list[float]:
    """The losses of so many steps where `T` computes now."""
    training = Training(T, name, kind, dtype)
    return [training.step().item() for _ in range(steps)]


def main() -> None:
    """Print losses."""
    import gradd

    from tests.oracle import module
    from tests.standin.sessions import sessions_there

    for name in MODELS:
        for dtype in (None, "bfloat16", "float16"):
            with sessions_there(), gradd.connect("local:"):
                print(name, dtype, "stand-in", np.round(curve(gradd, name, "cuda", dtype, 8), 4))
            with gradd.connect("local:"):
                print(name, dtype, "cpu     ", np.round(curve(gradd, name, "cpu", dtype, 8), 4))
            if (torch := module()) is not None:
                print(name, dtype, "torch   ", np.round(curve(torch, name, "cpu", dtype, 8), 4), flush=True)


if __name__ == "__main__":
    main()
