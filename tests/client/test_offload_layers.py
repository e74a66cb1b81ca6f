"""Small models of many kinds of layers and operators, written for PyTorch, give the same in a session."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = pytest.mark.oracle

nn, F = torch.nn, torch.nn.functional
D = torch.float64


@pytest.fixture(autouse=True)
def session() -> Iterator[gradd.Session]:
    torch.manual_seed(0)
    with gradd.connect("local:") as found:
        yield found


class Own(nn.Module):
    """A model whose forward is `function(layers, *inputs)`."""

    def __init__(self, function: Callable[..., Any], *layers: Any) -> None:
        super().__init__()
        self.layers, self.function = nn.ModuleList(layers), function

    def forward(self, *inputs: Any) -> Any:
        return self.function(self.layers, *inputs)


def x(*size: int) -> Any:
    return torch.randn(*size, dtype=D)


def upsampled(m: Any, image: Any) -> Any:
    first = m[0](image)
    below = m[1](F.max_pool2d(first, 2))
    above = F.interpolate(below, scale_factor=2, mode="bilinear", align_corners=False)
    return m[2](torch.cat([above, first], 1))


def propagated(m: Any, nodes: Any, edges: Any) -> Any:
    messages = m[0](nodes)[edges[0]]
    return torch.zeros(4, 5, dtype=D).index_add(0, edges[1], messages).relu()


def rotated(m: Any, given: Any) -> Any:
    turns = torch.polar(torch.ones(2, dtype=D), torch.arange(2, dtype=D))
    pairs = torch.view_as_complex(m[0](given).reshape(2, 2, 2))
    return torch.view_as_real(pairs * turns).flatten(1)


def losses(m: Any, given: Any, target: Any, classes: Any) -> Any:
    out = m[0](given)
    return (
        F.binary_cross_entropy_with_logits(out, target)
        + F.huber_loss(out, target, reduction="sum")
        + F.kl_div(out.log_softmax(-1), target, reduction="batchmean")
        + F.cross_entropy(out, classes, ignore_index=0, label_smoothing=0.1)
    )


def written(m: Any, given: Any) -> Any:
    out = m[0](given).clone()
    out[:, 1:3] *= 2
    out[0].masked_fill_(given[0, :1] > 0, 3.0)
    return out.sort(-1)[0].cumsum(-1) + out.topk(2)[0].logsumexp(-1, keepdim=True)


MODELS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "a U-Net": (
        Own(
            upsampled,
            nn.Conv2d(3, 4, 3, padding=1),
            nn.Conv2d(4, 4, 3, padding=1, padding_mode="circular"),
            nn.ConvTranspose2d(8, 2, 2, 2),
        ),
        (x(2, 3, 8, 8),),
    ),
    "statistics": (
        nn.Sequential(nn.PixelShuffle(2), nn.InstanceNorm2d(2, affine=True, track_running_stats=True)),
        (x(2, 8, 3, 3),),
    ),
    "parametrizations": (
        nn.Sequential(
            nn.utils.parametrizations.spectral_norm(nn.Linear(4, 5)),
            nn.utils.parametrizations.weight_norm(nn.Linear(5, 2)),
        ),
        (x(3, 4),),
    ),
    "a transformer": (nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True), (x(2, 4, 8), x(2, 3, 8))),
    "a graph": (Own(propagated, nn.Linear(3, 5)), (x(4, 3), torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]))),
    "complex numbers": (Own(rotated, nn.Linear(3, 4)), (x(2, 3),)),
    "a spectrum": (
        Own(lambda m, given: torch.fft.irfft(torch.fft.rfft(m[0](given)) * 2, n=8), nn.Linear(8, 8)),
        (x(2, 8),),
    ),
    "losses": (
        Own(losses, nn.Linear(3, 5)),
        (x(2, 3), torch.rand(2, 5, dtype=D), torch.tensor([3, 0])),
    ),
    "writes": (Own(written, nn.Linear(3, 5)), (x(2, 3),)),
    "sequences": (
        nn.Sequential(nn.Conv1d(3, 8, 3, dilation=2, padding="same"), nn.GLU(1), nn.BatchNorm1d(4)),
        (x(2, 3, 8),),
    ),
    "volumes": (nn.Sequential(nn.Conv3d(1, 2, 3), nn.MaxPool3d(2), nn.PReLU()), (x(1, 1, 6, 6, 6),)),
    "a grid": (
        Own(
            lambda m, image: F.grid_sample(image, m[0](image).permute(0, 2, 3, 1), align_corners=False),
            nn.Conv2d(3, 2, 3),
        ),
        (x(1, 3, 5, 5),),
    ),
    "two inputs": (nn.Bilinear(3, 4, 2), (x(2, 3), x(2, 4))),
}


@pytest.mark.parametrize("name", MODELS)
def test_outputs_gradients_and_buffers_are_as_in_torch(name: str) -> None:
    model, inputs = MODELS[name]
    model = model.to(D)
    twin = copy.deepcopy(model)
    offloaded = gradd.offload(model, inputs)
    outs = [m(*inputs) for m in (offloaded, twin)]
    for out in outs:
        out.square().mean().backward()
    pairs = [
        outs,
        *([p.grad, q.grad] for p, q in zip(model.parameters(), twin.parameters(), strict=True)),
        *zip(model.buffers(), twin.buffers(), strict=True),
    ]
    assert len(pairs) > 1
    for here, there in pairs:
        np.testing.assert_allclose(here.detach(), there.detach(), rtol=1e-9, atol=1e-9)
