"""§11: hooks, with 2.6, 2.10, 5.10 and 9.5, which rest on them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest


def _ends(y: Any) -> Any:
    """The node that follows y's: a leaf's AccumulateGrad where y is the result of one operation on it."""
    return y.grad_fn.next_functions[0][0]


def _never(*gradients: Any) -> Any:
    raise AssertionError("this hook must not run")


def test_02_06_a_raising_hook_leaves_the_rest_alone(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x.exp()
    z = (y * y).sum()

    def fail(gradient: Any) -> None:
        raise KeyError("mine")

    handle = y.register_hook(fail)
    with pytest.raises(KeyError, match="mine"):
        T.autograd.backward(z, retain_graph=True)
    assert x.grad is None
    handle.remove()
    T.autograd.backward(z)
    assert x.grad is not None


def test_02_06_values_of_nodes_not_yet_executed_stay(T: Any, leaf: Any) -> None:
    x = leaf([0.0])
    y = x.exp()

    def fail(gradient: Any) -> None:
        raise KeyError

    handle = y.register_hook(fail)
    z = y + 1
    with pytest.raises(KeyError):
        T.autograd.backward(z)  # frees as it passes, and stops before exp
    handle.remove()
    T.autograd.backward(z)
    assert x.grad.tolist() == [1.0]


def test_02_10_backward_inside_a_hook(T: Any, leaf: Any) -> None:
    x, z = leaf(2.0), leaf(3.0)
    y, inner = x * 1, z * 5

    def again(gradient: Any) -> None:
        T.autograd.backward(inner)

    y.register_hook(again)
    T.autograd.backward(y * 7)
    assert x.grad.tolist() == 7.0
    assert z.grad.tolist() == 5.0


def test_05_10_tensor_hooks_run_in_autograd_grad(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x * 5
    x.register_hook(lambda gradient: gradient * 2)
    y.register_hook(lambda gradient: gradient * 3)
    y.retain_grad()
    (gradient,) = T.autograd.grad(y.sum(), x)
    assert gradient.tolist() == [30.0, 30.0]
    assert y.grad.tolist() == [3.0, 3.0]
    assert x.grad is None


def test_05_10_the_hooks_of_accumulation_do_not(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x * 5
    x.register_post_accumulate_grad_hook(_never)
    _ends(y).register_prehook(_never)
    _ends(y).register_hook(_never)
    (gradient,) = T.autograd.grad(y.sum(), x)
    assert gradient.tolist() == [5.0, 5.0]


def test_11_01_none_keeps_and_a_tensor_replaces(T: Any, leaf: Any) -> None:
    x, seen = leaf(), []
    y = x * 2

    def look(gradient: Any) -> None:
        seen.append(gradient.tolist())

    y.register_hook(look)
    y.register_hook(lambda gradient: gradient * 10)
    y.register_hook(look)
    T.autograd.backward(y.sum())
    assert seen == [[1.0, 1.0], [10.0, 10.0]]  # registration order
    assert x.grad.tolist() == [20.0, 20.0]


def test_11_01_once_a_pass_on_the_summed_gradient(T: Any, leaf: Any) -> None:
    x, seen = leaf(), []
    x.register_hook(lambda gradient: seen.append(gradient.tolist()))
    y = (x * 2 + x * 3).sum()
    T.autograd.backward(y, retain_graph=True)
    T.autograd.backward(y)
    assert seen == [[5.0, 5.0], [5.0, 5.0]]  # never the accumulated .grad
    assert x.grad.tolist() == [10.0, 10.0]


def test_11_01_on_the_root(T: Any, leaf: Any) -> None:
    x, seen = leaf(3.0), []
    y = x * 2
    y.register_hook(lambda gradient: seen.append(gradient.tolist()))
    T.autograd.backward(y)
    assert seen == [1.0]


def test_11_01_handles(T: Any, leaf: Any) -> None:
    x = leaf()
    handle = x.register_hook(_never)
    handle.remove()
    handle.remove()
    with x.register_hook(lambda gradient: gradient * 10):
        T.autograd.backward((x * 1).sum())
    T.autograd.backward((x * 1).sum())
    assert x.grad.tolist() == [11.0, 11.0]


def test_11_02_requires_grad_is_needed(T: Any, leaf: Any) -> None:
    with pytest.raises(RuntimeError) as caught:
        T.tensor([1.0]).register_hook(_never)
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
    T: Any, leaf: Any, hook: Callable[[Any], Any], kind: type[Exception], message: str
) -> None:
    x = leaf()
    x.register_hook(hook)
    with pytest.raises(kind) as caught:
        T.autograd.backward((x * 2).sum())
    assert caught.type is kind
    assert str(caught.value) == message
    assert x.grad is None


def test_11_02_exceptions_propagate_unchanged(T: Any, leaf: Any) -> None:
    x, mine = leaf(), KeyError("mine")

    def fail(gradient: Any) -> None:
        raise mine

    x.register_hook(fail)
    with pytest.raises(KeyError) as caught:
        T.autograd.backward((x * 2).sum())
    assert caught.value is mine


@pytest.mark.parametrize("retain_first", [True, False])
def test_11_03_retain_grad_sees_what_all_hooks_left(T: Any, leaf: Any, retain_first: bool) -> None:
    y = leaf() * 1
    if retain_first:
        y.retain_grad()
    y.register_hook(lambda gradient: gradient * 10)
    if not retain_first:
        y.retain_grad()
    y.register_hook(lambda gradient: gradient + 1)
    T.autograd.backward((y * 2).sum())
    assert y.grad.tolist() == [21.0, 21.0]


def test_11_04_an_in_place_operation_between(T: Any, leaf: Any) -> None:
    x, seen = leaf(), []
    y = x * 1
    y.retain_grad()
    y.register_hook(lambda gradient: seen.append(("old", gradient.tolist())))
    y.mul_(3)
    y.register_hook(lambda gradient: seen.append(("new", gradient.tolist())))
    T.autograd.backward((y * 2).sum())
    assert seen == [("new", [2.0, 2.0]), ("old", [6.0, 6.0])]
    assert y.grad.tolist() == [2.0, 2.0]
    assert x.grad.tolist() == [6.0, 6.0]


def test_11_05_order_at_a_leaf(T: Any, leaf: Any) -> None:
    x, seen = leaf(), []
    y = x * 2
    end = _ends(y)
    assert end.name() == "torch::autograd::AccumulateGrad"

    def note(what: str) -> None:
        seen.append((what, None if x.grad is None else x.grad.tolist()))

    end.register_hook(lambda inputs, outputs: note("posthook"))
    end.register_prehook(lambda outputs: note("prehook"))
    x.register_post_accumulate_grad_hook(lambda tensor: note("accumulated"))
    x.register_hook(lambda gradient: note("tensor"))
    T.autograd.backward(y.sum())
    assert seen == [
        ("tensor", None),
        ("prehook", None),
        ("accumulated", [2.0, 2.0]),
        ("posthook", [2.0, 2.0]),
    ]


def test_11_06_order_at_a_node(T: Any, leaf: Any) -> None:
    x, seen = leaf(), []
    y = x.exp() * x.sin()
    node = y.grad_fn

    def after(inputs: Any, outputs: Any) -> None:
        seen.append(f"posthook {len(inputs)} {len(outputs)} {outputs[0].tolist()}")

    node.register_hook(after)
    node.register_prehook(lambda outputs: seen.append(f"prehook {len(outputs)} {outputs[0].tolist()}"))
    y.register_hook(lambda gradient: gradient * 2)
    y.register_hook(lambda gradient: seen.append(f"tensor {gradient.tolist()}"))
    x.register_hook(lambda gradient: seen.append("leaf"))
    T.autograd.backward(y.sum())
    assert seen == ["tensor [2.0, 2.0]", "prehook 1 [2.0, 2.0]", "posthook 2 1 [2.0, 2.0]", "leaf"]


def test_11_06_node_hooks_replace(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x * 5
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] + 1,))
    T.autograd.backward(y.sum())
    assert x.grad.tolist() == [10.0, 10.0]
    z = x.exp()
    z.grad_fn.register_hook(lambda inputs, outputs: (outputs[0] * 7,))
    x.grad = None
    T.autograd.backward(z.sum())
    assert x.grad.tolist() == [7.0, 7.0]


def test_11_07_after_accumulation(T: Any, leaf: Any) -> None:
    x, seen = leaf(), []
    handle = x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.tolist())))
    y = (x * x).sum()
    T.autograd.backward(y, retain_graph=True)
    T.autograd.backward(y, retain_graph=True)
    handle.remove()
    T.autograd.backward(y)
    assert seen == [(True, [2.0, 4.0]), (True, [4.0, 8.0])]


def test_11_07_it_may_clear_or_change_grad(T: Any, leaf: Any) -> None:
    cleared, changed = leaf(), leaf()

    def clear(tensor: Any) -> None:
        tensor.grad = None

    def change(tensor: Any) -> None:
        tensor.grad.mul_(10)

    cleared.register_post_accumulate_grad_hook(clear)
    changed.register_post_accumulate_grad_hook(change)
    T.autograd.backward((cleared * changed).sum())
    assert cleared.grad is None
    assert changed.grad.tolist() == [10.0, 20.0]


def test_11_07_it_returns_none(T: Any, leaf: Any) -> None:
    x = leaf()
    x.register_post_accumulate_grad_hook(lambda tensor: 1)
    with pytest.raises(TypeError) as caught:
        T.autograd.backward((x * 2).sum())
    assert str(caught.value) == "expected Variable, but hook returned 'int'"


def test_11_07_leaves_that_require_grad_only(T: Any, leaf: Any) -> None:
    with pytest.raises(RuntimeError) as caught:
        (leaf() * 2).register_post_accumulate_grad_hook(_never)
    assert str(caught.value) == "post accumulate grad hooks cannot be registered on non-leaf tensors"
    with pytest.raises(RuntimeError) as caught:
        T.tensor([1.0]).register_post_accumulate_grad_hook(_never)
    assert str(caught.value) == "cannot register a hook on a tensor that doesn't require gradient"


def test_09_05_hooks_run_in_the_mode_of_the_pass(T: Any, leaf: Any) -> None:
    x, seen = leaf(), []
    x.register_hook(lambda gradient: seen.append((T.is_grad_enabled(), gradient.requires_grad)))
    (x * x).sum().backward()
    with T.no_grad():
        y = _square(T, x)
        T.autograd.grad(y, [x], T.ones(2), create_graph=True)
    assert seen == [(False, False), (True, True)]


def _square(T: Any, x: Any) -> Any:
    with T.enable_grad():
        return x * x


def test_11_01_a_hook_follows_what_it_closes_over(leaf: Any) -> None:
    x, scale = leaf(), [2.0]
    x.register_hook(lambda gradient: gradient * scale[0])
    (x * 1).sum().backward()
    scale[0] = 5.0
    (x * 1).sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]


def test_11_01_reading_a_value_inside(leaf: Any) -> None:
    x, history = leaf(), []

    def hook(gradient: Any) -> Any:
        history.append(gradient)
        if gradient.sum().item() > 10:
            return gradient / 10
        return None

    y = x * 3
    y.register_hook(hook)
    for k in (1.0, 20.0):
        (y * k).sum().backward(retain_graph=True)
    assert [g.tolist() for g in history] == [[1.0, 1.0], [20.0, 20.0]]
    assert x.grad.tolist() == [9.0, 9.0]


def test_11_01_printing_inside(leaf: Any, capsys: Any) -> None:
    x = leaf()
    x.register_hook(lambda gradient: print(gradient))
    (x * 2).sum().backward()
    assert capsys.readouterr().out == "tensor([2., 2.])\n"


def test_11_01_every_tenth_step(leaf: Any) -> None:
    x, seen, step = leaf(), [], 0

    def hook(gradient: Any) -> None:
        if step % 10 == 0:
            seen.append(gradient.tolist())

    x.register_hook(hook)
    for step in range(21):
        (x * step).sum().backward()
    assert seen == [[0.0, 0.0], [10.0, 10.0], [20.0, 20.0]]


def test_11_01_a_hook_may_be_differentiated(T: Any, leaf: Any) -> None:
    x, w = leaf(), leaf([3.0, 4.0])
    y = x * x
    y.register_hook(lambda gradient: gradient * w)
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    assert g.tolist() == [6.0, 16.0]
    assert w.grad.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [6.0, 8.0]


def test_11_07_what_it_may_return(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    x.register_post_accumulate_grad_hook(lambda t: t)
    (x * x).sum().backward()
    for hook, message in (
        (lambda t: T.zeros(2), "Tensor post accumulate grad hooks should return None."),
        (lambda t: t.sum(), "hook '<lambda>' has changed the size of value"),
    ):
        with x.register_post_accumulate_grad_hook(hook), raises(RuntimeError, message):
            (x * x).sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_11_01_the_handle_is_a_removable_handle(T: Any, leaf: Any) -> None:
    handle = leaf().register_hook(lambda g: None)
    assert isinstance(handle, T.utils.hooks.RemovableHandle)
    assert type(handle).__name__ == "RemovableHandle"


@pytest.mark.parametrize("through", ["base", "view"])
def test_11_04_a_retained_gradient_of_a_view_follows_it(leaf: Any, through: str) -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    v = y[:2]
    v.retain_grad()
    (y if through == "base" else v).mul_(2)
    (v.sum() * 2 + y.sum()).backward()
    assert v.grad.tolist() == [2.0, 2.0]
    assert x.grad.tolist() == [6.0, 6.0, 2.0 if through == "base" else 1.0]
