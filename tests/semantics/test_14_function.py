"""§14: autograd.Function, whose forward and backward are Python here and whose node is the session's."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.semantics.functions import exponential, given, square


def test_14_01_apply_and_the_name(T: Any, leaf: Any) -> None:
    x = leaf([3.0])
    y = square(T).apply(x)
    assert y.tolist() == [9.0]
    assert y.grad_fn.name() == "SquareBackward"
    assert repr(y) == "tensor([9.], grad_fn=<SquareBackward>)"
    y.backward()
    assert x.grad.tolist() == [6.0]


def test_14_01_other_arguments_get_none(T: Any, leaf: Any) -> None:
    class Scale(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, by: float, name: str = "") -> Any:
            ctx.by, ctx.name_of = by, name
            return x * by

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.by, None, None

    x = leaf()
    Scale.apply(x, 3.0, "positional").sum().backward()
    Scale.apply(x, 4.0, name="keyword").sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]


def test_14_01_a_gradient_for_what_is_no_tensor(T: Any, leaf: Any, raises: Any) -> None:
    f = given(T, lambda ctx, g: (g, g), lambda ctx, x, k: x * k)
    message = (
        "function GivenBackward returned a gradient different than None at position 2, but the corresponding "
        "forward input was not a Variable"
    )
    with raises(RuntimeError, message):
        f.apply(leaf(), 2.0).sum().backward()


def test_14_01_without_gradients_it_is_plain(T: Any, leaf: Any) -> None:
    f = square(T)
    assert f.apply(T.tensor([3.0])).grad_fn is None
    with T.no_grad():
        assert not f.apply(leaf()).requires_grad


def test_14_01_calling_an_instance(T: Any, leaf: Any, raises: Any) -> None:
    message = (
        "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
        "autograd function with static forward method. …"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = square(T)()
    with raises(RuntimeError, message):
        f(leaf())


def test_14_02_no_backward(T: Any, leaf: Any, raises: Any) -> None:
    f = type("F", (T.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x * 2)})
    y = f.apply(leaf()).sum()
    message = (
        "You must implement either the backward or vjp method for your custom autograd.Function to use it "
        "with backward mode AD."
    )
    with raises(NotImplementedError, message):
        y.backward()


def test_14_02_no_forward(T: Any, leaf: Any, raises: Any) -> None:
    f = type("F", (T.autograd.Function,), {"backward": staticmethod(lambda ctx, g: g)})
    with raises(NotImplementedError, "You must implement the forward function for custom autograd.Function."):
        f.apply(leaf())


def test_14_02_vjp_is_another_name(T: Any, leaf: Any) -> None:
    members = {"forward": staticmethod(lambda ctx, x: x * 2), "vjp": staticmethod(lambda ctx, g: g * 5)}
    x = leaf()
    type("F", (T.autograd.Function,), members).apply(x).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_14_03_gradient_count(T: Any, leaf: Any, raises: Any) -> None:
    f = given(T, lambda ctx, g: (g, g), name="WC")
    message = "function WCBackward returned an incorrect number of gradients (expected 1, got 2)"
    with raises(RuntimeError, message):
        f.apply(leaf()).sum().backward()


def test_14_03_trailing_nones_are_dropped(T: Any, leaf: Any) -> None:
    x = leaf()
    given(T, lambda ctx, g: (g * 2, None, None)).apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_14_04_a_gradient_that_sums_to_the_shape(T: Any, leaf: Any) -> None:
    x = leaf()
    given(T, lambda ctx, g: g.expand(3, 2)).apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_14_04_a_gradient_of_another_shape(T: Any, leaf: Any, raises: Any) -> None:
    f = given(T, lambda ctx, g: T.ones(5), name="WS")
    message = (
        "Function WSBackward returned an invalid gradient at index 0 - got [5] but expected shape "
        "compatible with [2]"
    )
    with raises(RuntimeError, message):
        f.apply(leaf()).sum().backward()


def test_14_04_a_gradient_of_another_dtype_is_cast(T: Any, leaf: Any) -> None:
    x = leaf()
    given(T, lambda ctx, g: g.double() * 2).apply(x).sum().backward()
    assert x.grad.dtype is T.float32
    assert x.grad.tolist() == [2.0, 2.0]


def test_14_04_none_leaves_none(T: Any, leaf: Any) -> None:
    x = leaf()
    given(T, lambda ctx, g: None).apply(x).sum().backward()
    assert x.grad is None


def test_14_04_no_gradient_at_all(T: Any, leaf: Any, raises: Any) -> None:
    with raises(RuntimeError, "expected Variable or None (got float)"):
        given(T, lambda ctx, g: 1.0).apply(leaf()).sum().backward()


def _two(T: Any, seen: list[Any], materialize: bool) -> Any:
    class Two(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(materialize)
            return x * 2, "text", x * 3

        @staticmethod
        def backward(ctx: Any, first: Any, text: Any, second: Any) -> Any:
            seen.append((text, None if second is None else second.tolist()))
            return first * 2

    return Two


@pytest.mark.parametrize("materialize", [True, False])
def test_14_05_missing_output_gradients(T: Any, leaf: Any, materialize: bool) -> None:
    x, seen = leaf(), []
    first, text, _ = _two(T, seen, materialize).apply(x)
    first.sum().backward()
    assert text == "text"
    assert seen == [(None, [0.0, 0.0] if materialize else None)]
    assert x.grad.tolist() == [2.0, 2.0]


def test_14_06_needs_input_grad(T: Any, leaf: Any) -> None:
    seen: list[Any] = []

    class F(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any, k: float) -> Any:
            seen.append(ctx.needs_input_grad)
            return x * y * k

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(ctx.needs_input_grad)
            return g, None, None

    F.apply(leaf(), T.ones(2), 2.0).sum().backward()
    assert seen == [(True, False, False)] * 2


def test_14_07_non_differentiable_outputs(T: Any, leaf: Any) -> None:
    seen: list[Any] = []

    class F(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            mask = x * 0
            ctx.mark_non_differentiable(mask)
            return x * 2, mask

        @staticmethod
        def backward(ctx: Any, g: Any, mask: Any) -> Any:
            seen.append(mask.tolist())
            return g * 2

    x = leaf()
    y, mask = F.apply(x)
    assert (y.requires_grad, mask.requires_grad) == (True, False)
    y.sum().backward()
    assert seen == [[0.0, 0.0]]


def test_14_07_a_non_differentiable_input_returned_as_it_is(T: Any, leaf: Any) -> None:
    class F(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, same: Any) -> Any:
            ctx.mark_non_differentiable(same)
            return x, same

        @staticmethod
        def backward(ctx: Any, g: Any, same: Any) -> Any:
            return g * 2, None

    for same in (T.zeros(2), leaf(), leaf() * 1):
        kept = same.requires_grad
        x = leaf()
        y, out = F.apply(x, same)
        assert (y.requires_grad, out.requires_grad, out.grad_fn, same.requires_grad) == (
            True,
            False,
            None,
            kept,
        )
        assert out is not same
        y.sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]
        with T.no_grad():
            out.add_(1)
        assert same.tolist() == out.tolist()


def _double_in_place(T: Any, returns: bool = True) -> Any:
    class F(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            return x if returns else x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    return F


def test_14_08_dirty_inputs(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x * 5
    z = _double_in_place(T).apply(y)
    assert z is y
    assert y._version == 2
    assert y.grad_fn.name() == "FBackward"
    z.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_14_08_a_dirty_leaf(T: Any, leaf: Any, raises: Any) -> None:
    with raises(RuntimeError, "a leaf Variable that requires grad has been used in an in-place operation."):
        _double_in_place(T).apply(leaf())


def test_14_08_dirty_and_not_returned(T: Any, leaf: Any, raises: Any) -> None:
    message = "Some elements marked as dirty during the forward method were not returned as output. …"
    with raises(RuntimeError, message):
        _double_in_place(T, returns=False).apply(leaf() * 1)


def test_14_08_a_dirty_view(T: Any, leaf: Any) -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    part = y[1:]
    assert _double_in_place(T).apply(part) is part
    assert y.tolist() == [1.0, 4.0, 6.0]
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 2.0]


def test_14_09_an_input_returned_as_it_is(T: Any, leaf: Any) -> None:
    x = leaf() * 1
    y = given(T, lambda ctx, g: g * 7, lambda ctx, x: x, name="Same").apply(x)
    assert y is not x
    assert y.grad_fn.name() == "SameBackward"
    assert x.grad_fn.name() == "MulBackward0"


def test_14_09_a_view_made_inside_is_not_written_to(T: Any, leaf: Any, raises: Any) -> None:
    y = given(T, lambda ctx, g: g.view(2), lambda ctx, x: x.view(1, 2), name="V").apply(leaf() * 1)
    message = (
        "Output 0 of V is a view and is being modified inplace. This view was created inside a custom "
        "Function…"
    )
    with raises(RuntimeError, message):
        y.add_(1)


def test_14_10_tensors_only(T: Any, leaf: Any, raises: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(1.0)
        return x * 1

    message = "save_for_backward can only save variables, but argument 0 is of type float"
    with raises(TypeError, message):
        given(T, lambda ctx, g: g, forward).apply(leaf())


def test_14_10_none_may_be_saved(T: Any, leaf: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(None, x)
        return x * 1

    def backward(ctx: Any, g: Any) -> Any:
        nothing, x = ctx.saved_tensors
        assert nothing is None
        return g * x

    x = leaf()
    given(T, backward, forward).apply(x).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]


def test_14_10_freed_as_built_ins(T: Any, leaf: Any, raises: Any) -> None:
    y = square(T).apply(leaf()).sum()
    y.backward(retain_graph=True)
    y.backward()
    with raises(RuntimeError, "Trying to backward through the graph a second time …"):
        y.backward()


def test_14_10_versions_are_checked(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf() * 1
    y = square(T).apply(x).sum()
    x.add_(1)
    message = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: …"
        " is at version 1; expected version 0 instead. …"
    )
    with raises(RuntimeError, message):
        y.backward()


@pytest.mark.parametrize("hold", [True, False])
def test_14_10_a_saved_output_keeps_its_history(T: Any, leaf: Any, hold: bool) -> None:
    x = leaf([0.0, 1.0])
    y = exponential(T).apply(x)
    z = y.sum()
    if not hold:
        del y
    (g,) = T.autograd.grad(z, x, create_graph=True)
    (h,) = T.autograd.grad((g * g).sum(), x)
    assert g.tolist() == pytest.approx([1.0, 2.7182817])
    assert h.tolist() == pytest.approx([2.0, 2 * 7.389056])


def test_14_10_second_derivatives_through_a_saved_input(T: Any, leaf: Any) -> None:
    x = leaf()
    (g,) = T.autograd.grad(square(T).apply(x).sum(), x, create_graph=True)
    g.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_14_08_behind_a_dirty_view(T: Any, leaf: Any) -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    _double_in_place(T).apply(y[1:])
    behind = y.grad_fn.next_functions[0][0]
    (g,) = T.autograd.grad(T.autograd.graph.GradientEdge(behind, 0), x, T.ones(3))
    assert behind.name() == "MulBackward0"
    assert g.tolist() == [1.0, 1.0, 1.0]
