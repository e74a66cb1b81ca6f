"""ResNet-18, a GPT-2 and an LSTM, written for PyTorch, train in a session as they do there."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gradd
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from tests.client.torch_models import GPT2, ConvNet, ResNet18, Words  # noqa: E402

pytestmark = pytest.mark.oracle


def close(here: Any, there: Any) -> None:
    """Asserts that PyTorch's tensors are equal to 1e-5 of the largest element or of 1, to 1e-8 in double
    precision.
    """
    one, other = here.detach(), there.detach()
    assert one.dtype == other.dtype
    scale = max(1.0, float(other.abs().max())) * (1e-8 if one.dtype is torch.float64 else 1e-5)
    np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=0, atol=scale)


def ids(*size: int) -> Any:
    return torch.randint(1, 11, size)


#: a model, a batch for it, and its loss. The deep net is in double precision: a rounding may switch a relu,
#: which changes gradients by more than a rounding.
MODELS: dict[str, tuple[Callable[[], Any], Callable[[], tuple[Any, ...]], Callable[[Any], Any]]] = {
    "convolutions": (ConvNet, lambda: (torch.randn(4, 3, 8, 8),), lambda out: out.square().mean()),
    "resnet18": (
        lambda: ResNet18(4).double(),
        lambda: (torch.randn(4, 3, 32, 32, dtype=torch.float64),),
        lambda out: out.square().mean(),
    ),
    "gpt2": (GPT2, lambda: (ids(2, 7), ids(2, 7)), lambda out: out["loss"]),
    "lstm": (Words, lambda: (ids(3, 5),), lambda out: out[0].square().mean() + out[1][1].mean()),
}


@pytest.mark.parametrize("where", ["local:", "daemon"])
@pytest.mark.parametrize("name", MODELS)
def test_five_steps_of_training_are_as_in_torch(
    name: str, where: str, request: pytest.FixtureRequest
) -> None:
    make, batch, loss = MODELS[name]
    torch.manual_seed(0)
    model = make()
    twin = copy.deepcopy(model)
    with gradd.connect(request.getfixturevalue("daemon") if where == "daemon" else where):
        offloaded = gradd.offload(model, batch())
        here, there = (torch.optim.SGD(m.parameters(), 0.05, momentum=0.9) for m in (model, twin))
        for _ in range(5):
            given = batch()
            for m, optimizer in ((offloaded, here), (twin, there)):
                optimizer.zero_grad()
                loss(m(*given)).backward()
                optimizer.step()
            for p, q in zip(model.parameters(), twin.parameters(), strict=True):
                close(p.grad, q.grad)
        close(loss(offloaded(*given)), loss(twin(*given)))
    assert list(model.state_dict()) == list(twin.state_dict())
    for p, q in zip(model.state_dict().values(), twin.state_dict().values(), strict=True):
        close(p, q)


def test_outputs_of_a_deep_net_in_single_precision() -> None:
    torch.manual_seed(0)
    model, x = ResNet18(4), torch.randn(4, 3, 64, 64)
    twin = copy.deepcopy(model)
    with gradd.connect("local:"):
        offloaded = gradd.offload(model, x)
        close(offloaded(x), twin(x))
        offloaded.eval()
        close(offloaded(x), twin.eval()(x))
