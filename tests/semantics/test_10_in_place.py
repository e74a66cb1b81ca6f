"""§10: in-place operations, views and version counters (10.1-10.6, 10.11)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = f"a view of {LEAF}"
HINT = (
    " is at version {now}; expected version {then} instead. Hint: enable anomaly detection to find the "
    "operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, "
    "check_nan=False)."
)
STALE = "one of the variables needed for gradient computation has been modified by an inplace operation: "


def stale(what: str, output_of: str = "", now: int = 1, then: int = 0) -> str:
    """The message for a saved tensor `what`, where known the output of a function, that was modified."""
    kind = what if what.startswith("CPU") else f"torch.{what}"
    producer = f", which is output 0 of {output_of}," if output_of else ""
    return f"{STALE}[{kind}]{producer}{HINT.format(now=now, then=then)}"


def _augment(x: Any) -> None:
    x += 1


def _assign(x: Any) -> None:
    x[0] = 1.0


LEAF_WRITES: dict[str, Callable[[Any], Any]] = {
    "add_": lambda x: x.add_(1),
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(1.0),
    "copy_": lambda x: x.copy_(x.detach() * 2),
    "+=": _augment,
}
VIEW_WRITES: dict[str, Callable[[Any], Any]] = {
    "view": lambda x: x.view(2).add_(1),
    "select": lambda x: x[0].zero_(),
    "x[0] =": _assign,
}


@pytest.mark.parametrize("write", LEAF_WRITES)
def test_10_01_a_leaf_that_requires_grad(leaf: Any, raises: Any, write: str) -> None:
    x = leaf()
    with raises(RuntimeError, LEAF):
        LEAF_WRITES[write](x)
    assert x.tolist() == [1.0, 2.0]
    assert x._version == 0


@pytest.mark.parametrize("write", VIEW_WRITES)
def test_10_01_through_a_view(leaf: Any, raises: Any, write: str) -> None:
    x = leaf()
    with raises(RuntimeError, VIEW_OF_LEAF):
        VIEW_WRITES[write](x)
    assert x.tolist() == [1.0, 2.0]
    assert x._version == 0


def test_10_02_history_is_rebased(leaf: Any) -> None:
    x = leaf()
    y = x * 2
    before = y.grad_fn
    assert y.add_(1) is y
    assert y.grad_fn is not before
    assert y.grad_fn.name() == "AddBackward0"
    assert y._version == 1
    y.mul_(3)
    assert y.grad_fn.name() == "MulBackward0"
    assert y._version == 2
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_10_02_an_untracked_tensor_becomes_tracked(T: Any, leaf: Any) -> None:
    x, y = leaf(), T.ones(2)
    y.mul_(x)
    assert y.requires_grad
    assert not y.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_10_03_a_result(leaf: Any, raises: Any) -> None:
    x = leaf([0.0, 0.0])
    y = x.exp()
    z = y.sum()
    y.add_(1)
    with raises(RuntimeError, stale("FloatTensor [2]", "Exp")):
        z.backward()
    assert x.grad is None


def test_10_03_a_result_of_its_own(T: Any, leaf: Any, raises: Any) -> None:
    y = leaf([[1.0, 2.0]], dtype=T.float64) * 1
    z = y.sin()
    y.mul_(2).mul_(2)
    with raises(RuntimeError, stale("DoubleTensor [1, 2]", "Mul", now=2)):
        z.sum().backward()


def test_10_03_a_constant(T: Any, leaf: Any, raises: Any) -> None:
    constant = T.ones(2)
    y = (leaf() * constant).sum()
    constant.add_(1)
    with raises(RuntimeError, stale("FloatTensor [2]")):
        y.backward()


def test_10_03_a_version_from_before(T: Any, leaf: Any, raises: Any) -> None:
    constant = T.ones(2).add_(1).add_(1)
    y = (leaf() * constant).sum()
    constant.add_(1)
    with raises(RuntimeError, stale("FloatTensor [2]", now=3, then=2)):
        y.backward()


PRODUCERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "clamp_": ("Clamp1", lambda y: y.clamp_(0)),
    "pow_": ("Pow1", lambda y: y.pow_(y.detach() * 0 + 1)),
    "y[0] =": ("torch::autograd::CopySlices", _assign),
}


@pytest.mark.parametrize("write", PRODUCERS)
def test_10_03_the_overload_is_named(leaf: Any, raises: Any, write: str) -> None:
    name, change = PRODUCERS[write]
    y = leaf() * 1
    z = y.sin()
    change(y)
    with raises(RuntimeError, stale("FloatTensor [2]", name)):
        z.sum().backward()


def test_10_03_indices(T: Any, leaf: Any, raises: Any) -> None:
    index = T.tensor([0, 1])
    y = leaf()[index].sum()
    index.zero_()
    with raises(RuntimeError, stale("LongTensor [2]")):
        y.backward()


SAVES_RESULT = ["exp", "sigmoid", "tanh", "sqrt", "rsqrt", "reciprocal", "tan", "relu"]
SAVES_INPUT = ["sin", "cos", "log", "abs"]


@pytest.mark.parametrize("name", SAVES_RESULT)
def test_10_04_result_is_saved(leaf: Any, raises: Any, name: str) -> None:
    x = leaf([1.0])
    y = x * 1
    z = getattr(y, name)()
    y.add_(1)
    z.backward()  # the input was not saved
    assert x.grad is not None
    z = getattr(x * 1, name)()
    z.add_(1)
    with raises(RuntimeError, stale("FloatTensor [1]", name.capitalize())):
        z.backward()


@pytest.mark.parametrize("name", SAVES_INPUT)
def test_10_04_input_is_saved(leaf: Any, raises: Any, name: str) -> None:
    x = leaf([1.0])
    z = getattr(x * 1, name)()
    z.add_(1)
    z.backward()  # the result was not saved
    assert x.grad is not None
    y = x * 1
    z = getattr(y, name)()
    y.add_(1)
    with raises(RuntimeError, stale("FloatTensor [1]", "Add")):
        z.backward()


def test_10_04_pow_saves_its_input(leaf: Any, raises: Any) -> None:
    x = leaf([3.0])
    z = (x * 1) ** 2
    z.add_(1)
    z.backward()
    assert x.grad.tolist() == [6.0]
    y = x * 1
    z = y**2
    y.add_(1)
    with raises(RuntimeError, stale("FloatTensor [1]", "Add")):
        z.backward()


def test_10_04_mul_saves_what_the_other_side_needs(leaf: Any, raises: Any) -> None:
    x, other = leaf([3.0]), leaf([5.0])
    y = x * 1
    z = y * other.detach()  # y's own gradient needs `other`, nobody needs y
    y.add_(1)
    z.backward()
    assert x.grad.tolist() == [5.0]
    y = x * 1
    z = y * other
    y.add_(1)
    with raises(RuntimeError, stale("FloatTensor [1]", "Add")):
        z.backward()


@pytest.mark.parametrize("name", ["add", "sub", "neg", "sum"])
def test_10_04_linear_functions_save_nothing(leaf: Any, name: str) -> None:
    x = leaf([3.0])
    y = x * 1
    z = getattr(y, name)(*([y * 1] if name in ("add", "sub") else []))
    y.add_(1)
    z.add_(1)
    z.backward()
    assert x.grad.tolist() == [{"add": 2.0, "sub": 0.0, "neg": -1.0, "sum": 1.0}[name]]


def test_10_04_relu_in_place(leaf: Any, raises: Any) -> None:
    x = leaf([-3.0, 3.0])
    y = (x + 1).relu_()
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]
    y = x.sigmoid().relu_()
    with raises(RuntimeError, stale("FloatTensor [2]", "Sigmoid")):
        y.sum().backward()


def test_10_04_multiplied_by_itself(leaf: Any, raises: Any) -> None:
    y = leaf() * 1
    y *= y
    with raises(RuntimeError, stale("FloatTensor [2]", "Mul")):
        y.sum().backward()


def test_10_04_added_to_itself(leaf: Any) -> None:
    x = leaf()
    y = x * 1
    y += y
    y.sum().backward()
    assert y.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [2.0, 2.0]


def test_10_05_modification_after_the_backward(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x.exp()
    y.sum().backward()
    gradient = x.grad.tolist()
    y.add_(1)
    with T.no_grad():
        x.sub_(1)
    assert x.grad.tolist() == gradient
    assert x.tolist() == [0.0, 1.0]


def test_10_05_leaf_update_between(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    linear, square = (x + 1).sum(), (x * x).sum()
    with T.no_grad():
        x.add_(1)
    linear.backward()
    assert x.grad.tolist() == [1.0, 1.0]
    with raises(RuntimeError, stale("FloatTensor [2]")):
        square.backward()


def test_10_06_overwritten_values_have_gradient_zero(leaf: Any) -> None:
    x = leaf()
    filled, zeroed = x * 1, x * 1
    filled.fill_(3.0)
    zeroed.zero_()
    assert filled.requires_grad
    assert zeroed.requires_grad
    (filled + zeroed).sum().backward()
    assert filled.tolist() == [3.0, 3.0]
    assert x.grad.tolist() == [0.0, 0.0]


def test_10_06_under_a_mask(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x * 5
    y[T.tensor([True, False])] = 0
    assert y.tolist() == [0.0, 10.0]
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 5.0]


def test_10_11_versions_of_views_and_copies(T: Any) -> None:
    x = T.ones(2)
    view, detached, copy, data = x[0], x.detach(), x.clone(), x.data
    x.add_(1)
    assert [one._version for one in (x, view, detached, copy, data)] == [1, 1, 1, 0, 0]
    view.add_(1)
    detached.add_(1)
    data.add_(1)
    assert [one._version for one in (x, view, detached, copy, data)] == [3, 3, 3, 0, 1]
    assert x.tolist() == data.tolist() == [5.0, 4.0]
    assert copy.tolist() == [1.0, 1.0]


def test_10_11_version_is_read_only(T: Any, raises: Any) -> None:
    x = T.ones(2)
    message = "attribute '_version' of 'torch._C.TensorBase' objects is not writable"
    with raises(AttributeError, message):
        x._version = 1
    assert x._version == 0


def test_10_12_increment_version(T: Any, leaf: Any, raises: Any) -> None:
    graph = T.autograd.graph
    x = leaf()
    kept = T.tensor([3.0, 4.0])
    y = x * kept
    assert graph.increment_version(kept) is None
    graph.increment_version([kept, kept])
    assert kept._version == 3
    assert kept.tolist() == [3.0, 4.0]
    with raises(
        RuntimeError, "one of the variables needed for gradient …is at version 3; expected version 0 …"
    ):
        y.sum().backward()
    with raises(RuntimeError, "increment_version expect a Iterable[Tensor] as input"):
        graph.increment_version(3)


def test_24_04_settings_of_streams_are_accepted(T: Any, raises: Any) -> None:
    graph = T.autograd.graph
    for setting in (
        graph.set_warn_on_accumulate_grad_stream_mismatch,
        graph.set_override_stale_capture_stream,
    ):
        assert setting(True) is None
        assert setting(False) is None
        with raises(RuntimeError, "enabled must be a bool, but got int"):
            setting(1)


def test_10_06_copying_takes_numbers_and_non_blocking(T: Any, leaf: Any, raises: Any) -> None:
    x, y = leaf(), leaf([3.0, 4.0])
    out = (x * 1).copy_(y, non_blocking=True)
    assert out.tolist() == [3.0, 4.0]
    assert (x * 1).copy_(other=y).tolist() == [3.0, 4.0]
    out.sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([0.0, 0.0], [1.0, 1.0])
    number = (x * 1).copy_(7)
    assert (number.tolist(), number.grad_fn.name()) == ([7.0, 7.0], "torch::autograd::CopyBackwards")
    assert T.zeros(1, dtype=T.float64).copy_(0.1).item() == 0.1
    with raises(TypeError, "copy_(): argument 'other' (position 1) must be Tensor, not list"):
        (x * 1).copy_([1.0, 2.0])


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("float64", "DoubleTensor"),
        ("float16", "HalfTensor"),
        ("bfloat16", "CPUBFloat16Type"),
        ("complex64", "CPUComplexFloatType"),
        ("complex128", "CPUComplexDoubleType"),
    ],
)
def test_10_03_the_type_is_named(T: Any, raises: Any, dtype: str, name: str) -> None:
    y = T.ones(2, dtype=getattr(T, dtype), requires_grad=True).exp()
    y.add_(1)
    with raises(RuntimeError, stale(f"{name} [2]", "Exp")):
        y.backward(T.ones_like(y))


def test_10_03_masks_count_too(T: Any, leaf: Any, raises: Any) -> None:
    mask = T.tensor([True, False])
    y = leaf().masked_fill(mask, 0.0)
    mask.logical_not_()
    with raises(RuntimeError, stale("CPUBoolType [2]")):
        y.sum().backward()


@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_10_07_integers_take_values_alone(T: Any, leaf: Any, dtype: str) -> None:
    x = leaf()
    c = T.zeros(2, dtype=getattr(T, dtype))
    c.copy_(x)
    assert (c.requires_grad, c.grad_fn, c._version) == (False, None, 1)
    c[0] = x[1]
    assert not c.requires_grad
    assert c.is_leaf


def test_10_02_copy_takes_numbers(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    y = x * 2
    assert y.copy_(3, non_blocking=True) is y
    y.sum().backward()
    assert y.tolist() == [3.0, 3.0]
    assert x.grad.tolist() == [0.0, 0.0]
    assert T.zeros(2).copy_(other=x.detach()).tolist() == [1.0, 2.0]
    with raises(TypeError, "copy_(): argument 'other' (position 1) must be Tensor, not list"):
        y.copy_([1.0, 2.0])


def test_10_04_erfinv_saves_its_input(leaf: Any, raises: Any) -> None:
    x = leaf([0.25, 0.5])
    y = x * 1
    z = y.erfinv()
    z.add_(1)
    z.sum().backward(retain_graph=True)
    assert x.grad.tolist() == pytest.approx([0.9324, 1.1125], abs=1e-3)
    y.add_(1)
    with raises(RuntimeError, stale("FloatTensor [2]", "Add")):
        z.sum().backward()


def test_10_12_increment_version_of_other_things(T: Any, raises: Any) -> None:
    for wrong in ([1], "a"):
        with raises(RuntimeError, "increment_version expects each element of the iterable to be a tensor"):
            T.autograd.graph.increment_version(wrong)
    with raises(RuntimeError, "increment_version expect a Iterable[Tensor] as input"):
        T.autograd.graph.increment_version(1)


def test_10_10_out_does_not_overlap_what_is_read(T: Any, raises: Any) -> None:
    t = T.zeros(3)
    with raises(RuntimeError, "unsupported operation: some elements of the input tensor and …"):
        T.add(t[:2], 1, out=t[1:])


def test_10_10_a_real_tensor_takes_the_real_part(T: Any) -> None:
    x = T.zeros(2)
    with warnings.catch_warnings():
        # PyTorch says that it drops the imaginary part; a kernel of gradd says nothing.
        warnings.simplefilter("ignore" if T.__name__ == "torch" else "error")
        x[0] = T.tensor(1 + 2j)
        assert x.tolist() == [1.0, 0.0]
