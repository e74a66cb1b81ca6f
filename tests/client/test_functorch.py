"""functorch, whose functions became torch.func, on PyTorch and on gradd."""

from __future__ import annotations

import importlib
from typing import Any

import gradd
import pytest


@pytest.fixture
def functorch(T: Any) -> Any:
    """The module."""
    return gradd.functorch if T is gradd else importlib.import_module("functorch")


def layer(T: Any) -> Any:
    made = T.nn.Linear(2, 1)
    made.load_state_dict({"weight": T.tensor([[2.0, 3.0]]), "bias": T.tensor([1.0])})
    return made


@pytest.mark.filterwarnings("ignore:We've integrated functorch:FutureWarning")
def test_modules_as_functions(T: Any, functorch: Any) -> None:
    model = layer(T)
    function, params = functorch.make_functional(model)
    assert [p.tolist() for p in params] == [[[2.0, 3.0]], [1.0]]
    x = T.ones(1, 2)
    assert function(params, x).tolist() == [[6.0]]
    assert function([params[0] * 2, params[1]], input=x).tolist() == [[11.0]]
    found = functorch.grad(lambda p: function(p, x).sum())(params)
    assert [g.tolist() for g in found] == [[[1.0, 1.0]], [1.0]]
    _, values = functorch.make_functional(model, disable_autograd_tracking=True)
    assert not any(v.requires_grad for v in values)
    norm = T.nn.BatchNorm1d(2).eval()
    function, params, buffers = functorch.make_functional_with_buffers(norm)
    assert len(params) == 2
    assert len(buffers) == 3
    assert function(params, (buffers[0] + 1, *buffers[1:]), x).tolist() == [[0.0, 0.0]]
    with pytest.raises(RuntimeError, match=r"`model` has buffers. Please use make_functional_with_buffers"):
        functorch.make_functional(norm)


@pytest.mark.filterwarnings("ignore:We've integrated functorch:FutureWarning")
def test_ensembles(T: Any, functorch: Any) -> None:
    function, params, buffers = functorch.combine_state_for_ensemble([layer(T), layer(T)])
    assert [p.shape for p in params] == [(2, 1, 2), (2, 1)]
    assert functorch.vmap(function, (0, 0, None))(params, buffers, T.ones(1, 2)).tolist() == [[[6.0]]] * 2
    with pytest.raises(RuntimeError, match="Expected at least one model, got 0"):
        functorch.combine_state_for_ensemble([])
    with pytest.raises(RuntimeError, match="Expected all models to be of the same class"):
        functorch.combine_state_for_ensemble([layer(T), T.nn.ReLU()])
    with pytest.raises(RuntimeError, match="Expected all models to have the same training/eval mode"):
        functorch.combine_state_for_ensemble([layer(T), layer(T).eval()])


def test_it_says_what_to_use(T: Any, functorch: Any) -> None:
    with pytest.warns(FutureWarning, match=r"`functorch.vmap` is deprecated .* use `torch.vmap` instead"):
        functorch.vmap(T.sin)(T.zeros(2))
    with pytest.warns(FutureWarning, match=r"`functorch.make_functional` .* `torch.func.functional_call`"):
        functorch.make_functional(T.nn.ReLU())
