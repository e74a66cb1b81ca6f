"""§14: Functions that write to what they are given; §2, §5, §8, §13, §15: passes and what they saved."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import pytest


def _times(T: Any, others: int = 0) -> Any:
    class Times(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, *rest: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return (g * 10, *(g * 100 for _ in range(others)))

    return Times


def test_14_08_a_view_that_is_written_to(T: Any, leaf: Any) -> None:
    a = leaf()
    _times(T).apply(a.clone().view_as(a)).sum().backward()
    assert a.grad.tolist() == [10.0, 10.0]


def test_14_08_a_part_that_is_written_to_with_its_base_and_a_second_input(T: Any, leaf: Any) -> None:
    a, b = leaf([1.0, 2.0, 3.0]), leaf()
    base = a.clone()
    out = _times(T, 1).apply(base[1:], b)
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    (out.sum() + base.sum()).backward()
    assert a.grad.tolist() == [1.0, 20.0, 20.0]
    assert b.grad.tolist() == [200.0, 200.0]


def test_14_08_a_second_pass_over_a_written_view_is_refused(T: Any, leaf: Any, raises: Any) -> None:
    a = leaf()
    out = _times(T).apply(a.clone().view_as(a)).sum()
    out.backward()
    with raises(RuntimeError, "Trying to backward through the graph a second time…"):
        out.backward()


def test_14_08_a_written_view_is_the_only_output(T: Any, leaf: Any, raises: Any) -> None:
    class Two(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2), x + 1

    a = leaf()
    with raises(RuntimeError, "…your Function cannot return more than one Tensor…"):
        Two.apply(a.clone().view_as(a))


@pytest.mark.parametrize("first", [True, False])
def test_14_08_a_view_given_along_with_the_base_that_is_written_to(T: Any, leaf: Any, first: bool) -> None:
    class Times(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *given: Any) -> Any:
            base = given[first]
            ctx.mark_dirty(base)
            return base.mul_(2)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return (g * 0, g * 10) if first else (g * 10, g * 0)

    a = leaf()
    base = a.clone()
    view = base.view_as(base)
    Times.apply(*((view, base) if first else (base, view)))
    assert view.grad_fn.name() == "AsStridedBackward0"
    assert view.grad_fn.next_functions[0][0] is base.grad_fn
    (view.sum() * 3 + base.sum()).backward()
    assert a.grad.tolist() == [40.0, 40.0]


def test_14_10_a_saved_view_that_may_not_be_rebuilt(T: Any, leaf: Any, raises: Any) -> None:
    class Kept(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            view = x.view_as(x)
            ctx.save_for_backward(view)
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g + len(ctx.saved_tensors)

    out = Kept.apply(leaf().clone())
    with raises(RuntimeError, "A view was created in no_grad mode and its base or another view of its …"):
        out.sum().backward()


def saving_double(T: Any) -> Any:
    """A Function that doubles, and saves its output."""

    class Double(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * 2
            ctx.save_for_backward(y)
            return y

    return Double


@pytest.mark.parametrize("graph", [True, False])
def test_14_10_a_saved_output_has_its_history_in_backward(T: Any, leaf: Any, graph: bool) -> None:
    class Double(saving_double(T)):  # type: ignore[misc]
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (y,) = ctx.saved_tensors
            seen.append((y.requires_grad, y.grad_fn.name()))
            with T.enable_grad():
                return T.autograd.grad((y * y).sum(), y)[0] * g

    seen: list[Any] = []
    x = leaf()
    (g,) = T.autograd.grad(Double.apply(x).sum(), x, create_graph=graph)
    assert g.tolist() == [4.0, 8.0]
    assert seen == [(True, "DoubleBackward")]


@pytest.mark.parametrize("values", [[0.0, 0.0], [0.0]])
def test_14_10_a_saved_output_that_is_read_outside(
    T: Any, leaf: Any, raises: Any, values: list[float]
) -> None:
    y = saving_double(T).apply(leaf(values))
    node = y.grad_fn
    (found,) = node.saved_tensors
    assert (found.tolist(), found.requires_grad) == (values, True)
    with T.no_grad():
        y.add_(1)
    with raises(RuntimeError, "one of the variables needed for gradient computation has been modified …"):
        node.saved_tensors  # noqa: B018


def test_13_02_hooks_entered_while_unpacking_end_with_it(T: Any, leaf: Any) -> None:
    def unpack(x: Any) -> Any:
        context.__enter__()
        return x

    context = T.autograd.graph.saved_tensors_hooks(lambda x: x, unpack)
    with context:
        leaf().sin().sum().backward()
    y = leaf().exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)  # refused where hooks apply
    assert y.tolist() == leaf().exp().tolist()


def test_13_02_what_is_unpacked_has_its_history(leaf: Any) -> None:
    a = leaf() + 1
    y = a * a
    y.grad_fn._raw_saved_self.register_hooks(lambda x: x, lambda x: x)
    assert y.grad_fn._saved_self.grad_fn is a.grad_fn


def test_08_03_a_saved_tensor_that_is_detached(leaf: Any, raises: Any) -> None:
    a = leaf().clone()
    b = a.sin().sum()
    a.detach_()
    with raises(RuntimeError, "Trying to use a saved tensor that has been detached in-place…"):
        b.backward()
    c = leaf().clone()
    d = c.exp().sum()
    c.detach_()
    d.backward()  # exp keeps its output
    assert c.is_leaf


def test_15_01_a_pass_after_one_that_anomaly_mode_stopped(T: Any, leaf: Any) -> None:
    class Nan(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * float("nan")

    x = leaf()
    out = Nan.apply(x).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with T.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="NanBackward' returned nan"):
            out.backward(retain_graph=True)
    assert x.grad is None
    out.backward()
    assert x.grad.isnan().all()


def test_02_10_passes_within_passes_of_any_depth(T: Any) -> None:
    class Deep(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with T.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if ctx.x >= 0:
                with T.enable_grad():
                    Deep.apply(ctx.x).sum().backward()
            return g

    v = T.tensor(150.0, requires_grad=True)
    Deep.apply(v).sum().backward()
    assert v.grad.item() == 1.0


@pytest.mark.parametrize("anomaly", [False, True])
def test_05_01_a_graph_dies_with_its_last_tensor(T: Any, leaf: Any, anomaly: bool) -> None:
    """Without a collection: no pass leaves a circle of references behind."""

    def scope() -> weakref.ref[Any]:
        x = leaf()
        y = x.exp()
        with T.autograd.set_detect_anomaly(anomaly):
            T.autograd.grad(y, x, T.ones_like(y), create_graph=anomaly, retain_graph=True)
        mark = type("Mark", (), {})()
        y.grad_fn.metadata["mark"] = mark
        return weakref.ref(mark)

    gc.collect()
    gc.disable()
    try:
        assert scope()() is None
    finally:
        gc.enable()


def test_19_01_losses_that_depend_on_a_phase(T: Any, raises: Any) -> None:
    a = T.tensor([[1.0 + 1j, 2.0], [0.5j, 3.0 - 1j]], dtype=T.complex128, requires_grad=True)
    for values in (T.linalg.eig(a)[1], T.linalg.eigh(a + a.mH)[1], T.linalg.svd(a)[0]):
        with raises(RuntimeError, "…in the complex case are specified up to multiplication by e^{i phi}…"):
            values.imag.sum().backward()
            a.grad.tolist()
    T.linalg.eig(a)[1].abs().sum().backward()
    assert a.grad.shape == (2, 2)
