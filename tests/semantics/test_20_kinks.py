"""§20.1-20.5: subgradients at kinks of activations, bounds, extremes and norms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.semantics.functions import same

NAN, INF = math.nan, math.inf


@pytest.fixture
def bends(T: Any) -> Callable[..., Any]:
    """`bends(f, values)`: the second derivatives of f, element by element."""

    def find(f: Callable[..., Any], values: list[float]) -> Any:
        x = T.tensor(values, dtype=T.float64, requires_grad=True)
        (g,) = T.autograd.grad(f(x).sum(), x, create_graph=True)
        if not g.requires_grad:
            return [0.0] * len(values)
        (h,) = T.autograd.grad(g.sum(), x, allow_unused=True)
        return [0.0] * len(values) if h is None else (h + 0).tolist()

    return find


# -- 20.1 ------------------------------------------------------------------------------------------

ACTIVATIONS: dict[str, tuple[list[float], list[float]]] = {
    "relu": ([0.0, NAN, -1.0, 1.0], [0, 1, 0, 1]),
    "relu6": ([0.0, 6.0, 3.0], [0, 0, 1]),
    "leaky_relu": ([0.0, 1.0], [0.01, 1]),
    "elu": ([0.0, 1.0], [1, 1]),
    "celu": ([0.0, 1.0], [1, 1]),
    "hardtanh": ([-1.0, 1.0, 0.0], [0, 0, 1]),
    "hardsigmoid": ([-3.0, 3.0], [0, 0]),
    "hardswish": ([-3.0, 3.0], [0, 1]),
    "hardshrink": ([-0.5, 0.5, 1.0], [0, 0, 1]),
    "softshrink": ([-0.5, 0.5, 1.0], [0, 0, 1]),
    "selu": ([0.0], [1.0507009873554805 * 1.6732632423543772]),
    "softsign": ([0.0], [1]),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_20_01_activations(T: Any, slopes: Any, name: str) -> None:
    at, expected = ACTIVATIONS[name]
    same(slopes(getattr(T.nn.functional, name), at), expected)


@pytest.mark.parametrize(
    ("name", "at", "expected"),
    [
        ("elu", [0.0, -1.0, 1.0], [0.0, math.exp(-1), 0.0]),
        ("celu", [0.0, -1.0, 1.0], [0.0, math.exp(-1), 0.0]),
        ("relu", [0.0, 1.0], [0.0, 0.0]),
        ("leaky_relu", [0.0], [0.0]),
        ("softplus", [20.0, 21.0], [0.0, 0.0]),
        ("hardswish", [0.0, 1.0], [1 / 3, 1 / 3]),
    ],
)
def test_20_01_second_derivatives(T: Any, bends: Any, name: str, at: Any, expected: Any) -> None:
    assert bends(getattr(T.nn.functional, name), at) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_20_01_parameters_of_activations(T: Any, slopes: Any) -> None:
    functional = T.nn.functional
    same(slopes(lambda x: functional.leaky_relu(x, 0.25), [0.0, -1.0]), [0.25, 0.25])
    same(slopes(lambda x: functional.elu(x, 0.25), [0.0]), [0.25])
    same(slopes(lambda x: functional.threshold(x, 1.0, 5.0), [1.0, 1.5]), [0, 1])
    found = slopes(lambda x, w: functional.prelu(x, w), [0.0, -2.0], [0.25])
    same(found[0], [0.25, 0.25])
    same(found[1], [-2.0])


@pytest.mark.parametrize("name", ["abs", "sign", "sgn"])
def test_20_01_absolute_values_and_signs(T: Any, slopes: Any, bends: Any, name: str) -> None:
    same(slopes(getattr(T, name), [0.0, -0.0, NAN]), [0, 0, 0])
    same(bends(getattr(T, name), [0.0, 1.0]), [0, 0])


@pytest.mark.parametrize(
    "f",
    [
        lambda F, x, w: F.leaky_relu(x, 0.1),
        lambda F, x, w: F.hardtanh(x),
        lambda F, x, w: F.relu6(x),
        lambda F, x, w: F.hardshrink(x),
        lambda F, x, w: F.softshrink(x),
        lambda F, x, w: F.prelu(x, w),
        lambda F, x, w: F.relu(x),
    ],
)
def test_20_01_second_derivatives_of_straight_pieces_are_zeros(T: Any, leaf: Any, f: Any) -> None:
    x = leaf([-2.0, 0.0, 0.25, 7.0])
    (g,) = T.autograd.grad(f(T.nn.functional, x, T.tensor([0.25])).sum(), x, create_graph=True)
    assert g.requires_grad
    (h,) = T.autograd.grad(g.sum(), x)
    assert h.tolist() == [0.0] * 4


def test_20_01_softplus_of_nan(T: Any, leaf: Any) -> None:
    x = leaf([math.nan, 0.0, 30.0])
    T.nn.functional.softplus(x).sum().backward()
    first, *rest = x.grad.tolist()
    assert math.isnan(first)
    assert rest == [0.5, 1.0]


# -- 20.2 ------------------------------------------------------------------------------------------


def test_20_02_clamp(T: Any, slopes: Any) -> None:
    same(slopes(lambda x: x.clamp(-1, 1), [-1.0, 1.0, 0.0, 2.0, -2.0, NAN]), [1, 1, 1, 0, 0, 0])
    same(slopes(lambda x: x.clamp(2, -1), [-1.0, 0.0, 2.0, 3.0]), [0, 0, 0, 0])


def test_20_02_clamp_by_tensors(T: Any, slopes: Any) -> None:
    x, low, high = slopes(T.clamp, [0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 0.0, 4.0], [1.0, 3.0, 1.0, 2.0])
    same([x, low, high], [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]])


@pytest.mark.parametrize("name", ["clamp_min", "clamp_max"])
def test_20_02_a_tie_goes_to_the_input(T: Any, slopes: Any, name: str) -> None:
    same(slopes(getattr(T, name), [1.0], [1.0]), [[1], [0]])


# -- 20.3, 20.4 ------------------------------------------------------------------------------------

TIES = [1.0, 2.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("name", "expected"), [("max", [0, 0.5, 0.5, 0]), ("min", [0.5, 0, 0, 0.5]), ("amax", [0, 0.5, 0.5, 0])]
)
def test_20_03_ties_share(slopes: Any, name: str, expected: list[float]) -> None:
    same(slopes(lambda x: getattr(x, name)(), TIES), expected)


def test_20_03_aminmax_shares(slopes: Any) -> None:
    same(slopes(lambda x: x.aminmax().min, TIES), [0.5, 0, 0, 0.5])
    same(slopes(lambda x: x.aminmax(dim=0).max, TIES), [0, 0.5, 0.5, 0])


@pytest.mark.parametrize(("name", "expected"), [("max", [0, 1, 0, 0]), ("min", [1, 0, 0, 0])])
def test_20_03_along_a_dimension_the_index_gets_it(slopes: Any, name: str, expected: list[float]) -> None:
    same(slopes(lambda x: getattr(x, name)(0).values, TIES), expected)


@pytest.mark.parametrize("name", ["maximum", "minimum", "max"])
def test_20_03_of_two_half_each(T: Any, slopes: Any, name: str) -> None:
    same(slopes(getattr(T, name), [1.0], [1.0]), [[0.5], [0.5]])


@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_20_03_all_to_the_first(T: Any, slopes: Any, name: str) -> None:
    same(slopes(getattr(T, name), [1.0, NAN, 1.0], [1.0, 1.0, NAN]), [[1, 0, 1], [0, 1, 0]])


def test_20_03_nan_gives_both_all(T: Any, slopes: Any) -> None:
    same(slopes(T.maximum, [NAN, 1.0], [1.0, NAN]), [[1, 1], [1, 1]])


def test_20_04_nans_share(slopes: Any) -> None:
    same(slopes(lambda x: x.max(), [1.0, NAN, NAN]), [0, 0.5, 0.5])


def test_20_04_running_extremes_go_to_the_last_of_ties(T: Any, slopes: Any) -> None:
    x = T.tensor([1.0, 2.0, 2.0, 1.0])
    assert x.cummax(0).indices.tolist() == [0, 1, 2, 2]
    assert x.cummin(0).indices.tolist() == [0, 0, 0, 3]
    same(slopes(lambda x: x.cummax(0).values, TIES), [1, 1, 2, 0])
    same(slopes(lambda x: x.cummin(0)[0], TIES), [3, 0, 0, 1])
    nans = T.tensor([1.0, NAN, 3.0, NAN])
    assert nans.cummax(0).indices.tolist() == [0, 1, 1, 3]


# -- 20.5 ------------------------------------------------------------------------------------------

ORDERS = [1, 2, 3, 0.5, 1.5, INF]


@pytest.mark.parametrize("p", ORDERS)
def test_20_05_a_norm_at_zero(T: Any, slopes: Any, p: float) -> None:
    same(slopes(lambda x: x.norm(p), [0.0, 0.0]), [0, 0])
    same(slopes(lambda x, y: T.dist(x, y, p), [1.0, 2.0], [1.0, 2.0]), [[0, 0], [0, 0]])


def test_20_05_half_order_at_zero_entries(slopes: Any) -> None:
    assert slopes(lambda x: x.norm(0.5), [0.0, 4.0, 4.0]) == pytest.approx([0, 2, 2])


def test_20_05_the_largest_share(slopes: Any) -> None:
    same(slopes(lambda x: x.norm(INF), [2.0, -2.0, 1.0]), [0.5, -0.5, 0])


def test_20_05_order_zero_gives_no_gradient(T: Any, leaf: Any) -> None:
    x = leaf([1.0, 0.0])
    x.norm(0).backward()
    assert x.grad is None


@pytest.mark.parametrize(("p", "expected"), [(2, NAN), (3, 0.0), (4, 0.0)])
def test_20_05_second_derivatives_at_zero(bends: Any, p: float, expected: float) -> None:
    same(bends(lambda x: x.norm(p), [0.0, 0.0]), [expected, expected])


def test_20_05_normalize_at_zero(T: Any, slopes: Any) -> None:
    assert slopes(lambda x: T.nn.functional.normalize(x, dim=0), [0.0, 0.0]) == pytest.approx([1e12, 1e12])


def test_20_05_renorm(T: Any, slopes: Any) -> None:
    found = slopes(lambda x: T.renorm(x.reshape(2, 2), 2, 0, 1.0), [0.0, 0.0, 3.0, 4.0])
    assert found == pytest.approx([1, 1, 0.032, -0.024], abs=1e-6)
