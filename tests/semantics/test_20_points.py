"""§20.6-20.12: gradients at poles, zeros and edges, of ops that have none, and where indices repeat."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest

from tests.semantics.functions import same

NAN, INF = math.nan, math.inf


# -- 20.6 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: x.sqrt(), INF),
        (lambda x: x.rsqrt(), -INF),
        (lambda x: x.log(), INF),
        (lambda x: x**0.5, INF),
        (lambda x: x**0, 0),
        (lambda x: x**1, 1),
        (lambda x: x**2, 0),
        (lambda x: x**-1, -INF),
    ],
    ids=["sqrt", "rsqrt", "log", "half", "zeroth", "first", "square", "inverse"],
)
def test_20_06_at_zero(slopes: Any, f: Any, expected: float) -> None:
    same(slopes(f, [0.0]), [expected])


def test_20_06_powers_of_tensors(T: Any, slopes: Any) -> None:
    found = slopes(T.pow, [0.0, 0.0, -1.0, 0.0], [0.0, 2.0, 2.0, -1.0])
    same(found[0], [0, 0, -2, -INF])
    same(found[1], [0, 0, NAN, -INF])


def test_20_06_negative_roots_at_infinity(slopes: Any) -> None:
    assert str(slopes(lambda x: x**0.5, [-INF, INF, 4.0])) == "[nan, 0.0, 0.25]"
    assert slopes(lambda x: x**-0.5, [4.0]) == [-0.0625]
    assert slopes(lambda x: x**-2, [2.0, -INF]) == [-0.25, 0.0]


def test_20_06_the_last_derivative_of_a_power_is_a_zero_that_can_be_asked_for(T: Any, leaf: Any) -> None:
    for f, expected in [
        (lambda x: x**3, [12.0, 12.0, 6.0, 0.0]),
        (lambda x: x**2, [4.0, 2.0, 0.0]),
        (lambda x: x.square(), [4.0, 2.0, 0.0]),
        (lambda x: x**1, [1.0, 0.0]),
    ]:
        x = leaf(2.0)
        y, found, tracked = f(x), [], []
        for _ in expected:
            (y,) = T.autograd.grad(y, x, create_graph=True)
            found.append(y.item())
            tracked.append(y.requires_grad)
        assert found == expected
        assert tracked == [True] * (len(expected) - 1) + [False]


# -- 20.7 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "expected"),
    [([2.0, 0.0, 3.0], [0, 6, 0]), ([2.0, 0.0, 0.0], [0, 0, 0]), ([2.0, 4.0, 3.0], [12, 6, 8])],
)
@pytest.mark.parametrize("dim", [None, 0])
def test_20_07_products(slopes: Any, values: Any, expected: Any, dim: int | None) -> None:
    same(slopes(lambda x: x.prod() if dim is None else x.prod(dim), values), expected)


def test_20_07_second_derivatives_of_products(T: Any, leaf: Any) -> None:
    x = leaf([2.0, 0.0, 3.0])
    (g,) = T.autograd.grad(x.prod(), x, create_graph=True)
    rows = [T.autograd.grad(g[i], x, retain_graph=True)[0].tolist() for i in range(3)]
    assert rows == [[0, 3, 0], [3, 0, 2], [0, 2, 0]]


def test_20_07_running_products(slopes: Any) -> None:
    same(slopes(lambda x: x.cumprod(0), [2.0, 0.0, 3.0]), [1, 8, 0])
    same(slopes(lambda x: x.cumprod(0), [2.0, 0.0, 0.0, 4.0]), [1, 2, 0, 0])


def test_20_07_second_derivatives_of_running_products(T: Any, leaf: Any) -> None:
    x = leaf([2.0, 0.0, 3.0])
    (g,) = T.autograd.grad(x.cumprod(0).sum(), x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x)
    assert h.tolist() == [4, 6, 2]


# -- 20.8 ------------------------------------------------------------------------------------------

PAIRS: dict[str, tuple[float, float, float, float]] = {
    "hypot": (0.0, 0.0, NAN, NAN),
    "atan2": (0.0, 0.0, 0.0, 0.0),
    "xlogy": (0.0, 0.0, 0.0, NAN),
    "div": (1.0, 0.0, INF, -INF),
    "logaddexp": (-INF, -INF, NAN, NAN),
    "special.xlog1py": (0.0, -1.0, 0.0, NAN),
}


@pytest.mark.parametrize("name", PAIRS)
def test_20_08_of_two(T: Any, slopes: Any, name: str) -> None:
    a, b, first, second = PAIRS[name]
    space, _, short = name.rpartition(".")
    f = getattr(getattr(T, space) if space else T, short)
    same(slopes(f, [a], [b]), [[first], [second]])


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda T, x: x * x.log(), NAN),
        (lambda T, x: T.special.entr(x), INF),
        (lambda T, x: T.sinc(x), 0.0),
        (lambda T, x: T.special.i1(x), 0.5),
        (lambda T, x: T.special.i1e(x), 0.5),
        (lambda T, x: T.i0(x), 0.0),
        (lambda T, x: T.erfinv(x), math.sqrt(math.pi) / 2),
        (lambda T, x: T.logit(x), INF),
    ],
    ids=["x log x", "entr", "sinc", "i1", "i1e", "i0", "erfinv", "logit"],
)
def test_20_08_at_zero(T: Any, slopes: Any, f: Any, expected: float) -> None:
    same(slopes(lambda x: f(T, x), [0.0]), [expected])


def test_20_08_logarithms_of_sums(slopes: Any) -> None:
    same(slopes(lambda x: x.logsumexp(0), [-INF, -INF]), [NAN, NAN])
    same(slopes(lambda x: x.logcumsumexp(0), [0.0, 0.0]), [1.5, 0.5])


def test_20_08_spreads(slopes: Any) -> None:
    same(slopes(lambda x: x.std(), [2.0, 2.0]), [0, 0])
    same(slopes(lambda x: x.var(), [2.0, 2.0]), [0, 0])


@pytest.mark.parametrize("name", ["std", "var"])
def test_20_08_spreads_of_one(T: Any, leaf: Any, name: str) -> None:
    x = leaf([2.0])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        out = getattr(x, name)()
    assert f"{name}(): degrees of freedom is <= 0." in str(seen[0].message)
    assert seen[0].category is UserWarning
    out.backward()
    same([out.item()], [NAN])
    same(x.grad.tolist(), [NAN])


# -- 20.9 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"), [("floor", 0), ("ceil", 0), ("round", 0), ("trunc", 0), ("frac", 1)]
)
def test_20_09_rounding(T: Any, slopes: Any, name: str, expected: float) -> None:
    same(slopes(getattr(T, name), [1.5, 2.0]), [expected, expected])


def test_20_09_remainders(T: Any, slopes: Any) -> None:
    same(slopes(T.fmod, [-7.0, 7.0], [2.0, 2.0]), [[1, 1], [3, -3]])
    same(slopes(T.remainder, [-7.0, 7.0], [2.0, 2.0]), [[1, 1], [4, -3]])


@pytest.mark.parametrize("mode", ["trunc", "floor"])
def test_20_09_rounded_division(T: Any, slopes: Any, mode: str) -> None:
    same(slopes(lambda a, b: T.div(a, b, rounding_mode=mode), [7.0], [2.0]), [[0], [0]])


def test_20_09_floor_divide(T: Any, leaf: Any, raises: Any) -> None:
    out = leaf([7.0]) // 2
    assert out.requires_grad
    with raises(RuntimeError, "derivative for aten::floor_divide is not implemented"):
        out.backward()


def test_20_09_heaviside(T: Any, leaf: Any, raises: Any) -> None:
    out = T.heaviside(leaf([0.0, 2.0]), T.tensor([0.5, 0.5]))
    assert out.tolist() == [0.5, 1.0]
    assert out.grad_fn.name() == "torch::autograd::NotImplemented"
    with raises(RuntimeError, "derivative for aten::heaviside is not implemented"):
        out.sum().backward()


def test_20_09_unique(T: Any, leaf: Any, raises: Any) -> None:
    values, inverse, counts = T.unique(leaf([2.0, 1.0, 2.0]), return_inverse=True, return_counts=True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2], [1, 0, 1], [1, 2])
    assert values.grad_fn.name() == "Unique2Backward0"
    with raises(NotImplementedError, "the derivative for '_unique2' is not implemented."):
        values.sum().backward()
    with raises(NotImplementedError, "the derivative for 'unique_consecutive' is not implemented."):
        T.unique_consecutive(leaf([2.0, 2.0])).sum().backward()
    with raises(NotImplementedError, "the derivative for 'unique_dim' is not implemented."):
        T.unique(leaf([[2.0], [2.0]]), dim=0).sum().backward()


# -- 20.10, 20.11 ----------------------------------------------------------------------------------


def test_20_10_a_choice_does_not_shield(T: Any, slopes: Any) -> None:
    same(slopes(lambda x: T.where(x > 0, x.sqrt(), T.zeros_like(x)), [0.0, 4.0]), [NAN, 0.25])
    same(slopes(lambda x: T.masked_select(x.sqrt(), x > 0), [0.0, 4.0]), [NAN, 0.25])


def test_20_10_a_filled_mask_gives_zero(slopes: Any) -> None:
    same(slopes(lambda x: x.masked_fill(x == 0, 1.0).sqrt(), [0.0, 4.0]), [0, 0.25])
    same(slopes(lambda x: x.log().masked_fill(x == 0, 0.0)[1:], [0.0, 4.0]), [NAN, 0.25])


@pytest.mark.parametrize(
    ("name", "expected"),
    [("l1_loss", [0, 1, -1, 1]), ("smooth_l1_loss", [0, 1, -1, 1]), ("huber_loss", [0, 1, -1, 1])],
)
def test_20_11_absolute_losses(T: Any, slopes: Any, name: str, expected: Any) -> None:
    f = getattr(T.nn.functional, name)
    zeros = T.zeros(4, dtype=T.float64)
    same(slopes(lambda x: f(x, zeros, reduction="sum"), [0.0, 1.0, -1.0, 2.0]), expected)


@pytest.mark.parametrize("name", ["smooth_l1_loss", "huber_loss"])
def test_20_11_second_derivatives_at_the_joint(T: Any, leaf: Any, name: str) -> None:
    x = leaf([0.5, 1.0, -1.0, 2.0])
    loss = getattr(T.nn.functional, name)(x, T.zeros(4), reduction="sum")
    (g,) = T.autograd.grad(loss, x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x)
    assert h.tolist() == [1, 0, 0, 0]


def test_20_11_cross_entropy_of_probabilities(T: Any, leaf: Any) -> None:
    p = leaf([0.0, 1.0, 0.0])
    loss = T.nn.functional.binary_cross_entropy(p, T.tensor([1.0, 0.0, 0.0]), reduction="none")
    assert loss.tolist() == [100.0, 100.0, 0.0]
    loss.sum().backward()
    assert p.grad.tolist() == pytest.approx([-1e12, 1e12, 0.0])


def test_20_11_pooling_takes_the_first(T: Any, slopes: Any) -> None:
    found = slopes(lambda x: T.nn.functional.max_pool2d(x.reshape(1, 1, 2, 2), 2), [1.0, 1.0, 1.0, 1.0])
    same(found, [1, 0, 0, 0])


# -- 20.12 -----------------------------------------------------------------------------------------


def test_20_12_repeated_indices(T: Any, slopes: Any) -> None:
    index = T.tensor([0, 0, 1])
    same(slopes(lambda x: x[index], [1.0, 2.0, 3.0]), [2, 1, 0])
    same(slopes(lambda x: x.take(index), [1.0, 2.0, 3.0]), [2, 1, 0])
    same(slopes(lambda x: x.index_select(0, index), [1.0, 2.0, 3.0]), [2, 1, 0])


@pytest.mark.parametrize("name", ["scatter", "put", "index_copy"])
def test_20_12_overwritten_sources_count(T: Any, leaf: Any, name: str) -> None:
    x, source = leaf([1.0, 2.0, 3.0]), leaf([4.0, 5.0, 6.0])
    index = T.tensor([0, 0, 1])
    out = x.put(index, source) if name == "put" else getattr(x, name)(0, index, source)
    out.sum().backward()
    assert (x.grad.tolist(), source.grad.tolist()) == ([0, 0, 1], [1, 1, 1])


def test_20_12_accumulated_writes(T: Any, leaf: Any) -> None:
    x, source = leaf([1.0, 2.0, 3.0]), leaf([4.0, 5.0, 6.0])
    index = T.tensor([0, 0, 1])
    for out in (
        x.index_add(0, index, source),
        x.scatter_add(0, index, source),
        x.index_put((index,), source, accumulate=True),
        x.put(index, source, accumulate=True),
    ):
        assert out.tolist() == [10, 8, 3]
        grads = T.autograd.grad(out.sum(), [x, source])
        assert [g.tolist() for g in grads] == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    ("reduce", "first", "second"),
    [
        ("sum", [1, 1], [1, 1, 1]),
        ("mean", [1 / 3, 1 / 2], [1 / 3, 1 / 3, 1 / 2]),
        ("prod", [4, 0], [4, 4, 3]),
        ("amax", [1 / 3, 1], [1 / 3, 1 / 3, 0]),
        ("amin", [1 / 3, 0], [1 / 3, 1 / 3, 1]),
    ],
)
def test_20_12_reduced_sources(T: Any, slopes: Any, reduce: str, first: Any, second: Any) -> None:
    index = T.tensor([0, 0, 1])
    found = slopes(lambda x, s: x.scatter_reduce(0, index, s, reduce), [2.0, 3.0], [2.0, 2.0, 0.0])
    same(found, [first, second])


def test_20_12_reduced_slices(T: Any, leaf: Any) -> None:
    x, source = leaf([[1.0, 5.0], [2.0, 2.0]]), leaf([[3.0, 4.0], [3.0, 7.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch calls it a beta
        out = x.index_reduce(0, T.tensor([0, 0]), source, "amax")
    out.sum().backward()
    assert out.tolist() == [[3, 7], [2, 2]]
    assert (x.grad.tolist(), source.grad.tolist()) == ([[0, 0], [1, 1]], [[0.5, 0], [0.5, 1]])


def test_20_12_padding_gets_nothing(T: Any, leaf: Any) -> None:
    table = leaf([[1.0], [2.0]])
    T.nn.functional.embedding(T.tensor([0, 1, 1]), table, padding_idx=0).sum().backward()
    assert table.grad.tolist() == [[0], [2]]
