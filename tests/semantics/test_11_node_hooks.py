"""§11.8-11.11: hooks of nodes, of several tensors, and registered during a pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.semantics.functions import given


def _never(*gradients: Any) -> Any:
    raise AssertionError("this hook must not run")


@pytest.mark.parametrize(
    ("hook", "kind", "message"),
    [
        (lambda outputs: outputs[0], TypeError, "expected tuple, but hook returned 'Tensor'"),
        (
            lambda outputs: (outputs[0], outputs[0]),
            RuntimeError,
            "hook '<lambda>' has returned an incorrect number of values (got 2, but expected 1)",
        ),
        (lambda outputs: (1.5,), TypeError, "expected Variable, but hook returned 'float'"),
        (
            lambda outputs: (outputs[0].sum(),),
            RuntimeError,
            "hook '<lambda>' has changed the size of value",
        ),
    ],
)
def test_11_08_what_a_prehook_may_return(
    leaf: Any, raises: Any, hook: Callable[[Any], Any], kind: type[Exception], message: str
) -> None:
    y = leaf() * 2
    y.grad_fn.register_prehook(hook)
    with raises(kind, message):
        y.sum().backward()


@pytest.mark.parametrize(
    ("hook", "kind", "message"),
    [
        (lambda inputs, outputs: inputs[0], TypeError, "expected tuple, but hook returned 'Tensor'"),
        (
            lambda inputs, outputs: (inputs[0],),
            RuntimeError,
            "hook '<lambda>' has returned an incorrect number of values (got 1, but expected 2)",
        ),
        (
            lambda inputs, outputs: (inputs[0], "slope"),
            TypeError,
            "expected Variable, but hook returned 'str'",
        ),
        (
            lambda inputs, outputs: (inputs[0].double(), inputs[1]),
            RuntimeError,
            "hook '<lambda>' has changed the type of value (was torch.FloatTensor got torch.DoubleTensor)",
        ),
    ],
)
def test_11_08_what_a_hook_may_return(
    leaf: Any, raises: Any, hook: Callable[[Any], Any], kind: type[Exception], message: str
) -> None:
    y = leaf() * leaf()
    y.grad_fn.register_hook(hook)
    with raises(kind, message):
        y.sum().backward()


def test_11_08_a_gradient_that_is_none_stays_none(T: Any, leaf: Any, raises: Any) -> None:
    y = leaf() * T.tensor([5.0, 6.0])
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0], outputs[0]))
    with raises(RuntimeError, "can't replace a None gradient with a non-None value"):
        y.sum().backward()


def test_11_08_inputs_that_need_none_are_none(T: Any, leaf: Any) -> None:
    seen: list[Any] = []
    y = leaf() * T.tensor([5.0, 6.0])
    y.grad_fn.register_hook(
        lambda inputs, outputs: seen.append([None if g is None else g.tolist() for g in inputs])
    )
    y.sum().backward()
    assert seen == [[[5.0, 6.0], None]]


def test_11_08_a_functions_gradients_come_as_its_backward_returned_them(T: Any, leaf: Any) -> None:
    seen: list[Any] = []
    y = given(T, lambda ctx, g: (g, g * 2), lambda ctx, x, z: x * 1).apply(leaf(), T.ones(2))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append([g.tolist() for g in inputs]))
    y.sum().backward()
    assert seen == [[[1.0, 1.0], [2.0, 2.0]]]


def test_11_08_handles(leaf: Any) -> None:
    y = leaf() * 2
    first, second = y.grad_fn.register_prehook(_never), y.grad_fn.register_hook(_never)
    first.remove()
    first.remove()
    with second:
        assert y.grad_fn.name() == "MulBackward0"
    y.sum().backward()


def test_11_09_grad_for_a_tensor_runs_its_hooks_alone(T: Any, leaf: Any) -> None:
    y = leaf() * 2
    y.register_hook(lambda gradient: gradient * 3)
    y.grad_fn.register_prehook(_never)
    (g,) = T.autograd.grad((y * y).sum(), y)
    assert g.tolist() == [12.0, 24.0]


def test_11_10_all_gradients_at_once(T: Any, leaf: Any) -> None:
    a, b, c, seen = leaf(), leaf(), leaf(), []
    handle = T.autograd.graph.register_multi_grad_hook(
        [a, b, c], lambda grads: seen.append([None if g is None else g.tolist() for g in grads])
    )
    (a * 2 + b * 3).sum().backward()
    (c * 4).sum().backward()
    handle.remove()
    (a + b + c).sum().backward()
    assert seen == [[[2.0, 2.0], [3.0, 3.0], None], [None, None, [4.0, 4.0]]]


def test_11_10_the_first_gradient(T: Any, leaf: Any) -> None:
    a, seen = leaf(), []
    b = a * 2
    T.autograd.graph.register_multi_grad_hook([a, b], lambda g: seen.append(g.tolist()), mode="any")
    (b * 5).sum().backward()
    (a * 3).sum().backward()
    assert seen == [[5.0, 5.0], [3.0, 3.0]]


def test_11_10_another_mode(T: Any, leaf: Any, raises: Any) -> None:
    with raises(ValueError, "Expects mode to be one of ('all', 'any') but got foo"):
        T.autograd.graph.register_multi_grad_hook([leaf()], _never, mode="foo")


def test_11_11_hooks_registered_during_a_pass_run_from_the_next(leaf: Any) -> None:
    x, seen = leaf(), []

    def outer(gradient: Any) -> None:
        seen.append("outer")
        if len(seen) == 1:
            x.register_hook(lambda g: seen.append("inner"))

    x.register_hook(outer)
    y = (x * 2).sum()
    y.backward(retain_graph=True)
    assert seen == ["outer"]
    y.backward()
    assert seen == ["outer", "outer", "inner"]


def test_11_10_a_tensor_that_needs_no_gradient(T: Any, leaf: Any, raises: Any) -> None:
    x, constant, seen = leaf(), T.tensor(1.0), []
    with raises(AssertionError, "Expected gradient function to be set"):
        T.autograd.graph.register_multi_grad_hook((x, constant), _never)
    (x * 2).sum().backward()
    T.autograd.graph.register_multi_grad_hook((constant, x), lambda g: seen.append(g.tolist()), mode="any")
    (x * 3).sum().backward()
    assert seen == [[3.0, 3.0]]


def test_11_10_leaves_of_autograd_grad(T: Any, leaf: Any, raises: Any) -> None:
    x, z = leaf(), leaf()
    T.autograd.graph.register_multi_grad_hook((x, z), _never)
    message = (
        "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). "
        "This is currently not supported."
    )
    with raises(RuntimeError, message):
        T.autograd.grad((x * z).sum(), x)


def test_11_10_a_pass_within_a_pass_gathers_for_itself(T: Any, leaf: Any) -> None:
    x, z, seen = leaf([1.0]), leaf([2.0]), []
    inner = (x * z * 5).sum()

    def nested(g: Any) -> None:
        handle.remove()
        inner.backward()

    T.autograd.graph.register_multi_grad_hook((x, z), lambda gs: seen.append([g.tolist() for g in gs]))
    y = z * 1
    handle = y.register_hook(nested)
    (x + y).sum().backward()
    assert seen == [[[10.0], [5.0]], [[1.0], [1.0]]]
