"""Section 10 of the inventory: batch norm moves its running statistics without a new version of them."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("order", [[False, True], [False, True, False], [True, False, True]])
def test_10_11_statistics_may_move_between_forward_and_backward(T: Any, leaf: Any, order: list[bool]) -> None:
    norm = T.nn.BatchNorm1d(2)
    x = leaf([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    found = []
    for training in order:
        norm.train(training)
        found.append(norm(x))
    before = norm.running_mean._version, norm.running_var._version
    sum((y * y).sum() for y in found).backward()
    assert (norm.running_mean._version, norm.running_var._version) == before
    # An eval pass differentiates by the statistics as they are by then.
    scale = (norm.running_var + norm.eps).rsqrt()
    evaluated = [y for y, training in zip(found, order, strict=True) if not training]
    expected = sum(2 * y.detach() * scale for y in evaluated)
    assert x.grad.flatten().tolist() == pytest.approx(expected.flatten().tolist(), abs=2e-3)


def test_10_11_values_that_were_read_are_read_again(T: Any) -> None:
    norm = T.nn.BatchNorm1d(1, momentum=0.5)
    version = norm.running_mean._version
    x = T.tensor([[2.0], [6.0]])
    for mean in (2.0, 3.0, 3.5, 3.75):
        norm(x)
        assert norm.running_mean.tolist() == [mean]
        assert norm.running_mean._version == version


def test_10_11_a_tensor_of_the_users_as_running_mean(T: Any, leaf: Any) -> None:
    mean, var = T.zeros(2), T.ones(2)
    x = leaf([1.0, 2.0])
    y = (x * mean).sum()
    T.nn.functional.batch_norm(T.tensor([[1.0, 2.0], [3.0, 4.0]]), mean, var, training=True)
    y.backward()
    assert (mean._version, var._version) == (0, 0)
    assert x.grad.tolist() == pytest.approx([0.2, 0.3])
