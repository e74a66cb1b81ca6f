"""One operation on each tensor of a list (torch._foreach_add_ etc.), on PyTorch and on gradd."""

from __future__ import annotations

from typing import Any

import pytest


def lists(T: Any) -> tuple[list[Any], list[Any]]:
    """Two lists of three tensors."""
    a = [T.tensor([0.25, 0.5]), T.tensor([[0.75]]), T.tensor([0.125, 0.5, 0.875])]
    return a, [t * 2 + 1 for t in a]


def values(found: Any) -> list[list[float]]:
    """The numbers of each tensor."""
    return [[round(x, 5) for x in t.flatten().tolist()] for t in found]


@pytest.mark.parametrize("name", ["sqrt", "neg", "reciprocal", "exp", "sign", "rsqrt", "sigmoid", "log1p"])
def test_of_one_list(T: Any, name: str) -> None:
    a, _ = lists(T)
    found = getattr(T, f"_foreach_{name}")(a)
    assert isinstance(found, tuple)
    assert values(found) == values([getattr(t, name)() for t in a])
    getattr(T, f"_foreach_{name}_")(a)
    assert values(a) == values(found)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "maximum", "minimum", "pow", "clamp_min"])
def test_of_lists_and_numbers(T: Any, name: str) -> None:
    function, inplace = getattr(T, f"_foreach_{name}"), getattr(T, f"_foreach_{name}_")
    method = {"maximum": "clamp_min", "minimum": "clamp_max"}.get(name, name)
    a, b = lists(T)
    assert values(function(a, b)) == values([getattr(x, name)(y) for x, y in zip(a, b, strict=True)])
    assert values(function(a, 2.0)) == values([getattr(x, method)(2.0) for x in a])
    each = [0.5, 2.0, 3.0]
    expected = values([getattr(x, method)(n) for x, n in zip(a, each, strict=True)])
    assert values(function(a, each)) == expected
    inplace(a, each)
    assert values(a) == expected


def test_with_factors(T: Any) -> None:
    a, b = lists(T)
    assert values(T._foreach_add(a, b, alpha=2)) == values([x + 2 * y for x, y in zip(a, b, strict=True)])
    assert values(T._foreach_mul(a, T.tensor(3.0))) == values([x * 3 for x in a])
    for name in ("addcmul", "addcdiv"):
        three = list(zip(a, b, a, strict=True))
        function = getattr(T, f"_foreach_{name}")
        same = values([getattr(x, name)(y, z, value=0.5) for x, y, z in three])
        assert values(function(a, b, a, value=0.5)) == same
        own = values([getattr(x, name)(y, z, value=i + 1.0) for i, (x, y, z) in enumerate(three)])
        assert values(function(a, b, a, [1.0, 2.0, 3.0])) == own
        assert values(function(a, b, a, T.tensor([1.0, 2.0, 3.0]))) == own
    expected = values([x.lerp(y, 0.25) for x, y in zip(a, b, strict=True)])
    assert values(T._foreach_lerp(a, b, 0.25)) == values(T._foreach_lerp(a, b, [0.25] * 3)) == expected
    assert values(T._foreach_pow(2.0, a)) == values([2.0**x for x in a])


def test_the_rest(T: Any) -> None:
    a, b = lists(T)
    assert values([T.stack(T._foreach_norm(a))]) == values([T.stack([x.norm() for x in a])])
    assert values([T.stack(T._foreach_norm(a, 1))]) == values([T.stack([x.norm(1) for x in a])])
    assert [float(x) for x in T._foreach_max(a)] == [0.5, 0.75, 0.875]
    copies = T._foreach_clone(a)
    T._foreach_copy_(a, b)
    assert values(a) == values(b) != values(copies)
    T._foreach_zero_(a)
    assert values(a) == [[0.0, 0.0], [0.0], [0.0, 0.0, 0.0]]


def test_a_step_of_an_optimizer(T: Any) -> None:
    """Adam as those who write their own write it: parameters in place, without a graph."""
    weights = [T.tensor([1.0, -2.0], requires_grad=True), T.tensor([[0.5]], requires_grad=True)]
    means, squares = [T.zeros_like(w) for w in weights], [T.zeros_like(w) for w in weights]
    for _ in range(3):
        sum((w * w).sum() for w in weights).backward()
        grads = [w.grad for w in weights]
        with T.no_grad():
            T._foreach_lerp_(means, grads, 0.1)
            T._foreach_mul_(squares, 0.9)
            T._foreach_addcmul_(squares, grads, grads, 0.1)
            roots = T._foreach_sqrt(squares)
            T._foreach_add_(roots, 1e-8)
            T._foreach_addcdiv_(weights, means, roots, -0.1)
        for w in weights:
            w.grad = None
    assert values(weights) == [[0.87276, -1.87274], [0.37287]]


def test_what_does_not_fit(T: Any) -> None:
    a, b = lists(T)
    with pytest.raises(RuntimeError, match=r"Tensor list must have at least one tensor\."):
        T._foreach_sqrt([])
    with pytest.raises(RuntimeError, match="must have the same number of tensors, got 3 and 2"):
        T._foreach_add(a, b[:2])
    with pytest.raises(RuntimeError, match=r"Tensor list must have same number of elements as scalar list\."):
        T._foreach_mul_(a, [1.0])
