"""§1: backward() and its gradient argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore:Using backward")

UNTRACKED = "element {} of tensors does not require grad and does not have a grad_fn"
SHAPES = (
    "Mismatch in shape: grad_output[0] has a shape of torch.Size({}) "
    "and output[0] has a shape of torch.Size({})."
)
DTYPES = (
    "For complex Tensors, both grad_output and output are required to have the same dtype. "
    "Mismatch in dtype: grad_output[0] has a dtype of torch.{} and output[0] has a dtype of torch.{}."
)


def test_01_01_arguments_are_positional_and_nothing_is_returned(T: Any, leaf: Any) -> None:
    x, z = leaf(), leaf()
    y = x * z
    assert y.backward(T.ones(2), True, False, None) is None
    assert y.backward(T.ones(2), None, False, [x]) is None
    assert x.grad.tolist() == [2.0, 4.0]
    assert z.grad.tolist() == [1.0, 2.0]


def test_01_01_arguments_have_names(T: Any, leaf: Any) -> None:
    x = leaf()
    (x * x).backward(gradient=T.ones(2), retain_graph=False, create_graph=False, inputs=x)
    assert x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("values", [3.0, [3.0], [[3.0]]])
def test_01_02_one_element_needs_no_gradient(leaf: Any, values: Any) -> None:
    x = leaf(values)
    (x * x).backward()
    assert x.grad.sum().item() == 6.0
    assert x.grad.shape == x.shape


@pytest.mark.parametrize("values", [[], [1.0, 2.0], [[1.0], [2.0]]])
def test_01_02_other_counts_do(leaf: Any, raises: Any, values: Any) -> None:
    y = leaf(values) * 2
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs"):
        y.backward()


def test_01_03_complex_output_needs_a_gradient(leaf: Any, raises: Any) -> None:
    y = leaf([1 + 1j]) * 2
    with raises(
        RuntimeError, "grad can be implicitly created only for real scalar outputs but got torch.complex64"
    ):
        y.backward()


@pytest.mark.parametrize(
    ("values", "gradient", "said", "of"),
    [
        (1.0, [1.0], "[1]", "[]"),
        ([1.0], 1.0, "[]", "[1]"),
        ([1.0, 2.0], [1.0], "[1]", "[2]"),
        ([[1.0, 2.0]], [1.0, 1.0], "[2]", "[1, 2]"),
    ],
)
def test_01_04_shapes_are_equal_exactly(
    T: Any, leaf: Any, raises: Any, values: Any, gradient: Any, said: str, of: str
) -> None:
    y = leaf(values) * 2
    with raises(RuntimeError, SHAPES.format(said, of)):
        y.backward(T.tensor(gradient))


@pytest.mark.parametrize("dtype", ["float64", "int64", "bool", "float16"])
def test_01_05_another_real_dtype_is_cast(T: Any, leaf: Any, dtype: str) -> None:
    x = leaf()
    (x * 3).backward(T.tensor([1, 0], dtype=getattr(T, dtype)))
    assert x.grad.tolist() == [3.0, 0.0]
    assert x.grad.dtype == T.float32


def test_01_06_real_and_complex_do_not_mix(T: Any, leaf: Any, raises: Any) -> None:
    real, complex_ = leaf() * 2, leaf([1j, 2.0]) * 2
    with raises(RuntimeError, DTYPES.format("complex64", "float32")):
        real.backward(T.tensor([1j, 1.0]))
    with raises(RuntimeError, DTYPES.format("float32", "complex64")):
        complex_.backward(T.ones(2))


def test_01_06_complex128_is_cast_to_complex64(T: Any, leaf: Any) -> None:
    z = leaf([1j, 2.0])
    (z * 2).backward(T.tensor([1.0, 1j], dtype=T.complex128))
    assert z.grad.dtype == T.complex64
    assert z.grad.tolist() == [2 + 0j, 2j]


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        ([1.0, 1.0], "gradients can be either Tensors or None, but got float"),
        (np.ones(2, np.float32), "gradients can be either Tensors or None, but got float32"),
        (np.ones(2), "gradients can be either Tensors or None, but got float64"),
        (1.0, "'float' object is not iterable"),
        (1, "'int' object is not iterable"),
    ],
)
def test_01_07_gradient_is_a_tensor(leaf: Any, raises: Any, gradient: Any, message: str) -> None:
    y = leaf() * 2
    with raises(TypeError, message):
        y.backward(gradient)


def test_01_08_gradient_on_another_device(T: Any, leaf: Any, raises: Any, differs: Any) -> None:
    x = leaf()
    gradient = T.ones(2, device="meta")
    if differs("1.8"):
        (x * 2).backward(gradient)
        assert x.grad.tolist() == [2.0, 2.0]
        return
    with raises(RuntimeError, "invalid gradient at index 0 - expected device cpu but got meta"):
        (x * 2).backward(gradient)


def test_01_09_output_must_require_grad(T: Any, leaf: Any, raises: Any) -> None:
    with raises(RuntimeError, UNTRACKED.format(0)):
        T.tensor(1.0).backward()
    with raises(RuntimeError, UNTRACKED.format(0)):
        (leaf(1.0) * 2).detach().backward()
    with raises(RuntimeError, UNTRACKED.format(1)):
        T.autograd.backward([leaf(1.0) * 2, T.tensor(1.0)])


def test_01_10_leaf_as_root_accumulates_one(leaf: Any) -> None:
    x = leaf(5.0)
    x.backward()
    assert x.grad.item() == 1.0
    x.backward()
    assert x.grad.item() == 2.0


def test_01_11_gradient_may_require_grad(T: Any, leaf: Any) -> None:
    x, gradient = leaf(), leaf([3.0, 5.0])
    (x * x).backward(gradient, create_graph=True)
    assert x.grad.tolist() == [6.0, 20.0]
    assert x.grad.requires_grad
    (by_gradient,) = T.autograd.grad(x.grad.sum(), gradient)
    assert by_gradient.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"foo": 1}, "Tensor.backward() got an unexpected keyword argument 'foo'"),
        ({"gradient": None}, "Tensor.backward() got multiple values for argument 'gradient'"),
        ({"retain_graph": "yes"}, "'str' object cannot be interpreted as an integer"),
        ({"retain_graph": 2.5}, "'float' object cannot be interpreted as an integer"),
        ({"create_graph": None}, "'NoneType' object cannot be interpreted as an integer"),
    ],
)
def test_01_01_wrong_arguments(leaf: Any, raises: Any, options: dict[str, Any], message: str) -> None:
    x = leaf()
    y = (x * x).sum()
    with raises(TypeError, message):
        y.backward(None, **options)
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_01_01_flags_are_integers(leaf: Any) -> None:
    x = leaf()
    y = (x * x).sum()
    y.backward(retain_graph=1, create_graph=0)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]
