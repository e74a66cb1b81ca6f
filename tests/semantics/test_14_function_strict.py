"""§14: what PyTorch refuses in a Function, and the corners of marks, names of arguments and freed values."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def function(T: Any) -> Callable[..., Any]:
    """`function(forward, backward, **members)`: a Function of these staticmethods."""

    def make(forward: Any, backward: Any, **members: Any) -> Any:
        members.update(forward=forward, backward=backward)
        return type("Own", (T.autograd.Function,), {k: staticmethod(f) for k, f in members.items()})

    return make


def _doubled(ctx: Any, x: Any) -> Any:
    return x * 2


def _passed(ctx: Any, g: Any) -> Any:
    return g


def _in_place(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x.mul_(2)


def _doubled_gradient(ctx: Any, g: Any) -> Any:
    return g * 2


def test_14_01_names_of_arguments(T: Any, leaf: Any, function: Any, raises: Any) -> None:
    def forward(ctx: Any, x: Any, factor: float = 2.0, negate: bool = False, *, shift: float = 0.0) -> Any:
        ctx.factor = -factor if negate else factor
        return x * ctx.factor

    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.factor, *[None] * (len(ctx.needs_input_grad) - 1)

    scaled, x = function(forward, backward), leaf()
    scaled.apply(x, negate=True, factor=3.0).sum().backward()
    scaled.apply(factor=5.0, x=x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    for given, message in (
        ({"shift": 1.0}, "forward() got an unexpected keyword argument 'shift'"),
        ({"other": 1.0}, "forward() got an unexpected keyword argument 'other'"),
        ({"x": x}, "forward() got multiple values for argument 'x'"),
        ({"negate": True}, "forward() missing required argument: 'factor' (position 1)"),
    ):
        with raises(TypeError, message):
            scaled.apply(x, **given)


def test_14_12_setup_context_is_given_defaults(T: Any, leaf: Any, function: Any, raises: Any) -> None:
    seen: list[Any] = []

    def forward(x: Any, factor: float = 2.0) -> Any:
        return x * factor

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        seen.append((len(inputs), inputs[1], ctx.needs_input_grad))

    scaled = function(forward, lambda ctx, g: (g * 2, None), setup_context=setup_context)
    x = leaf()
    scaled.apply(x).sum().backward()
    scaled.apply(x=x, factor=4.0)
    assert seen == [(2, 2.0, (True, False)), (2, 4.0, (True, False))]
    with raises(TypeError, "missing a required argument: 'x'"):
        scaled.apply()
    with raises(TypeError, "got an unexpected keyword argument 'other'"):
        scaled.apply(x, other=1)


def test_14_01_an_instance_warns(function: Any, warns: Any) -> None:
    made = function(_doubled, _passed)
    message = (
        f"{made} should not be instantiated. Methods on autograd functions are all static, so you should "
        "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
        "version of PyTorch."
    )
    with warns(DeprecationWarning, message):
        made()


def test_14_02_not_by_both_names(leaf: Any, function: Any, raises: Any) -> None:
    y = function(_doubled, _passed, vjp=_passed).apply(leaf())
    message = (
        "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
        "implement one of them."
    )
    with raises(RuntimeError, message):
        y.sum().backward()


def test_14_04_a_complex_gradient_of_a_real_input(T: Any, leaf: Any, function: Any, raises: Any) -> None:
    y = function(_doubled, lambda ctx, g: g.to(T.complex64)).apply(leaf())
    with raises(RuntimeError, "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == …"):
        y.sum().backward()


def test_14_07_an_input_that_is_not_differentiable(leaf: Any, function: Any, raises: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_non_differentiable(x)
        return x

    x = leaf()
    y = function(forward, _passed).apply(x)
    assert not y.requires_grad
    assert x.requires_grad

    def marks(ctx: Any, x: Any) -> Any:
        ctx.mark_non_differentiable("x")
        return x * 1

    with raises(RuntimeError, "mark_non_differentiable only accepts variable arguments, but …"):
        function(marks, _passed).apply(x)


def test_14_08_versions_count_marks(T: Any, leaf: Any, function: Any) -> None:
    double = function(_in_place, _doubled_gradient)
    plain = T.ones(2)
    assert double.apply(plain) is plain
    assert plain._version == 2
    x = leaf()
    with T.no_grad():
        y = double.apply(x)
    assert (y.requires_grad, x.requires_grad, x._version) == (False, True, 2)
    assert x.tolist() == y.tolist() == [2.0, 4.0]


def test_14_08_views_that_may_not_be_written_to(leaf: Any, function: Any, raises: Any) -> None:
    double = function(_in_place, _doubled_gradient)
    with raises(
        RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation."
    ):
        double.apply(leaf()[:1])
    message = (
        "Output 0 of Split is a view and is being modified inplace. This view is the output of a function "
        "that returns multiple views. …"
    )
    first, _ = (leaf() * 1).split(1)
    with raises(RuntimeError, message):
        double.apply(first)


def test_14_08_marks_of_what_is_no_input(leaf: Any, function: Any, warns: Any, raises: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        ctx.mark_dirty(y)
        return y

    x = leaf()
    message = (
        "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
        "should be passed to ctx.mark_dirty().…"
    )
    with warns(UserWarning, message):
        y = function(forward, _doubled_gradient).apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]

    def marks(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(3)
        return x * 1

    with raises(RuntimeError, "mark_dirty can only accept variables, but argument …"):
        function(marks, _passed).apply(x)


def test_14_09_several_views_made_inside(leaf: Any, function: Any, raises: Any) -> None:
    views = function(lambda ctx, x: (x[:1], x[1:]), lambda ctx, g, h: None)
    first, _ = views.apply(leaf() * 1)
    message = (
        "Output 0 of Own is a view and is being modified inplace. This view is the output of a function that "
        "returns multiple views. …"
    )
    with raises(RuntimeError, message):
        first.add_(1)


def test_14_10_freed_also_where_nothing_was_saved(leaf: Any, function: Any, raises: Any) -> None:
    seen: list[Any] = []
    y = function(_doubled, lambda ctx, g: (seen.append(ctx.saved_tensors), g)[1]).apply(leaf())
    y.sum().backward()
    with raises(RuntimeError, "Trying to backward through the graph a second time …"):
        y.sum().backward()
    assert seen == [()]


def test_14_10_the_old_name_of_saved_tensors(leaf: Any, function: Any, warns: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    x = leaf()
    y = function(forward, _passed).apply(x)
    with warns(DeprecationWarning, "'saved_variables' is deprecated; use 'saved_tensors'"):
        (found,) = y.grad_fn.saved_variables
    assert found is x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y.sum().backward()


def test_14_08_retained_gradients_follow_what_is_written(leaf: Any, function: Any) -> None:
    y = leaf() * 1
    y.retain_grad()
    function(_in_place, _doubled_gradient).apply(y)
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


def test_14_06_hooks_see_gradients_that_nobody_needs(T: Any, leaf: Any, function: Any) -> None:
    product = function(lambda ctx, x, y: x * y, lambda ctx, g: (g * 2, g * 3))
    y, seen = product.apply(leaf(), T.ones(2)), []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append([g.tolist() for g in inputs]))
    y.sum().backward()
    assert seen == [[[2.0, 2.0], [3.0, 3.0]]]
