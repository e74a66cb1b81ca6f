"""§2: how long a graph lives, and in what order it runs."""

from __future__ import annotations

import threading
from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:Using backward")

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time "
    "or if you need to access saved tensors after calling backward."
)
STALE = "one of the variables needed for gradient computation has been modified by an inplace operation: …"
CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
    "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to "
    "avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters "
    "to None after use to break the cycle and avoid the leak."
)


def test_02_01_retain_graph_defaults_to_create_graph(leaf: Any, raises: Any) -> None:
    x = leaf(3.0)
    y = x * x
    y.backward(create_graph=True)
    y.backward()
    with raises(RuntimeError, FREED):
        y.backward()


def test_02_01_create_graph_without_retain_graph_frees(leaf: Any, raises: Any) -> None:
    x = leaf(3.0)
    y = x * x
    y.backward(create_graph=True, retain_graph=False)
    assert x.grad.requires_grad
    with raises(RuntimeError, FREED):
        y.backward()


def test_02_02_a_second_pass_raises(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    y = (x * x).sum()
    y.backward()
    with raises(RuntimeError, FREED):
        y.backward()
    with raises(RuntimeError, FREED):
        T.autograd.grad(y, x)
    assert x.grad.tolist() == [2.0, 4.0]


def test_02_02_retain_graph_allows_it(leaf: Any) -> None:
    x = leaf()
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_02_03_what_saved_nothing_can_be_walked_again(leaf: Any) -> None:
    x = leaf()
    y = (x + x).view(2, 1).sum()
    for _ in range(3):
        y.backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_02_03_a_python_factor_is_saved(leaf: Any, raises: Any) -> None:
    y = leaf(1.0) * 2
    y.backward()
    with raises(RuntimeError, FREED):
        y.backward()


def test_02_04_a_shared_part_freed_through_one_root(leaf: Any, raises: Any) -> None:
    shared = leaf(1.0) * 2
    first, second = shared + 1, shared + 2
    first.backward()
    with raises(RuntimeError, FREED):
        second.backward()


def test_02_04_disjoint_graphs_over_one_leaf(leaf: Any) -> None:
    x = leaf(1.0)
    first, second = x * 2, x * 3
    first.backward()
    second.backward()
    assert x.grad.item() == 5.0


def test_02_05_latest_created_runs_first_and_nothing_is_rolled_back(leaf: Any, raises: Any) -> None:
    a, b = leaf([0.0]), leaf([0.0])
    u = a.exp()
    v = b.exp()
    loss = u.sum() + v.sum()
    u.add_(1)  # a's exp, older than b's, can no longer be differentiated
    with raises(RuntimeError, STALE):
        loss.backward()
    assert b.grad.tolist() == [1.0]
    assert a.grad is None


def test_02_05_leaves_behind_the_raising_node_get_nothing(leaf: Any, raises: Any) -> None:
    a, b = leaf([0.0]), leaf([0.0])
    u = a.exp()
    v = b.exp()
    loss = u.sum() + v.sum()
    v.add_(1)
    with raises(RuntimeError, STALE):
        loss.backward()
    assert a.grad is None
    assert b.grad is None


def test_02_07_saved_values_are_gone(leaf: Any, raises: Any) -> None:
    x = leaf([0.0])
    y = x.exp()
    assert y.grad_fn._saved_result.tolist() == [1.0]
    y.backward()
    with raises(RuntimeError, FREED):
        _ = y.grad_fn._saved_result


SCRIPT = """
import warnings
import {module} as torch
{connect}
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    x = torch.tensor(3.0, requires_grad=True)
    torch.autograd.grad(x * x, x, create_graph=True)
    assert not seen, seen
    for _ in range(2):
        (x * x).backward(create_graph=True)
print(len(seen), seen[0].category.__name__, seen[0].message)
"""


def test_02_08_create_graph_warns_once_per_process(alone: Any) -> None:
    assert alone(SCRIPT).startswith(f"1 UserWarning {CYCLE}")


def test_02_09_a_constant_gradient_is_not_tracked(leaf: Any, raises: Any) -> None:
    x = leaf(1.0)
    (2 * x).backward(create_graph=True)
    assert not x.grad.requires_grad
    with raises(RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn"):
        x.grad.backward()


def test_02_09_any_other_is(leaf: Any) -> None:
    x = leaf(3.0)
    (x * x * x).backward(create_graph=True)
    gradient = x.grad
    assert gradient.requires_grad
    x.grad = None
    gradient.backward()
    assert x.grad.item() == 18.0


def test_02_10_deep_graphs_do_not_recurse(leaf: Any) -> None:
    x = leaf(0.0)
    y = x
    for _ in range(50_000):
        y = y + 1
    y.backward()
    assert y.item() == 50_000.0
    assert x.grad.item() == 1.0


def test_02_10_threads_sum_into_one_leaf(leaf: Any) -> None:
    x = leaf()
    failures: list[BaseException] = []

    def work(factor: float) -> None:
        try:
            for _ in range(5):
                (x * factor).sum().backward()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(float(factor),)) for factor in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert x.grad.tolist() == [50.0, 50.0]


def test_02_11_mode_of_the_caller_does_not_matter(T: Any, leaf: Any) -> None:
    x = leaf(3.0)
    y = x * x
    with T.no_grad():
        y.backward(create_graph=True)
        assert x.grad.requires_grad
        (second,) = T.autograd.grad(x.grad, x)
    assert x.grad.item() == 6.0
    assert second.item() == 2.0
    assert not second.requires_grad
