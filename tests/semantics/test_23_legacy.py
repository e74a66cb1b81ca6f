"""§23: names of earlier versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

GONE = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."
ALWAYS_FALSE = "volatile was removed (Variable.volatile is always False)"


def test_23_01_variable_gives_a_tensor(T: Any) -> None:
    x = T.ones(2)
    plain, tracked = T.autograd.Variable(x), T.autograd.Variable(x, requires_grad=True)
    assert type(plain) is T.Tensor
    assert plain is not x
    assert not plain.requires_grad
    assert tracked.requires_grad
    assert T.autograd.Variable(x, True).requires_grad
    plain.add_(1)
    assert x.tolist() == tracked.tolist() == [2.0, 2.0]
    assert x._version == plain._version == 1


def test_23_01_it_is_a_detached_leaf(T: Any, leaf: Any) -> None:
    made = T.autograd.Variable(leaf() * 2)
    assert made.is_leaf
    assert made.grad_fn is None
    assert not made.requires_grad
    made.requires_grad_()
    (made * 3).sum().backward()
    assert made.grad.tolist() == [3.0, 3.0]


def test_23_01_every_tensor_is_an_instance(T: Any, leaf: Any) -> None:
    Variable = T.autograd.Variable
    assert isinstance(T.ones(1), Variable)
    assert isinstance(leaf() * 2, Variable)
    assert isinstance(T.nn.Parameter(T.ones(1)), Variable)
    assert not isinstance(1.0, Variable)
    assert Variable is not T.Tensor
    assert not issubclass(T.Tensor, Variable)


@pytest.mark.parametrize(("data", "name"), [([1.0], "list"), (1.0, "float"), (np.ones(1), "numpy.ndarray")])
def test_23_01_of_tensors_only(T: Any, raises: Any, data: Any, name: str) -> None:
    with raises(TypeError, f"Variable data has to be a tensor, but got {name}"):
        T.autograd.Variable(data)


def test_23_01_integers_have_no_gradients(T: Any, raises: Any) -> None:
    with raises(RuntimeError, "Only Tensors of floating point and complex dtype can require gradients"):
        T.autograd.Variable(T.tensor([1]), requires_grad=True)


def test_23_02_volatile_is_ignored(T: Any, warns: Any, recwarn: Any) -> None:
    with warns(UserWarning, GONE):
        x = T.autograd.Variable(T.ones(2), volatile=True)
    T.autograd.Variable(T.ones(2), volatile=False)
    assert not recwarn.list
    assert x.requires_grad_() is x
    assert (x * 2).requires_grad


def test_23_02_not_with_requires_grad(T: Any, raises: Any, warns: Any) -> None:
    message = "Variable can't be volatile and require_grad at the same time!"
    with warns(UserWarning, GONE), raises(ValueError, message):
        T.autograd.Variable(T.ones(2), requires_grad=True, volatile=True)


def test_23_02_reading_and_writing_it_warns(T: Any, warns: Any) -> None:
    x = T.ones(2)
    with warns(UserWarning, GONE):
        x.volatile = True
    with warns(UserWarning, ALWAYS_FALSE):
        assert x.volatile is False


def test_23_03_creator_and_reinforce(leaf: Any, raises: Any) -> None:
    y = leaf() * 2
    with raises(AttributeError, "'Tensor' object has no attribute 'creator'"):
        _ = y.creator
    with raises(RuntimeError, "reinforce() was removed.…"):
        y.reinforce(1.0)


def test_23_03_grad_data_can_be_zeroed(leaf: Any) -> None:
    x = leaf()
    (x * x).sum().backward()
    x.grad.data.zero_()
    assert x.grad.tolist() == [0.0, 0.0]
    x.data.sub_(x.grad.data + 1)
    assert x.tolist() == [0.0, 1.0]


def backward(T: Any, how: str, y: Any, **options: Any) -> None:
    """`y.backward(...)` or `autograd.backward(y, ...)`."""
    if how == "method":
        y.backward(**options)
    else:
        T.autograd.backward([y], **options)


@pytest.mark.parametrize("how", ["method", "function"])
def test_23_04_retain_variables(T: Any, leaf: Any, raises: Any, warns: Any, differs: Any, how: str) -> None:
    x = leaf()
    y = (x * x).sum()
    if not differs("3.5"):
        with raises(TypeError, "…backward() got an unexpected keyword argument 'retain_variables'"):
            backward(T, how, y, retain_variables=True)
        return
    renamed = "retain_variables option is deprecated. Use retain_graph instead."
    with warns(DeprecationWarning, renamed):
        backward(T, how, y, retain_variables=True)
    with warns(DeprecationWarning, renamed):
        backward(T, how, y, retain_variables=False)
    assert x.grad.tolist() == [4.0, 8.0]
    with raises(RuntimeError, "Trying to backward through the graph a second time …"):
        backward(T, how, y)


@pytest.mark.parametrize("how", ["method", "function"])
@pytest.mark.parametrize("retain_graph", [True, False])
def test_23_04_not_beside_retain_graph(
    T: Any, leaf: Any, raises: Any, differs: Any, how: str, retain_graph: bool
) -> None:
    y = leaf(1.0) * 2
    refused: Any = (ValueError, "only one of retain_graph and retain_variables can be specified")
    if not differs("3.5"):
        refused = (TypeError, "…backward() got an unexpected keyword argument 'retain_variables'")
    with raises(*refused):
        backward(T, how, y, retain_graph=retain_graph, retain_variables=True)
