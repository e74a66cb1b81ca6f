"""§20.3 and §20.4: what extreme values, orders and quantiles give to ties and NaN."""

from __future__ import annotations

from typing import Any

import pytest

NAN = float("nan")
TIES = (3.0, 1.0, 3.0, 1.0)


def gradient(T: Any, fn: Any, values: Any) -> Any:
    x = T.tensor(values, dtype=T.float64, requires_grad=True)
    out = fn(x)
    out.sum().backward()
    return x.grad.tolist()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("max", [0.5, 0, 0.5, 0]),
        ("min", [0, 0.5, 0, 0.5]),
        ("amax", [0.5, 0, 0.5, 0]),
        ("amin", [0, 0.5, 0, 0.5]),
        ("median", [0, 0.5, 0, 0.5]),
        ("nanmedian", [0, 0.5, 0, 0.5]),
    ],
)
def test_20_03_of_all_splits_evenly(T: Any, name: str, expected: list[float]) -> None:
    assert gradient(T, getattr(T, name), TIES) == expected


@pytest.mark.parametrize(("name", "expected"), [("amax", [0.5, 0, 0.5, 0]), ("amin", [0, 0.5, 0, 0.5])])
def test_20_03_amax_along_a_dimension_splits_evenly(T: Any, name: str, expected: list[float]) -> None:
    assert gradient(T, lambda x: getattr(T, name)(x, dim=0), TIES) == expected
    both = gradient(T, lambda x: getattr(T, name)(x, dim=(0, 1)), [TIES, TIES])
    assert both == [[e / 2 for e in expected]] * 2


def test_20_03_aminmax_splits_evenly(T: Any) -> None:
    assert gradient(T, lambda x: T.aminmax(x).max, TIES) == [0.5, 0, 0.5, 0]
    assert gradient(T, lambda x: T.aminmax(x).min, TIES) == [0, 0.5, 0, 0.5]
    assert gradient(T, lambda x: T.aminmax(x, dim=0).max, TIES) == [0.5, 0, 0.5, 0]
    assert gradient(T, lambda x: sum(T.aminmax(x)), [2.0, 2.0]) == [1.0, 1.0]


@pytest.mark.parametrize("name", ["max", "min", "median", "nanmedian"])
def test_20_03_along_a_dimension_the_returned_index_alone(T: Any, name: str) -> None:
    x = T.tensor(TIES, requires_grad=True)
    values, indices = getattr(T, name)(x, dim=0)
    values.backward()
    expected = [0.0] * 4
    expected[indices.item()] = 1.0
    assert x.grad.tolist() == expected
    assert not indices.requires_grad
    assert getattr(T, name)(x, dim=0, keepdim=True).values.shape == (1,)


def test_20_03_topk_the_returned_indices_alone(T: Any) -> None:
    x = T.tensor(TIES, requires_grad=True)
    values, indices = T.topk(x, 3)
    values.sum().backward()
    picked = set(indices.tolist())
    assert x.grad.tolist() == [1.0 if i in picked else 0.0 for i in range(4)]
    assert values.tolist() == [3.0, 3.0, 1.0]


@pytest.mark.parametrize("name", ["maximum", "minimum", "max", "min"])
def test_20_03_of_two_tensors_half_each(T: Any, name: str) -> None:
    a = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = T.tensor([1.0, 3.0, 2.0], requires_grad=True)
    getattr(T, name)(a, b).sum().backward()
    first = [0.5, 0.0, 1.0] if name.startswith("max") else [0.5, 1.0, 0.0]
    assert a.grad.tolist() == first
    assert b.grad.tolist() == [1 - one for one in first]


@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_20_03_fmax_ties_go_to_the_first(T: Any, name: str) -> None:
    if not hasattr(T, name):
        pytest.skip("declared by another family")
    a = T.tensor([1.0, NAN, 1.0], requires_grad=True)
    b = T.tensor([1.0, 1.0, NAN], requires_grad=True)
    getattr(T, name)(a, b).sum().backward()
    assert a.grad.tolist() == [1.0, 0.0, 1.0]
    assert b.grad.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize(("left", "right"), [(NAN, 1.0), (1.0, NAN), (NAN, NAN)])
def test_20_03_maximum_with_nan_gives_one_to_both(T: Any, name: str, left: float, right: float) -> None:
    a = T.tensor([left], requires_grad=True)
    b = T.tensor([right], requires_grad=True)
    getattr(T, name)(a, b).backward()
    expected = 0.5 if left != left and right != right else 1.0
    assert (a.grad.item(), b.grad.item()) in [(expected, expected), (1.0, 1.0)]


@pytest.mark.parametrize("name", ["max", "min"])
def test_20_04_several_nan_share(T: Any, name: str) -> None:
    assert gradient(T, getattr(T, name), [NAN, 1.0, NAN, 2.0]) == [0.5, 0, 0.5, 0]


def test_20_04_sort_is_a_permutation(T: Any) -> None:
    x = T.tensor([3.0, 1.0, 3.0, 2.0], requires_grad=True)
    values, indices = T.sort(x, stable=True)
    (values * T.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert indices.tolist() == [1, 3, 0, 2]
    assert x.grad.tolist() == [3.0, 1.0, 4.0, 2.0]
    assert T.sort(x, stable=True, descending=True).indices.tolist() == [0, 2, 3, 1]
    assert T.argsort(x, stable=True).tolist() == [1, 3, 0, 2]
    assert gradient(T, T.msort, [[3.0], [1.0]]) == [[1.0], [1.0]]


@pytest.mark.parametrize("name", ["kthvalue", "mode"])
def test_20_04_kthvalue_and_mode_give_all_to_one_index(T: Any, name: str) -> None:
    x = T.tensor([3.0, 1.0, 3.0, 2.0, 3.0], requires_grad=True)
    values, indices = T.kthvalue(x, 4) if name == "kthvalue" else T.mode(x)
    values.backward()
    expected = [0.0] * 5
    expected[indices.item()] = 1.0
    assert values.item() == 3.0
    assert x.grad.tolist() == expected


def test_20_04_quantile_between_two(T: Any) -> None:
    assert gradient(T, lambda x: T.quantile(x, 0.25), [1.0, 4.0, 3.0]) == [0.5, 0.0, 0.5]
    assert gradient(T, lambda x: T.quantile(x, 0.5, dim=1), [[1.0, 4.0, 3.0]]) == [[0.0, 0.0, 1.0]]
    assert gradient(T, lambda x: T.nanquantile(x, 0.5), [1.0, NAN, 3.0]) == [0.5, 0.0, 0.5]
    x = T.tensor([1.0, NAN, 3.0])
    assert T.quantile(x, 0.5).isnan().item()


def test_20_04_places_have_no_gradient(T: Any) -> None:
    x = T.tensor([0.5, 1.5, 2.5], requires_grad=True)
    bounds = T.tensor([1.0, 2.0])
    for out in (T.searchsorted(bounds, x), T.bucketize(x, bounds), T.isin(x.detach(), bounds)):
        assert not out.requires_grad
    assert T.bucketize(x, bounds).tolist() == [0, 1, 2]
    assert T.histc(x.detach(), 3, 0.0, 3.0).tolist() == [1.0, 1.0, 1.0]
    assert T.bincount(T.tensor([0, 2, 2])).tolist() == [1, 0, 2]
