"""Views, in-place changes through them, and what they do to histories; the oracle judges values and names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd_engine.backward.backward_op  # noqa: F401 - attaches Tensor.backward
import numpy as np
import pytest
from gradd_engine.graph.modes import no_grad
from gradd_engine.ops.shared import constants as create
from gradd_engine.schema.registry import REGISTRY

from tests.oracle import ITSELF, module


class _Engine:
    no_grad = no_grad
    tensor = staticmethod(create.tensor)

    @staticmethod
    def values(t: Any) -> Any:
        return t.array.tolist()


class _Torch:
    def __init__(self, torch: Any) -> None:
        self.no_grad = torch.no_grad
        self.tensor = torch.tensor

    @staticmethod
    def values(t: Any) -> Any:
        return t.tolist()


@pytest.fixture(params=[*ITSELF, "engine"])
def E(request: pytest.FixtureRequest) -> Any:
    if request.param == "engine":
        return _Engine
    return _Torch(module())


def _write_view(x: Any, E: Any) -> Any:
    y = x * 2.0
    y.view(4).mul_(3.0)
    return y


def _write_part(x: Any, E: Any) -> Any:
    y = x * 2.0
    y.t()[0:1].mul_(x[0:1])
    return y


def _write_base(x: Any, E: Any) -> Any:
    y = x * 2.0
    v = y.view(4)
    y.mul_(x)
    return v * 1.0


def _write_twice(x: Any, E: Any) -> Any:
    y = x * 1.0
    y[0].mul_(2.0)
    y[:, 1].exp_()
    return y


def _copy_into(x: Any, E: Any) -> Any:
    y = E.tensor([[0.0, 0.0], [0.0, 0.0]])
    y[1].copy_(x[0])
    y[0] = x[1] * 2.0
    return y


def _fill_part(x: Any, E: Any) -> Any:
    y = x * 3.0
    y[0, 1] = 7.0
    return y * y


CASES: list[Callable[..., Any]] = [
    _write_view,
    _write_part,
    _write_base,
    _write_twice,
    _copy_into,
    _fill_part,
]
GRADIENTS = {
    _write_view: ([[6.0, 12.0], [18.0, 24.0]], [[6.0, 6.0], [6.0, 6.0]]),
    _copy_into: ([[6.0, 8.0], [1.0, 2.0]], [[1.0, 1.0], [2.0, 2.0]]),
    _fill_part: ([[9.0, 49.0], [81.0, 144.0]], [[18.0, 0.0], [54.0, 72.0]]),
}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_gradients_through_written_views(E: Any, case: Callable[..., Any]) -> None:
    x = E.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = case(x, E)
    y.sum().backward()
    if case in GRADIENTS:
        value, gradient = GRADIENTS[case]
        assert E.values(y.detach()) == value
        assert E.values(x.grad) == gradient


@pytest.mark.oracle
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_values_gradients_and_names_are_the_oracles(torch: Any, case: Callable[..., Any]) -> None:
    found = []
    for E in (_Torch(torch), _Engine):
        x = E.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        y = case(x, E)
        (y * y).sum().backward()
        found.append((np.array(E.values(y.detach())), np.array(E.values(x.grad)), y.grad_fn.name()))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-6)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6)
    assert found[0][2] == found[1][2]


def test_an_older_view_gets_a_new_history(E: Any) -> None:
    x = E.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1.0
    v = y.view(2)
    assert v.grad_fn.name() == "ViewBackward0"
    y.mul_(2.0)
    assert v.grad_fn.name() == "AsStridedBackward0"


def test_a_view_of_what_was_detached_says_that_its_history_is_lost() -> None:
    x = create.tensor([1.0, 2.0], requires_grad=True)
    base = REGISTRY["complex"].call(x, x)
    view = REGISTRY["view_as_real"].call(base)
    base.detach_()
    with no_grad():
        base.mul_(2.0)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="A view has lost its history"):
            view.sum()


def test_views_share_version_counters(E: Any) -> None:
    x = E.tensor([1.0, 2.0])
    v, d, c = x.view(2), x.detach(), x.clone()
    v.add_(1.0)
    assert (x._version, d._version, c._version) == (1, 1, 0)
    assert E.values(x) == [2.0, 3.0]


def test_an_expanded_tensor_is_not_written(E: Any) -> None:
    x = E.tensor([1.0]).expand(3)
    with pytest.raises(
        RuntimeError, match="unsupported operation: more than one element of the written-to tensor"
    ):
        x.add_(1.0)
