"""§4: the argument inputs= of backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def test_04_01_only_the_named_accumulate(leaf: Any) -> None:
    x, z = leaf(), leaf()
    (x * z).sum().backward(inputs=[x])
    assert x.grad.tolist() == [1.0, 2.0]
    assert z.grad is None


def test_04_01_a_named_non_leaf(leaf: Any) -> None:
    x = leaf()
    y = x * 2
    (y * y).sum().backward(inputs=[y])
    assert y.grad.tolist() == [4.0, 8.0]
    assert x.grad is None


def test_04_01_other_paths_are_not_executed(leaf: Any) -> None:
    a, b = leaf([0.0]), leaf([0.0])
    loss = (a.exp() + b.exp()).sum()
    loss.backward(inputs=[b])
    loss.backward(inputs=[a])  # a's exp still has what it saved
    assert a.grad.tolist() == [1.0]
    assert b.grad.tolist() == [1.0]


def test_04_01_nor_checked(leaf: Any) -> None:
    a, b = leaf([0.0]), leaf([0.0])
    spoilt = a.exp()
    loss = (spoilt + b.exp()).sum()
    spoilt.add_(1)
    loss.backward(inputs=[b])
    assert b.grad.tolist() == [1.0]


def test_04_02_one_tensor_will_do(T: Any, leaf: Any) -> None:
    x = leaf()
    (x * x).sum().backward(inputs=x)
    T.autograd.backward((x * x).sum(), inputs=x)
    assert x.grad.tolist() == [4.0, 8.0]


@pytest.mark.parametrize("empty", [[], ()])
def test_04_02_none_will_not(T: Any, leaf: Any, raises: Any, empty: Any) -> None:
    y = leaf(1.0) * 2
    message = "`inputs` argument to `backward()` cannot be empty."
    with raises(RuntimeError, message):
        y.backward(inputs=empty)
    with raises(RuntimeError, message):
        T.autograd.backward(y, inputs=empty)


def test_04_03_non_leaves_beside_leaves(leaf: Any) -> None:
    x = leaf()
    y = x * 2
    (y * y).sum().backward(inputs=[x, y])
    assert x.grad.tolist() == [8.0, 16.0]
    assert y.grad.tolist() == [4.0, 8.0]
    assert y.retains_grad
    assert not y.is_leaf


def test_04_04_the_named_require_grad(T: Any, leaf: Any, raises: Any) -> None:
    y = leaf(1.0) * 2
    with raises(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"):
        y.backward(inputs=[T.tensor(1.0)])


def test_04_05_unreachable_is_silent(leaf: Any) -> None:
    x, far = leaf(), leaf()
    (x * x).sum().backward(inputs=[x, far])
    assert x.grad.tolist() == [2.0, 4.0]
    assert far.grad is None


def test_04_05_twice_counts_once(leaf: Any) -> None:
    x = leaf()
    (x * x).sum().backward(inputs=[x, x])
    assert x.grad.tolist() == [2.0, 4.0]


def test_04_06_an_edge_of_a_leaf(T: Any, leaf: Any) -> None:
    x, z = leaf(), leaf()
    edge = T.autograd.graph.get_gradient_edge(x)
    (x * z).sum().backward(inputs=[edge])
    assert x.grad.tolist() == [1.0, 2.0]
    assert z.grad is None
    T.autograd.backward((x * z).sum(), inputs=edge)
    assert x.grad.tolist() == [2.0, 4.0]


def test_04_06_an_edge_of_a_non_leaf_accumulates_nowhere(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x * 2
    (y * y).sum().backward(inputs=[T.autograd.graph.get_gradient_edge(y)])
    assert x.grad is None
    assert not y.retains_grad


def test_04_07_an_edge_is_a_named_tuple(T: Any, leaf: Any) -> None:
    graph = T.autograd.graph
    assert graph.GradientEdge._fields == ("node", "output_nr", "ownership_token")
    first, second = leaf().unbind()
    edge = graph.get_gradient_edge(second)
    assert edge[0] is edge.node is first.grad_fn
    assert edge.output_nr == 1
    assert graph.GradientEdge(edge.node, 1).ownership_token is None
    x = leaf()
    assert graph.get_gradient_edge(x).node is x.exp().grad_fn.next_functions[0][0]


def test_04_07_where_there_is_none(T: Any, raises: Any) -> None:
    message = "It is not possible to get the gradient edge for a Tensor that does not require gradients"
    with raises(RuntimeError, message):
        T.autograd.graph.get_gradient_edge(T.ones(2))


def test_04_08_an_edge_as_root(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    y = x * x
    edge = T.autograd.graph.get_gradient_edge(y)
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs"):
        T.autograd.backward(edge)
    with raises(
        RuntimeError,
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a shape of "
        "torch.Size([2]).",
    ):
        T.autograd.backward(edge, T.ones(3))
    T.autograd.backward(edge, T.ones(2))
    assert x.grad.tolist() == [2.0, 4.0]
    one = T.autograd.graph.get_gradient_edge((x * x).sum())
    T.autograd.backward([one])
    assert x.grad.tolist() == [4.0, 8.0]


def test_04_08_its_tensor_may_be_gone(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x * x
    edge = T.autograd.graph.get_gradient_edge(y)
    y.add_(1)  # the edge is where y's gradient went before
    z = y * 10
    del y
    T.autograd.backward(edge, T.ones(2))
    assert x.grad.tolist() == [2.0, 4.0]
    assert z.tolist() == [20.0, 50.0]


def test_04_08_edges_as_inputs_of_grad(T: Any, leaf: Any, raises: Any) -> None:
    graph = T.autograd.graph
    x = leaf()
    y = x * 2
    loss = (y * y).sum()
    of_y, of_x = T.autograd.grad(
        loss, [graph.get_gradient_edge(y), graph.get_gradient_edge(x)], retain_graph=True
    )
    assert of_y.tolist() == [4.0, 8.0]
    assert of_x.tolist() == [8.0, 16.0]
    with raises(RuntimeError, "The differentiated Tensor at index 0 appears to not have been used in …"):
        T.autograd.grad(loss, graph.get_gradient_edge(leaf()), retain_graph=True)
    with raises(RuntimeError, "materialize_grads cannot be used when the given input is a GradientEdge"):
        T.autograd.grad(loss, graph.get_gradient_edge(leaf()), materialize_grads=True)


def test_04_08_an_edge_takes_batches_of_gradients(T: Any, leaf: Any) -> None:
    x = leaf()
    edge = T.autograd.graph.get_gradient_edge(x * x)
    (jacobian,) = T.autograd.grad(edge, x, T.eye(2), is_grads_batched=True)
    assert jacobian.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_04_08_an_edge_of_another_output(T: Any, leaf: Any) -> None:
    x = leaf()
    first, _ = x.unbind()
    (g,) = T.autograd.grad(T.autograd.graph.GradientEdge(first.grad_fn, 1), x)
    assert g.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("inputs", "kind"),
    [([1.0], "float"), ([None], "NoneType"), ("x", "str"), ([[1.0]], "list"), (np.ones(2), "numpy.float64")],
)
def test_04_04_the_named_are_tensors(T: Any, leaf: Any, raises: Any, inputs: Any, kind: str) -> None:
    x = leaf()
    y = (x * x).sum()
    message = f"all inputs have to be Tensors or GradientEdges, but got {kind}"
    with raises(RuntimeError, message):
        y.backward(inputs=inputs)
    with raises(RuntimeError, message):
        T.autograd.grad(y, inputs)
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_04_01_a_dict_stands_for_its_values(T: Any, leaf: Any, raises: Any) -> None:
    named = {"w": leaf(), "b": leaf([3.0, 4.0])}
    loss = (named["w"] * named["b"]).sum()
    found = T.autograd.grad(loss, named, retain_graph=True)
    assert {name: g.tolist() for name, g in found.items()} == {"w": [3.0, 4.0], "b": [1.0, 2.0]}
    loss.backward(inputs={"b": named["b"]}, retain_graph=True)
    assert named["w"].grad is None
    assert named["b"].grad.tolist() == [1.0, 2.0]
    with raises(RuntimeError, "all inputs have to be Tensors or GradientEdges, but got int"):
        T.autograd.grad(loss, {named["w"]: 1})
    with raises(RuntimeError, "`inputs` argument to `grad()` cannot be empty."):
        T.autograd.grad(loss, {})
    with raises(RuntimeError, "`inputs` argument to `backward()` cannot be empty."):
        loss.backward(inputs={})
