"""§11.1-11.7 on the engine's tensors and on PyTorch's, the oracle; with 2.6, 2.10, 5.10, which rest on hooks.

Tests are named by their item of the acceptance inventory, as in tests/semantics.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest


class Engine(NamedTuple):
    """The few functions these tests need, of PyTorch or of the engine; methods and operators are the same."""

    tensor: Callable[..., Any]
    backward: Callable[..., None]
    grad: Callable[..., Any]
    values: Callable[[Any], Any]


def _oracle() -> Engine:
    torch = pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    return Engine(torch.tensor, torch.autograd.backward, torch.autograd.grad, torch.Tensor.tolist)


def _engine() -> Engine:
    from gradd_engine import autograd, ops

    def backward(root: Any, **options: Any) -> None:
        autograd.backward([root], **options)

    def grad(output: Any, source: Any) -> Any:
        return autograd.grad([output], [source])

    return Engine(ops.create.tensor, backward, grad, lambda t: t.array.tolist())


@pytest.fixture(
    params=[pytest.param(_oracle, id="torch", marks=pytest.mark.oracle), pytest.param(_engine, id="engine")]
)
def E(request: pytest.FixtureRequest) -> Engine:
    """What is under test: `torch`, or the engine."""
    made: Engine = request.param()
    return made


def _leaf(E: Engine, values: Any = (1.0, 2.0)) -> Any:
    return E.tensor(values, requires_grad=True)


def _ends(y: Any) -> Any:
    """The node that follows y's: a leaf's AccumulateGrad where y is the result of one operation on it."""
    return y.grad_fn.next_functions[0][0]


def _never(*gradients: Any) -> Any:
    raise AssertionError("this hook must not run")


def test_02_06_a_raising_hook_leaves_the_rest_alone(E: Engine) -> None:
    x = _leaf(E)
    y = x.exp()
    z = (y * y).sum()

    def fail(gradient: Any) -> None:
        raise KeyError("mine")

    handle = y.register_hook(fail)
    with pytest.raises(KeyError, match="mine"):
        E.backward(z, retain_graph=True)
    assert x.grad is None
    handle.remove()
    E.backward(z)
    assert x.grad is not None


def test_02_06_values_of_nodes_not_yet_executed_stay(E: Engine) -> None:
    x = _leaf(E, [0.0])
    y = x.exp()

    def fail(gradient: Any) -> None:
        raise KeyError

    handle = y.register_hook(fail)
    z = y + 1
    with pytest.raises(KeyError):
        E.backward(z)  # frees as it passes, and stops before exp
    handle.remove()
    E.backward(z)
    assert E.values(x.grad) == [1.0]


def test_02_10_backward_inside_a_hook(E: Engine) -> None:
    x, z = _leaf(E, 2.0), _leaf(E, 3.0)
    y, inner = x * 1, z * 5

    def again(gradient: Any) -> None:
        E.backward(inner)

    y.register_hook(again)
    E.backward(y * 7)
    assert E.values(x.grad) == 7.0
    assert E.values(z.grad) == 5.0


def test_05_10_tensor_hooks_run_in_autograd_grad(E: Engine) -> None:
    x = _leaf(E)
    y = x * 5
    x.register_hook(lambda gradient: gradient * 2)
    y.register_hook(lambda gradient: gradient * 3)
    y.retain_grad()
    (gradient,) = E.grad(y.sum(), x)
    assert E.values(gradient) == [30.0, 30.0]
    assert E.values(y.grad) == [3.0, 3.0]
    assert x.grad is None


def test_05_10_the_hooks_of_accumulation_do_not(E: Engine) -> None:
    x = _leaf(E)
    y = x * 5
    x.register_post_accumulate_grad_hook(_never)
    _ends(y).register_prehook(_never)
    _ends(y).register_hook(_never)
    (gradient,) = E.grad(y.sum(), x)
    assert E.values(gradient) == [5.0, 5.0]


def test_11_01_none_keeps_and_a_tensor_replaces(E: Engine) -> None:
    x, seen = _leaf(E), []
    y = x * 2

    def look(gradient: Any) -> None:
        seen.append(E.values(gradient))

    y.register_hook(look)
    y.register_hook(lambda gradient: gradient * 10)
    y.register_hook(look)
    E.backward(y.sum())
    assert seen == [[1.0, 1.0], [10.0, 10.0]]  # registration order
    assert E.values(x.grad) == [20.0, 20.0]


def test_11_01_once_a_pass_on_the_summed_gradient(E: Engine) -> None:
    x, seen = _leaf(E), []
    x.register_hook(lambda gradient: seen.append(E.values(gradient)))
    y = (x * 2 + x * 3).sum()
    E.backward(y, retain_graph=True)
    E.backward(y)
    assert seen == [[5.0, 5.0], [5.0, 5.0]]  # never the accumulated .grad
    assert E.values(x.grad) == [10.0, 10.0]


def test_11_01_on_the_root(E: Engine) -> None:
    x, seen = _leaf(E, 3.0), []
    y = x * 2
    y.register_hook(lambda gradient: seen.append(E.values(gradient)))
    E.backward(y)
    assert seen == [1.0]


def test_11_01_handles(E: Engine) -> None:
    x = _leaf(E)
    handle = x.register_hook(_never)
    handle.remove()
    handle.remove()
    with x.register_hook(lambda gradient: gradient * 10):
        E.backward((x * 1).sum())
    E.backward((x * 1).sum())
    assert E.values(x.grad) == [11.0, 11.0]


def test_11_02_requires_grad_is_needed(E: Engine) -> None:
    with pytest.raises(RuntimeError) as caught:
        E.tensor([1.0]).register_hook(_never)
    assert str(caught.value) == "cannot register a hook on a tensor that doesn't require gradient"


def _three(gradient: Any) -> Any:
    """A named hook that changes the size."""
    return gradient.reshape(2, 1).expand(2, 2)


@pytest.mark.parametrize(
    ("hook", "kind", "message"),
    [
        (lambda g: g[:1], RuntimeError, "hook '<lambda>' has changed the size of value"),
        (_three, RuntimeError, "hook '_three' has changed the size of value"),
        (functools.partial(_three), RuntimeError, "hook '<unknown>' has changed the size of value"),
        (
            lambda g: g.double(),
            RuntimeError,
            "hook '<lambda>' has changed the type of value (was torch.FloatTensor got torch.DoubleTensor)",
        ),
        (lambda g: "text", TypeError, "expected Variable, but hook returned 'str'"),
        (lambda g: 1.0, TypeError, "expected Variable, but hook returned 'float'"),
    ],
)
def test_11_02_what_a_hook_may_return(
    E: Engine, hook: Callable[[Any], Any], kind: type[Exception], message: str
) -> None:
    x = _leaf(E)
    x.register_hook(hook)
    with pytest.raises(kind) as caught:
        E.backward((x * 2).sum())
    assert caught.type is kind
    assert str(caught.value) == message
    assert x.grad is None


def test_11_02_exceptions_propagate_unchanged(E: Engine) -> None:
    x, mine = _leaf(E), KeyError("mine")

    def fail(gradient: Any) -> None:
        raise mine

    x.register_hook(fail)
    with pytest.raises(KeyError) as caught:
        E.backward((x * 2).sum())
    assert caught.value is mine


@pytest.mark.parametrize("retain_first", [True, False])
def test_11_03_retain_grad_sees_what_all_hooks_left(E: Engine, retain_first: bool) -> None:
    y = _leaf(E) * 1
    if retain_first:
        y.retain_grad()
    y.register_hook(lambda gradient: gradient * 10)
    if not retain_first:
        y.retain_grad()
    y.register_hook(lambda gradient: gradient + 1)
    E.backward((y * 2).sum())
    assert E.values(y.grad) == [21.0, 21.0]


def test_11_04_an_in_place_operation_between(E: Engine) -> None:
    x, seen = _leaf(E), []
    y = x * 1
    y.retain_grad()
    y.register_hook(lambda gradient: seen.append(("old", E.values(gradient))))
    y.mul_(3)
    y.register_hook(lambda gradient: seen.append(("new", E.values(gradient))))
    E.backward((y * 2).sum())
    assert seen == [("new", [2.0, 2.0]), ("old", [6.0, 6.0])]
    assert E.values(y.grad) == [2.0, 2.0]
    assert E.values(x.grad) == [6.0, 6.0]


def test_11_05_order_at_a_leaf(E: Engine) -> None:
    x, seen = _leaf(E), []
    y = x * 2
    end = _ends(y)
    assert end.name() == "torch::autograd::AccumulateGrad"

    def note(what: str) -> None:
        seen.append((what, None if x.grad is None else E.values(x.grad)))

    end.register_hook(lambda inputs, outputs: note("posthook"))
    end.register_prehook(lambda outputs: note("prehook"))
    x.register_post_accumulate_grad_hook(lambda tensor: note("accumulated"))
    x.register_hook(lambda gradient: note("tensor"))
    E.backward(y.sum())
    assert seen == [
        ("tensor", None),
        ("prehook", None),
        ("accumulated", [2.0, 2.0]),
        ("posthook", [2.0, 2.0]),
    ]


def test_11_06_order_at_a_node(E: Engine) -> None:
    x, seen = _leaf(E), []
    y = x.exp() * x.sin()
    node = y.grad_fn

    def after(inputs: Any, outputs: Any) -> None:
        seen.append(f"posthook {len(inputs)} {len(outputs)} {E.values(outputs[0])}")

    node.register_hook(after)
    node.register_prehook(lambda outputs: seen.append(f"prehook {len(outputs)} {E.values(outputs[0])}"))
    y.register_hook(lambda gradient: gradient * 2)
    y.register_hook(lambda gradient: seen.append(f"tensor {E.values(gradient)}"))
    x.register_hook(lambda gradient: seen.append("leaf"))
    E.backward(y.sum())
    assert seen == ["tensor [2.0, 2.0]", "prehook 1 [2.0, 2.0]", "posthook 2 1 [2.0, 2.0]", "leaf"]


def test_11_06_node_hooks_replace(E: Engine) -> None:
    x = _leaf(E)
    y = x * 5
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] + 1,))
    E.backward(y.sum())
    assert E.values(x.grad) == [10.0, 10.0]
    z = x.exp()
    z.grad_fn.register_hook(lambda inputs, outputs: (outputs[0] * 7,))
    x.grad = None
    E.backward(z.sum())
    assert E.values(x.grad) == [7.0, 7.0]


def test_11_07_after_accumulation(E: Engine) -> None:
    x, seen = _leaf(E), []
    handle = x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, E.values(t.grad))))
    y = (x * x).sum()
    E.backward(y, retain_graph=True)
    E.backward(y, retain_graph=True)
    handle.remove()
    E.backward(y)
    assert seen == [(True, [2.0, 4.0]), (True, [4.0, 8.0])]


def test_11_07_it_may_clear_or_change_grad(E: Engine) -> None:
    cleared, changed = _leaf(E), _leaf(E)

    def clear(tensor: Any) -> None:
        tensor.grad = None

    def change(tensor: Any) -> None:
        tensor.grad.mul_(10)

    cleared.register_post_accumulate_grad_hook(clear)
    changed.register_post_accumulate_grad_hook(change)
    E.backward((cleared * changed).sum())
    assert cleared.grad is None
    assert E.values(changed.grad) == [10.0, 20.0]


def test_11_07_it_returns_none(E: Engine) -> None:
    x = _leaf(E)
    x.register_post_accumulate_grad_hook(lambda tensor: 1)
    with pytest.raises(TypeError) as caught:
        E.backward((x * 2).sum())
    assert str(caught.value) == "expected Variable, but hook returned 'int'"


def test_11_07_leaves_that_require_grad_only(E: Engine) -> None:
    with pytest.raises(RuntimeError) as caught:
        (_leaf(E) * 2).register_post_accumulate_grad_hook(_never)
    assert str(caught.value) == "post accumulate grad hooks cannot be registered on non-leaf tensors"
    with pytest.raises(RuntimeError) as caught:
        E.tensor([1.0]).register_post_accumulate_grad_hook(_never)
    assert str(caught.value) == "cannot register a hook on a tensor that doesn't require gradient"
