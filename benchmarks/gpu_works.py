"""What is trained on a GPU: models, batches and optimizers, in the spelling that gradd and torch share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from . import char_gpt, convnet, mlp_adam, transformer
from .beside import codes, started
from .models import transformer as blocks
from .training import Task, data


@dataclass(frozen=True)
class GpuWork:
    """A training. `batches` gives inputs and targets of all batches, `loss` takes a library, a model and a
    batch, `graphed` has what the optimizer is told to be part of a CUDA graph. Losses are read every `every`
    steps, `steps` make a round. `near`: what the first losses of two libraries may differ by.
    """

    title: str
    model: Callable[[Any], Any]
    batches: Callable[[], tuple[Any, Any]]
    batch: int
    loss: Callable[[Any, Any, Any, Any], Any]
    optimizer: Callable[..., Any]
    graphed: dict[str, Any]
    steps: int = 20
    every: int = 10
    near: float = 1e-2


_CAPTURABLE = {"capturable": True}


def _of(title: str, task: Task, graphed: dict[str, Any], steps: int) -> GpuWork:
    """A task of the benchmarks on CPUs, with NumPy's weights."""
    return GpuWork(
        title, lambda lib: started(lib, task.model(lib)), lambda: data(task), task.batch,
        lambda lib, model, x, y: task.loss(lib, model(x), y), task.optimizer, graphed, steps,
    )  # fmt: skip


def _adamw(lib: Any, parameters: Any, lr: float, **options: Any) -> Any:
    return lib.optim.AdamW(parameters, lr=lr, **options)


def _text(symbols: int, length: int, many: int) -> tuple[Any, Any]:
    """Pieces of a text, and the same one place later."""
    text = codes(many * length + 1, symbols)
    return text[:-1].reshape(many, length), text[1:].reshape(many, length)


class Sizes(NamedTuple):
    """Of a GPT."""

    layers: int = 12
    width: int = 768
    heads: int = 12
    symbols: int = 50304
    length: int = 256
    batch: int = 8


def gpt(lib: Any, sizes: Sizes) -> Any:
    """GPT-2's, in bfloat16: learned places, scores by the weights of the embedding, which are float32."""
    nn = lib.nn

    class Gpt(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.symbol = nn.Embedding(sizes.symbols, sizes.width)
            self.place = nn.Embedding(sizes.length, sizes.width)
            self.blocks = blocks(lib, sizes.width, sizes.heads, sizes.layers)
            self.norm = nn.LayerNorm(sizes.width)
            self.scores = nn.Linear(sizes.width, sizes.symbols, bias=False)
            self.scores.weight = self.symbol.weight

        def forward(self, x: Any) -> Any:
            seen = self.symbol(x) + self.place(lib.arange(x.shape[1]))
            return self.scores(self.norm(self.blocks(seen))).float()

    made = Gpt()
    with lib.no_grad():
        for p in made.parameters():
            if p.dim() > 1:
                p.normal_(0.0, 0.02)
    return made.to(lib.bfloat16)


def _foretold(lib: Any, model: Any, x: Any, y: Any) -> Any:
    scores = model(x)
    return lib.nn.functional.cross_entropy(scores.reshape(-1, scores.shape[-1]), y.reshape(-1))


def _gpt(title: str, sizes: Sizes, steps: int) -> GpuWork:
    """Each library draws its own weights, so losses are near one another, and no nearer."""
    return GpuWork(
        title, partial(gpt, sizes=sizes), lambda: _text(sizes.symbols, sizes.length, 16 * sizes.batch),
        sizes.batch, _foretold, partial(_adamw, lr=3e-4), _CAPTURABLE, steps, near=0.1,
    )  # fmt: skip


WORKS = {
    "mlp": _of(f"{mlp_adam.NAME}", mlp_adam.TASK, _CAPTURABLE, 100),
    "transformer": _of(
        "two transformer blocks, d=128, 4 heads, seq 64, batch 8, Adam", transformer.TASK, _CAPTURABLE, 50
    ),
    "convnet": _of("convnet 1x28x28, conv 32, conv 64, fc 128, batch 32, SGD", convnet.TASK, {}, 50),
    "char-gpt": GpuWork(
        char_gpt.NAME, lambda lib: started(lib, char_gpt.gpt(lib)),
        lambda: _text(char_gpt.SYMBOLS, char_gpt.BLOCK, 16 * char_gpt.BATCH), char_gpt.BATCH,
        lambda lib, model, x, y: model(x, y), partial(_adamw, lr=1e-3), _CAPTURABLE, 50,
    ),
    "gpt-124m": _gpt(
        "GPT of 124 million parameters in bfloat16, 12 layers, d=768, seq 256, batch 8, AdamW", Sizes(), 10
    ),
}  # fmt: skip
#: the large one as a test can run it
TINY = _gpt("a tiny GPT in bfloat16", Sizes(2, 16, 2, 40, 8, 2), 4)
