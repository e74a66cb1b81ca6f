"""What the op table cannot say of layers: state written in place, targets out of range, ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_engine.backends.meta import MetaBackend
from gradd_engine.backward.backward_op import backward_op
from gradd_engine.declare.surface import functions
from gradd_engine.tensor.tensor import Tensor

F = {name: fn for (space, name), fn in functions().items() if space == "nn.functional"}


def tensor(values: Any, dtype: str = "float64", grad: bool = False) -> Tensor:
    out = NUMPY.from_array(np.array(values, dtype))
    out._requires_grad = grad
    return out


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
@pytest.mark.parametrize("target", [5, -1])
def test_a_target_out_of_range_is_named(name: str, target: int) -> None:
    scores = tensor(np.zeros((2, 3)))
    with pytest.raises(IndexError, match=f"Target {target} is out of bounds."):
        F[name](scores, tensor([0, target], "int64"))
    found = F[name](scores, tensor([0, target], "int64"), ignore_index=target)
    assert found.shape == ()


def test_probabilities_out_of_range_are_refused() -> None:
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        F["binary_cross_entropy"](tensor([1.5]), tensor([1.0]))
    with pytest.raises(RuntimeError, match="all elements of target should be between 0 and 1"):
        F["binary_cross_entropy"](tensor([0.5]), tensor([-1.0]))


def test_training_moves_the_running_statistics() -> None:
    x = np.random.default_rng(0).normal(size=(4, 2, 3))
    mean, var = tensor([1.0, 2.0]), tensor([1.0, 1.0])
    F["batch_norm"](tensor(x, grad=True), mean, var, training=True, momentum=0.25)
    np.testing.assert_allclose(mean.array, 0.75 * np.array([1.0, 2.0]) + 0.25 * x.mean((0, 2)))
    np.testing.assert_allclose(var.array, 0.75 + 0.25 * x.var((0, 2), ddof=1))
    F["batch_norm"](tensor(x), mean, var)
    # As in PyTorch, they move without counting as changed.
    assert (mean._vc.n, var._vc.n) == (0, 0)


def test_the_mirror_counts_the_running_statistics_no_more_than_an_engine() -> None:
    meta = MetaBackend()
    x, mean, var = (meta.from_array(np.zeros(s)) for s in ((4, 2, 3), (2,), (2,)))
    F["batch_norm"](x, mean, var, training=True)
    assert (mean._vc.n, var._vc.n) == (0, 0)


def test_equal_maxima_give_the_gradient_to_the_first() -> None:
    x = tensor(np.ones((1, 2, 4)), grad=True)
    backward_op([F["max_pool2d"](x, 2).sum()])
    assert x.grad is not None
    assert x.grad.array.tolist() == [[[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]]


def test_a_padded_window_of_nothing_but_minus_infinity_points_inside() -> None:
    x = tensor(np.full((1, 2, 2), -np.inf), grad=True)
    out, index = F["max_pool2d"](x, 2, padding=1, return_indices=True)
    assert index.array.min() >= 0
    assert index.array.max() <= 3
    assert np.isneginf(out.array).all()


def test_an_output_changed_after_a_norm_is_no_trouble() -> None:
    x = tensor(np.arange(6.0).reshape(2, 3), grad=True)
    y = F["layer_norm"](x, [3])
    y.mul_(2.0)
    backward_op([(y * y).sum()])
    assert x.grad is not None
    assert x.grad.array.shape == (2, 3)


def test_attention_to_nothing_gives_zeros() -> None:
    q, k, v = (tensor(np.random.default_rng(i).normal(size=(2, 3))) for i in range(3))
    mask = tensor([[False, False], [True, False]], "bool")
    out = F["scaled_dot_product_attention"](q, k, v, mask)
    assert out.array[0].tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(out.array[1], v.array[0])
