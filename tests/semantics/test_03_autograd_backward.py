"""§3: autograd.backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

DEPRECATED = "`grad_variables` is deprecated. Use `grad_tensors` instead."


def test_03_01_roots_are_one_or_several(T: Any, leaf: Any) -> None:
    x, z = leaf(), leaf(3.0)
    T.autograd.backward((x * x).sum())
    T.autograd.backward([z * z])
    T.autograd.backward((x * 2, z * 2), (T.ones(2), None))
    assert x.grad.tolist() == [4.0, 6.0]
    assert z.grad.item() == 8.0


def test_03_01_arguments_are_positional(T: Any, leaf: Any) -> None:
    x, z = leaf(), leaf()
    y = x * z
    assert T.autograd.backward(y, T.ones(2), True, False, None, x) is None
    T.autograd.backward(tensors=y, grad_tensors=T.ones(2), retain_graph=None, create_graph=False, inputs=[z])
    assert x.grad.tolist() == [1.0, 2.0]
    assert z.grad.tolist() == [1.0, 2.0]


def test_03_02_lengths_are_equal(T: Any, leaf: Any, raises: Any) -> None:
    with raises(RuntimeError, "got 2 tensors and 1 gradients"):
        T.autograd.backward([leaf(1.0) * 2, leaf(1.0) * 2], [T.tensor(1.0)])


def test_03_02_gradients_beyond_the_roots_have_no_effect(T: Any, leaf: Any) -> None:
    x = leaf(3.0)
    T.autograd.backward(x * x, [T.tensor(1.0), T.tensor(5.0)])
    T.autograd.backward(x * x, [None, None])
    (again,) = T.autograd.grad(x * x, x, [T.tensor(1.0), 5.0])
    assert (x.grad.item(), again.item()) == (12.0, 6.0)


def test_03_02_none_needs_one_element(T: Any, leaf: Any, raises: Any) -> None:
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs"):
        T.autograd.backward([leaf(1.0) * 2, leaf() * 2], [None, None])


def test_03_02_no_roots_is_no_error(T: Any) -> None:
    assert T.autograd.backward([]) is None
    assert T.autograd.backward((), ()) is None


def test_03_03_roots_run_in_one_pass(T: Any, leaf: Any) -> None:
    x = leaf(3.0)
    shared = x * x
    T.autograd.backward([shared * 2, shared * 5])
    assert x.grad.item() == 42.0


def test_03_04_grad_variables_is_deprecated(T: Any, leaf: Any, warns: Any) -> None:
    x = leaf()
    with warns(FutureWarning, DEPRECATED):
        T.autograd.backward([x * 2], grad_variables=[T.ones(2)])
    assert x.grad.tolist() == [2.0, 2.0]


def test_03_04_not_beside_grad_tensors(T: Any, leaf: Any, raises: Any, warns: Any) -> None:
    message = (
        "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
        "Please only use `grad_tensors`."
    )
    x = leaf()
    with warns(FutureWarning, DEPRECATED), raises(RuntimeError, message):
        T.autograd.backward([x * 2], [T.ones(2)], grad_variables=[T.ones(2)])
    assert x.grad is None


def test_03_05_retain_variables_is_gone(T: Any, leaf: Any, raises: Any, differs: Any) -> None:
    if differs("3.5"):
        x = leaf(1.0)
        with pytest.warns(DeprecationWarning, match="retain_variables option is deprecated"):
            T.autograd.backward([x], retain_variables=True)
        assert x.grad.item() == 1.0
        return
    message = "…backward() got an unexpected keyword argument 'retain_variables'"
    with raises(TypeError, message):
        T.autograd.backward([leaf(1.0)], retain_variables=True)
    with raises(TypeError, message):
        leaf(1.0).backward(retain_variables=True)


@pytest.mark.parametrize(("root", "name"), [(1.0, "float"), (1, "int")])
def test_03_06_roots_are_tensors(T: Any, raises: Any, root: Any, name: str) -> None:
    with raises(TypeError, f"'{name}' object is not iterable"):
        T.autograd.backward(root)


def test_03_01_edges_beside_tensors(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x * x
    edge = T.autograd.graph.get_gradient_edge(y)
    T.autograd.backward([edge, (x * 3).sum()], [T.ones(2), None])
    assert x.grad.tolist() == [5.0, 7.0]


def test_03_02_more_gradients_than_roots_are_not_looked_at(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    T.autograd.backward([x * 2], [T.ones(2), None, 1.0])
    assert x.grad.tolist() == [2.0, 2.0]
    shapes = "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a shape of …"
    with raises(RuntimeError, shapes):
        T.autograd.backward([x * 2, x * 3], [T.ones(3)])


@pytest.mark.parametrize("roots", ["a", [1.0], [None], [[1.0]], [np.ones(2)]])
def test_03_06_nor_are_those_of_a_list(T: Any, leaf: Any, raises: Any, roots: Any) -> None:
    with raises(AssertionError, "Expected output to be a torch.Tensor"):
        T.autograd.backward(roots)
    with raises(AssertionError, "Expected output to be a torch.Tensor"):
        T.autograd.grad(roots, leaf())


def test_03_01_edges_of_outputs_that_are_not_there(T: Any, leaf: Any, raises: Any) -> None:
    y = leaf() * 2
    edge = T.autograd.graph.GradientEdge(y.grad_fn, 1)
    with raises(IndexError, "tuple index out of range"):
        T.autograd.backward(edge, T.ones(2))
    with raises(AttributeError, "'float' object has no attribute 'requires_grad'"):
        T.autograd.graph.get_gradient_edge(1.0)
