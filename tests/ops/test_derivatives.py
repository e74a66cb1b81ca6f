"""Derivatives at points that samples seldom reach, against numbers that are known without an oracle."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import gradd.nn.functional as F
import numpy as np
import pytest

ZETA3 = 1.2020569031595942
MATRIX = [[2.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]]


@pytest.fixture(autouse=True)
def _session() -> Iterator[None]:
    with gradd.connect("local:"):
        yield


def leaf(values: Any) -> Any:
    return gradd.tensor(values, dtype=gradd.float64, requires_grad=True)


def slope(y: Any, x: Any, **more: Any) -> Any:
    (found,) = gradd.autograd.grad(y.sum(), x, **more)
    return found


def test_a_product_with_two_zeros_is_not_differentiated_twice() -> None:
    src = leaf([0.0, 0.0])
    out = leaf([1.0]).scatter_reduce(0, gradd.tensor([0, 0]), src, "prod")
    g = slope(out, src, create_graph=True)
    assert g.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="Double backward is unsupported for src when >1 zeros in src"):
        slope(g, src).tolist()


@pytest.mark.parametrize(("index", "wanted"), [([0, 2], 4.0), ([0, 0, 2], 4.0), ([1], 2.0), ([], 0.0)])
def test_the_gradient_of_a_filled_value_counts_each_place_once(index: list[int], wanted: float) -> None:
    x, value = leaf([0.0] * 3), leaf(2.0)
    y = x.index_fill(0, gradd.tensor(index, dtype=gradd.int64), value)
    assert slope(y * leaf([1.0, 2.0, 3.0]), value).item() == wanted


def test_polygammas_below_zero_and_at_their_poles() -> None:
    x = leaf([-0.5, 0.5, -math.inf, -2.0, 0.0])
    zero, one, two, three = (gradd.polygamma(n, x) for n in range(4))
    half = math.pi**2 / 2
    np.testing.assert_allclose(one[:2].tolist(), [half + 4, half])
    np.testing.assert_allclose(two[:2].tolist(), [16 - 14 * ZETA3, -14 * ZETA3])
    np.testing.assert_allclose(three[:2].tolist(), [math.pi**4 + 96, math.pi**4])
    assert two[2:].tolist() == [-math.inf] * 3
    assert three[2:].tolist() == [math.inf] * 3
    for lower, upper in ((zero, one), (one, two), (two, three)):
        np.testing.assert_allclose(slope(lower, x)[:2].tolist(), upper[:2].tolist())
    for n in (0, 1):
        assert gradd.polygamma(n, leaf([0.0, 3.0])).isnan().tolist() == [False, False]


def test_the_second_derivative_of_digamma_below_zero() -> None:
    x = leaf([-0.5, 0.5])
    first = slope(gradd.digamma(x), x, create_graph=True)
    np.testing.assert_allclose(slope(first, x).tolist(), [16 - 14 * ZETA3, -14 * ZETA3])


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_gradients_of_eigenvalues_and_vectors_are_symmetric(kind: str) -> None:
    turn = 1j * np.array([[0, 1, -2], [-1, 0, 1], [2, -1, 0]]) if kind == "complex" else 0
    a = gradd.tensor(np.array(MATRIX) + turn, requires_grad=True)
    weights = gradd.arange(9).reshape(3, 3).double()
    values, vectors = gradd.linalg.eigh(a)
    g = slope(values.exp().sum() + (vectors.abs() * weights).sum(), a)
    assert gradd.allclose(g, g.mH)
    first = slope(gradd.linalg.eigvalsh(a).exp(), a, create_graph=True)
    assert gradd.allclose(first, first.mH)
    second = slope((first * weights).abs() ** 2, a)
    assert gradd.allclose(second, second.mH)
    assert second.abs().max().item() > 1


@pytest.mark.parametrize(
    "run",
    [
        lambda a: gradd.cholesky_inverse(a.tril()),
        lambda a: gradd.cholesky_inverse(a.triu(), upper=True),
        lambda a: gradd.triangular_solve(gradd.ones(3, 2).double(), a, upper=False)[0],
    ],
    ids=["cholesky_inverse", "cholesky_inverse of upper", "triangular_solve"],
)
def test_tangents_of_triangles_are_products_with_the_jacobian(run: Callable[[Any], Any]) -> None:
    a = gradd.tensor(MATRIX, dtype=gradd.float64)
    tangent = gradd.arange(9).reshape(3, 3).double() - 3
    _, found = gradd.func.jvp(run, (a,), (tangent,))
    wanted = (gradd.func.jacrev(run)(a) * tangent).sum((-2, -1))
    assert gradd.allclose(found, wanted)
    step = 1e-6
    near = (run(a + step * tangent) - run(a - step * tangent)) / (2 * step)
    assert gradd.allclose(found, near, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_attention_in_16_bits_is_rounded_once(dtype: str) -> None:
    rng = np.random.default_rng(8)
    q, k, v = (gradd.tensor(rng.normal(size=(2, 7, 16)) * 3).to(getattr(gradd, dtype)) for _ in range(3))
    found = F.scaled_dot_product_attention(q, k, v)
    wanted = F.scaled_dot_product_attention(q.float(), k.float(), v.float()).to(found.dtype)
    assert found.tolist() == wanted.tolist()


SECOND: dict[str, Callable[[Any], Any]] = {
    "max_pool1d": lambda x: F.max_pool1d(x[0], 2),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "avg_pool1d": lambda x: F.avg_pool1d(x[0], 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 2),
    "nll_loss": lambda x: F.nll_loss(x.view(4, 4), gradd.arange(4)),
    "nll_loss of pictures": lambda x: F.nll_loss(x, gradd.zeros(1, 4, 4, dtype=gradd.int64)),
}


@pytest.mark.parametrize("name", SECOND)
def test_second_gradients_of_what_is_linear_in_places_are_zeros(name: str) -> None:
    x = leaf(np.arange(16.0).reshape(1, 1, 4, 4))
    y = SECOND[name](x)
    seed = gradd.ones_like(y).requires_grad_()
    (first,) = gradd.autograd.grad(y, x, seed, create_graph=True)
    (second,) = gradd.autograd.grad(first.sum(), x, allow_unused=True)
    assert second is not None
    assert second.shape == x.shape
    assert not second.any().item()


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (lambda w: w.expand(2, 3).as_strided((2,), (1,), 0), [1.0, 1.0, 0.0]),
        (lambda w: w.unfold(0, 2, 1).as_strided((2, 2), (1, 1), 0), [1.0, 2.0, 1.0]),
        (lambda w: w[::2].as_strided((2,), (2,), 0), [1.0, 0.0, 1.0]),
    ],
    ids=["expanded", "windows", "gaps"],
)
def test_strides_over_places_that_elements_share(seen: Callable[[Any], Any], expected: list[float]) -> None:
    """Each element of the input that lies in a place has an equal part of its gradient, as in PyTorch; the
    second gradient is that of the first, forward mode agrees.
    """
    w = leaf([1.0, 2.0, 3.0])
    (first,) = gradd.autograd.grad(seen(w).sum(), w)
    assert first.tolist() == expected
    assert gradd.autograd.gradcheck(lambda w: seen(w * w), (w,), check_forward_ad=True)
    assert gradd.autograd.gradgradcheck(lambda w: seen(w * w), (w,))
