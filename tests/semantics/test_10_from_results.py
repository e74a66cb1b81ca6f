"""Section 10 of the inventory: activations in place take their gradient from what they left."""

from __future__ import annotations

from typing import Any

import pytest

FORMS = {
    "leaky_relu_": ("LeakyReluBackward1", (0.2,), [1.0, 0.2, 1.0]),
    "elu_": ("EluBackward1", (2.0,), [1.0, 2 * 0.1353353, 1.0]),
    "celu_": ("CeluBackward1", (2.0,), [1.0, 0.3678794, 1.0]),
    "selu_": ("EluBackward1", (), [1.0507010, 1.7580993 * 0.1353353, 1.0507010]),
}


@pytest.mark.parametrize("name", FORMS)
def test_10_4_an_activation_in_place_differentiates_what_it_left(T: Any, leaf: Any, name: str) -> None:
    node, arguments, gradient = FORMS[name]
    x = leaf([1.0, -2.0, 3.0])
    y = x * 1
    assert getattr(T.nn.functional, name)(y, *arguments) is y
    assert type(y.grad_fn).__name__ == node
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx(gradient, abs=1e-5)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("write", ["add_", "mul_", "fill_"])
def test_10_4_what_is_written_to_it_afterwards_is_noticed(T: Any, leaf: Any, name: str, write: str) -> None:
    y = leaf([1.0, -2.0, 3.0]) * 1
    getattr(T.nn.functional, name)(y, *FORMS[name][1])
    getattr(y, write)(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("name", ["leaky_relu_", "elu_", "celu_"])
def test_10_4_a_turned_sign_has_no_gradient(T: Any, leaf: Any, name: str) -> None:
    x = leaf([1.0, -2.0, 3.0])
    y = x * 1
    getattr(T.nn.functional, name)(y, -0.5)
    with pytest.raises(RuntimeError, match="backward calculation is triggered with a negative slope"):
        print(T.autograd.grad(y.sum(), x)[0])


@pytest.mark.parametrize("name", FORMS)
def test_10_4_it_is_differentiable_twice(T: Any, leaf: Any, name: str) -> None:
    x = leaf([1.0, -2.0, 3.0])
    y = x * x
    y = y - 5  # [-4, -1, 4]: of both signs
    getattr(T.nn.functional, name)(y, *FORMS[name][1])
    (first,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = T.autograd.grad(first.sum(), x)
    u = leaf([1.0, -2.0, 3.0])
    plain = getattr(T.nn.functional, name[:-1])(u * u - 5, *FORMS[name][1])
    (expected,) = T.autograd.grad(plain.sum(), u, create_graph=True)
    assert first.tolist() == pytest.approx(expected.tolist(), rel=1e-5)
    assert second.tolist() == pytest.approx(T.autograd.grad(expected.sum(), u)[0].tolist(), rel=1e-5)
