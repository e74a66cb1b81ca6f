"""Pruning: masks, hooks, shares and messages, on PyTorch and on gradd."""

from __future__ import annotations

import importlib
from typing import Any

import pytest


def prune_of(T: Any) -> Any:
    return importlib.import_module(f"{T.__name__}.nn.utils.prune")


def layer(T: Any) -> Any:
    made = T.nn.Linear(3, 2)
    made.load_state_dict(
        {"weight": T.tensor([[1.0, -5.0, 3.0], [-2.0, 6.0, 4.0]]), "bias": T.tensor([7.0, -8.0])}
    )
    return made


# call -> the mask of the weight
MASKS = {
    "identity(m, 'weight')": [[1, 1, 1], [1, 1, 1]],
    "l1_unstructured(m, 'weight', 2)": [[0, 1, 1], [0, 1, 1]],
    "l1_unstructured(m, 'weight', 0.5)": [[0, 1, 0], [0, 1, 1]],
    "l1_unstructured(m, 'weight', 0)": [[1, 1, 1], [1, 1, 1]],
    "l1_unstructured(m, 'weight', 1, importance_scores=1 / m.weight)": [[1, 1, 1], [1, 0, 1]],
    "ln_structured(m, 'weight', 1, 1, 0)": [[0, 0, 0], [1, 1, 1]],
    "ln_structured(m, 'weight', 0.34, 2, -1)": [[0, 1, 1], [0, 1, 1]],
    "ln_structured(m, 'weight', 1, float('inf'), 1)": [[0, 1, 1], [0, 1, 1]],
    "custom_from_mask(m, 'weight', T.tensor([[1, 0, 1], [0, 1, 0]]))": [[1, 0, 1], [0, 1, 0]],
    "custom_from_mask(m, 'weight', T.eye(2, 3).bool())": [[1, 0, 0], [0, 1, 0]],
    "l1_unstructured(p.l1_unstructured(m, 'weight', 2), 'weight', 0.5)": [[0, 1, 0], [0, 1, 0]],
    "ln_structured(p.l1_unstructured(m, 'weight', 2), 'weight', 1, 1, 0)": [[0, 0, 0], [0, 1, 1]],
    "custom_from_mask(p.l1_unstructured(m, 'weight', 2), 'weight', T.eye(2, 3))": [[0, 0, 0], [0, 1, 0]],
}


@pytest.mark.parametrize("call", MASKS)
def test_masks(T: Any, call: str) -> None:
    p, m = prune_of(T), layer(T)
    original = m.weight
    assert eval(f"p.{call}", {"T": T, "p": p, "m": m}) is m
    assert m.weight_mask.tolist() == MASKS[call]
    assert m.weight_orig is original
    assert m.weight.tolist() == (original * T.tensor(MASKS[call])).tolist()
    assert list(m.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    m(T.ones(1, 3)).sum().backward()
    assert original.grad.tolist() == MASKS[call]
    assert p.is_pruned(m)
    assert p.remove(m, "weight") is m
    assert m.weight is original
    assert [name for name, _ in m.named_parameters()] == ["bias", "weight"]
    assert (m.weight != 0).tolist() == [[bool(v) for v in row] for row in MASKS[call]]
    assert not p.is_pruned(m)


def test_random_methods_prune_as_many(T: Any) -> None:
    p = prune_of(T)
    m = p.random_unstructured(T.nn.Linear(10, 10), "weight", 0.3)
    assert m.weight_mask.sum().item() == 70
    p.random_unstructured(m, "weight", 0.5)
    assert m.weight_mask.sum().item() == 35
    assert m.weight.count_nonzero().item() == 35
    structured = p.random_structured(T.nn.Linear(10, 4), "weight", 3, 1)
    assert sorted(structured.weight_mask.sum(0).tolist()) == [0.0] * 3 + [4.0] * 7
    assert [type(h).__name__ for h in m._forward_pre_hooks.values()] == ["PruningContainer"]
    assert len(next(iter(m._forward_pre_hooks.values()))) == 2


def test_global_pruning(T: Any) -> None:
    p = prune_of(T)
    a, b = layer(T), layer(T)
    pairs = [(a, "weight"), (b, "bias")]
    p.global_unstructured(pairs, pruning_method=p.L1Unstructured, amount=3)
    assert a.weight_mask.tolist() == [[0, 1, 0], [0, 1, 1]]
    assert b.bias_mask.tolist() == [1, 1]
    p.global_unstructured(pairs, p.L1Unstructured, {(b, "bias"): T.tensor([0.0, 1.0])}, amount=0.4)
    assert a.weight_mask.tolist() == [[0, 1, 0], [0, 1, 1]]
    assert b.bias_mask.tolist() == [0, 0]


def test_methods_of_ones_own(T: Any) -> None:
    p = prune_of(T)

    class EverySecond(p.BasePruningMethod):  # type: ignore[misc,name-defined]
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t: Any, default_mask: Any) -> Any:
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    m = layer(T)
    assert isinstance(EverySecond.apply(m, "weight"), EverySecond)
    assert m.weight_mask.tolist() == [[0, 1, 0], [1, 0, 1]]
    EverySecond.apply(m, "weight")
    assert m.weight_mask.tolist() == [[0, 0, 0], [1, 0, 0]]
    assert EverySecond().prune(T.ones(4)).tolist() == [0, 1, 0, 1]
    assert p.L1Unstructured(1).prune(T.tensor([2.0, -1.0])).tolist() == [2, 0]
    with pytest.raises(TypeError, match="abstract class"):
        p.BasePruningMethod()


def test_a_pruned_model_trains_and_loads(T: Any) -> None:
    p, m = prune_of(T), layer(T)
    p.l1_unstructured(m, "weight", 4)
    opt = T.optim.SGD(m.parameters(), lr=0.1)
    for _ in range(2):
        opt.zero_grad()
        m(T.ones(1, 3)).sum().backward()
        opt.step()
    m(T.ones(1, 3))
    assert (m.weight != 0).tolist() == [[False, True, False], [False, True, False]]
    other = p.identity(layer(T), "weight")
    other.load_state_dict(m.state_dict())
    assert other(T.ones(1, 3)).tolist() == m(T.ones(1, 3)).tolist()


REFUSED = {
    "l1_unstructured(m, 'weight', 'x')": "Invalid type for amount: x. Must be int or float.",
    "l1_unstructured(m, 'weight', 1.5)": (
        "amount=1.5 should either be a float in the range [0, 1] or a non-negative integer"
    ),
    "l1_unstructured(m, 'weight', -1)": (
        "amount=-1 should either be a float in the range [0, 1] or a non-negative integer"
    ),
    "l1_unstructured(m, 'weight', 7)": (
        "amount=7 should be smaller than the number of parameters to prune=6"
    ),
    "ln_structured(m, 'bias', 1, 1, 0)": (
        "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
        "torch.Size([2]) with 1 dims"
    ),
    "ln_structured(m, 'weight', 1, 1, 2)": "Invalid index 2 for tensor of size torch.Size([2, 3])",
    "custom_from_mask(m, 'weight', T.ones(2))": (
        "default_mask shape torch.Size([2, 3]) must match self.mask shape torch.Size([2])"
    ),
    "remove(m, 'weight')": (
        "Parameter 'weight' of module Linear(in_features=3, out_features=2, bias=True) has to be pruned "
        "before pruning can be removed"
    ),
    "global_unstructured(3, p.L1Unstructured)": "global_unstructured(): parameters is not an Iterable",
    "global_unstructured([], p.L1Unstructured, [])": (
        "global_unstructured(): importance_scores must be of type dict"
    ),
    "PruningContainer().add_pruning_method(3)": "<class 'int'> is not a BasePruningMethod subclass",
}


@pytest.mark.parametrize("call", REFUSED)
def test_what_cannot_be_pruned_is_said(T: Any, call: str) -> None:
    p, m = prune_of(T), layer(T)
    with pytest.raises((TypeError, ValueError, IndexError, AssertionError)) as raised:
        eval(f"p.{call}", {"T": T, "p": p, "m": m})
    assert str(raised.value) == REFUSED[call]
    assert sorted(m.state_dict()) == ["bias", "weight"]
