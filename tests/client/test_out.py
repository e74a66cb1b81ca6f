"""Results stored in tensors that are there: factorisations, ranges, and where there are no elements."""

from __future__ import annotations

import warnings
from typing import Any

import pytest


@pytest.mark.parametrize("hermitian", [False, True])
def test_a_factorisation_by_pivots(T: Any, hermitian: bool) -> None:
    a = T.tensor([[1.0, 2.0, 3.0], [2.0, 0.0, 1.0], [3.0, 1.0, 4.0]])
    packed, pivots, info = T.zeros(3, 3), T.zeros(3, dtype=T.int32), T.ones((), dtype=T.int32)
    found = T.linalg.ldl_factor(a, hermitian=hermitian, out=(packed, pivots))
    assert found.LD is packed
    assert pivots.tolist() == [3, 3, 3]
    again = T.linalg.ldl_factor_ex(a, hermitian=hermitian, out=(T.zeros(0), pivots, info))
    assert again.info is info
    assert info.item() == 0
    assert again.LD.tolist() == packed.tolist()


def test_numbers_in_a_tensor_of_another_size(T: Any) -> None:
    with pytest.warns(UserWarning, match=r"The number of elements in the out tensor of shape \[2, 2\] is 4 "):
        found = T.arange(3, out=T.zeros(2, 2))
    assert found.tolist() == [0, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert T.arange(4, out=T.zeros(2, 2)).tolist() == [[0, 1], [2, 3]]
        assert T.arange(2, out=T.zeros(0)).tolist() == [0, 1]
        assert T.linspace(0, 1, 3, out=T.zeros(2, 2)).tolist() == [0, 0.5, 1]


def test_a_single_power_has_its_whole_exponent(T: Any) -> None:
    assert T.logspace(0.5, 2, 1, dtype=T.int64).tolist() == [3]
    assert T.logspace(T.tensor(0.5), 2, 1, out=T.zeros(0, dtype=T.int64)).tolist() == [3]


def test_where_there_are_no_elements_none_is_written_twice(T: Any) -> None:
    out = T.zeros(1, 1, 1).expand(1, 0, 3)
    assert T.acos(T.zeros(1, 0, 3), out=out) is out
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        T.acos(T.zeros(1, 2, 3), out=T.zeros(1, 1, 1).expand(1, 2, 3))
