"""The executor: order, depth, resumption, threads."""

from __future__ import annotations

import threading
from typing import Any

import gradd_engine.backward.backward_op  # noqa: F401 - attaches Tensor.backward
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_engine.backward.backward_op import backward_op as backward
from gradd_engine.backward.executor import GraphTask
from gradd_engine.backward.grad_op import grad_op as grad
from gradd_engine.ops.shared.constants import ones_like, tensor
from gradd_engine.tensor.nodes import AccumulateGrad, Edge, Node, accumulator, edge_of


def leaf(values: Any) -> Any:
    return tensor(values, requires_grad=True)


class Pass(Node):
    """Hands its gradient on."""

    _name = "Pass"

    def __init__(self, edge: Edge) -> None:
        super().__init__()
        self.edges = (edge,)
        self.backend = NUMPY

    def apply(self, grads: list[Any]) -> list[Any]:
        return grads


def test_a_chain_of_a_million_nodes_needs_no_recursion() -> None:
    x = leaf(1.0)
    edge = Edge(accumulator(x), 0)
    for _ in range(1_000_000):
        edge = Edge(Pass(edge), 0)
    GraphTask([(edge, ones_like(x))], keep=False, create=False).run()
    assert x.grad.array.item() == 1.0


def test_a_deep_graph_of_real_ops_runs_and_dies_without_recursion() -> None:
    x = leaf([1.0, 2.0])
    y = x
    for _ in range(20_000):
        y = y + x
    y.sum().backward()
    assert x.grad.array.tolist() == [20_001.0, 20_001.0]
    del y


def test_ready_nodes_run_latest_created_first() -> None:
    x = leaf([1.0])
    order: list[str] = []
    first, second = x * 2.0, x * 3.0
    for name, t in (("first", first), ("second", second)):
        t.register_hook(lambda g, name=name: order.append(name))
    (first + second).backward()
    assert order == ["second", "first"]


def test_a_pass_can_be_left_between_nodes_and_taken_up_again() -> None:
    x = leaf([1.0, 2.0])
    y = ((x * 2.0).exp() + x).sum()
    edge = edge_of(y)
    assert edge is not None
    task = GraphTask([(edge, ones_like(y))], keep=True, create=False)
    steps = 0
    while not task.done:
        task.step()
        steps += 1
    assert steps == 5
    other = leaf([1.0, 2.0])
    ((other * 2.0).exp() + other).sum().backward()
    assert x.grad.array.tolist() == other.grad.array.tolist()


def test_threads_that_share_a_leaf_sum() -> None:
    x = leaf([0.0])

    def work() -> None:
        for _ in range(50):
            (x * 1.0).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x.grad.array.tolist() == [200.0]


def test_the_accumulator_is_one_node_while_a_graph_holds_it() -> None:
    x = leaf([1.0])
    y = x * 2.0
    assert y.grad_fn.next_functions[0][0] is accumulator(x)
    assert isinstance(accumulator(x), AccumulateGrad)
    assert accumulator(x).next_functions == ()


def test_inputs_limit_what_runs() -> None:
    a, b = leaf([1.0]), leaf([2.0])
    seen: list[float] = []
    middle = a * b
    middle.register_hook(lambda g: seen.append(g.array.item()))
    other = b.exp()
    other.register_hook(lambda g: seen.append(-1.0))
    backward([(middle + other).sum()], None, [a])
    assert a.grad.array.tolist() == [2.0]
    assert b.grad is None
    assert seen == [1.0]


def test_grad_of_a_gradient_of_a_gradient() -> None:
    x = leaf(2.0)
    y = x * x * x * x
    first = grad([y], [x], create_graph=True)[0]
    second = grad([first], [x], create_graph=True)[0]
    third = grad([second], [x])[0]
    assert (first.array.item(), second.array.item(), third.array.item()) == (32.0, 48.0, 48.0)


def test_the_gradient_of_a_full_sum_is_expanded_at_once() -> None:
    x, v = leaf([[1.0, 2.0]]), leaf(3.0)
    (g,) = grad([x.sum()], [x], [v], create_graph=True)
    assert g.array.tolist() == [[3.0, 3.0]]
    assert g.grad_fn.name() == "ExpandBackward0"
    assert g.grad_fn.next_functions == ((accumulator(v), 0),)


def test_a_gradient_kept_by_the_user_is_not_the_leafs() -> None:
    x = leaf([1.0, 2.0])
    seed = tensor([3.0, 4.0])
    (x + 0.0).backward(seed)
    x.grad.add_(1.0)
    assert seed.array.tolist() == [3.0, 4.0]
    a, b = leaf([1.0]), leaf([1.0])
    (a + b).backward()
    a.grad.mul_(5.0)
    assert b.grad.array.tolist() == [1.0]


def test_an_op_without_a_rule_says_so_when_a_pass_reaches_it() -> None:
    x = leaf([3.0])
    y = x.floor_divide(2.0)
    if y.grad_fn is None:
        pytest.fail("floor_divide of a tracked tensor is tracked")
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        y.backward()
