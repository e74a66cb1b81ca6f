"""§9.6-9.7: inference mode, and what tensors made in it may do outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and "
    "use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
)
WRITTEN = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
    "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
)
FLAG = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
AMBIGUOUS = (
    "A view was created in inference mode and is being modified inplace in normal mode. Given that this use "
    "case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view "
    "and the inplace either both inside the inference_mode block (if you don't want the inplace to be "
    "tracked) or both outside (if you want the inplace to be tracked)."
)


@pytest.fixture
def made(T: Any) -> Any:
    """A tensor of two ones, made in inference mode."""
    with T.inference_mode():
        return T.ones(2)


def test_09_06_results_are_inference_tensors(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.inference_mode():
        results = [x * 2, T.ones(2), T.tensor([1.0]), x.sum(), x.clone(), (x * 2).view(2, 1)]
        assert T.is_inference_mode_enabled()
        assert not T.is_grad_enabled()
    for one in results:
        assert one.is_inference()
        assert T.is_inference(one)
        assert not one.requires_grad
        assert one.is_leaf
        assert one.grad_fn is None
    assert not T.is_inference_mode_enabled()
    assert T.is_grad_enabled()
    assert not x.is_inference()
    assert not T.is_inference(x * 2)


def test_09_06_they_have_no_version(T: Any, made: Any, raises: Any) -> None:
    message = "Inference tensors do not track version counter."
    with raises(RuntimeError, message):
        _ = made._version
    with T.inference_mode(), raises(RuntimeError, message):
        _ = made._version
    with raises(RuntimeError, message):
        _ = made.view(2, 1)._version


def test_09_06_enable_grad_inside_records_nothing(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.inference_mode(), T.enable_grad():
        y = x * 2
        assert T.is_grad_enabled()
        assert T.is_inference_mode_enabled()
    assert not y.requires_grad
    assert y.is_inference()


def test_09_06_inference_mode_false_does(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.inference_mode():
        with T.inference_mode(False):
            y = x * 2
            assert T.is_grad_enabled()
            assert not T.is_inference_mode_enabled()
        assert T.is_inference_mode_enabled()
    assert y.requires_grad
    assert not y.is_inference()
    with T.no_grad(), T.inference_mode(mode=False):
        assert (x * 2).requires_grad


def test_09_06_as_decorators(T: Any, leaf: Any) -> None:
    x = leaf()

    @T.inference_mode()
    def called() -> Any:
        return x * 2

    @T.inference_mode
    def bare() -> Any:
        return x * 2

    @T.inference_mode(mode=False)
    def off() -> Any:
        return x * 2

    @T.inference_mode()
    def generate() -> Iterator[bool]:
        yield T.is_inference_mode_enabled()
        yield T.is_inference_mode_enabled()

    assert called.__name__ == "called"
    assert [one().is_inference() for one in (called, bare, off)] == [True, True, False]
    assert [(inside, T.is_inference_mode_enabled()) for inside in generate()] == [(True, False)] * 2


def test_09_06_exceptions_end_it(T: Any) -> None:
    with pytest.raises(KeyError), T.inference_mode():
        raise KeyError
    assert not T.is_inference_mode_enabled()
    assert T.is_grad_enabled()


def test_09_06_leaves_made_inside_may_ask_for_gradients(T: Any) -> None:
    with T.inference_mode():
        x = T.ones(2, requires_grad=True)
        y = T.ones(2).requires_grad_()
        assert not (x * y).requires_grad
    assert x.requires_grad
    assert y.requires_grad
    assert x.is_inference()


def test_09_06_views_of_normal_tensors_are_normal(T: Any, leaf: Any, raises: Any) -> None:
    for x in (leaf(), leaf() * 1):
        with T.inference_mode():
            view = x.view(2, 1)
        assert not view.is_inference()
        assert view.requires_grad
        assert view._is_view()
        assert view._version == 0
        assert (view * view).requires_grad
        with raises(RuntimeError, AMBIGUOUS):
            view.add_(1)


def test_09_06_views_of_inference_tensors_are_not(made: Any) -> None:
    for alias in (made.view(2, 1), made[0], made.detach(), made.data):
        assert alias.is_inference()
        assert not alias._is_view()


def test_09_06_in_place_on_normal_tensors(T: Any, leaf: Any, raises: Any) -> None:
    x, y = leaf(), leaf() * 1
    before = y.grad_fn
    z = y.sin().sum()
    with T.inference_mode():
        x.add_(1)
        y.mul_(2)
        y[0] = 7.0
    assert x.tolist() == [2.0, 3.0]
    assert y.tolist() == [7.0, 4.0]
    assert (x._version, y._version) == (1, 2)
    assert x.requires_grad
    assert y.grad_fn is before
    with raises(RuntimeError, "…is at version 2; expected version 0 instead…"):
        z.backward()


def test_09_06_in_place_inside(T: Any) -> None:
    with T.inference_mode():
        x = T.ones(2)
    with T.inference_mode():
        x.add_(1)
        x[0] = 5.0
        x += 1
    assert x.tolist() == [6.0, 3.0]
    assert x.is_inference()


def test_09_07_they_cannot_be_saved(T: Any, leaf: Any, made: Any, raises: Any) -> None:
    x = leaf()
    with raises(RuntimeError, SAVED):
        x * made
    with raises(RuntimeError, SAVED):
        (x * 1).mul_(made)
    with T.inference_mode():
        index = T.tensor([0, 1])
    with raises(RuntimeError, SAVED):
        x[index]
    with T.no_grad():
        assert (x * made).tolist() == [1.0, 2.0]


def test_09_07_where_nothing_is_saved_they_serve(leaf: Any, made: Any) -> None:
    x = leaf()
    y = x + made
    y.add_(made)
    y.copy_(y + made)
    y.sum().backward()
    assert y.tolist() == [4.0, 5.0]
    assert x.grad.tolist() == [1.0, 1.0]
    assert not (made * made).is_inference()


WRITES: dict[str, Callable[[Any], Any]] = {
    "add_": lambda x: x.add_(1),
    "zero_": lambda x: x.zero_(),
    "copy_": lambda x: x.copy_(x * 2),
    "x[0] =": lambda x: x.__setitem__(0, 1.0),
    "view": lambda x: x.view(2, 1).add_(1),
}


@pytest.mark.parametrize("name", WRITES)
def test_09_07_no_writing_outside(T: Any, made: Any, raises: Any, name: str) -> None:
    with raises(RuntimeError, WRITTEN):
        WRITES[name](made)
    with T.no_grad(), raises(RuntimeError, WRITTEN):
        WRITES[name](made)


def test_09_07_nor_as_out(T: Any, made: Any, raises: Any) -> None:
    with raises(RuntimeError, WRITTEN):
        T.add(T.ones(2), 1, out=made)


def test_09_07_nor_requires_grad(T: Any, made: Any, raises: Any) -> None:
    with raises(RuntimeError, FLAG):
        made.requires_grad_()
    with raises(RuntimeError, FLAG):
        made.requires_grad = True
    with raises(RuntimeError, FLAG):
        T.nn.Parameter(made)
    assert made.requires_grad_(False) is made


def test_09_07_a_clone_is_normal(leaf: Any, made: Any) -> None:
    copy = made.clone()
    assert not copy.is_inference()
    copy.add_(1)
    copy.requires_grad_()
    x = leaf()
    (copy * x).sum().backward()
    assert copy.grad.tolist() == [1.0, 2.0]
    assert x.grad.tolist() == [2.0, 2.0]


def test_09_07_the_same_program_again(T: Any, leaf: Any, raises: Any) -> None:
    weight = leaf()
    for step in range(1, 5):
        with T.inference_mode():
            features = weight.detach() * step
            row = features[0]
            features += 1
        assert features.is_inference()
        assert row.is_inference()
        assert features.tolist() == [step + 1.0, 2 * step + 1.0]
        with raises(RuntimeError, WRITTEN):
            features.add_(1)
        with raises(RuntimeError, SAVED):
            weight * features
        (weight + features).sum().backward()
        assert weight.grad.tolist() == [step, step]


def test_09_07_across_batches(T: Any, leaf: Any, raises: Any) -> None:
    for _ in range(3):
        with T.inference_mode():
            x = T.ones(2) * 3
        assert x.sum().item() == 6.0
        with T.inference_mode():
            x.mul_(2)
            y = x + 1
        assert y.tolist() == [7.0, 7.0]
        z = x + leaf()
        assert not z.is_inference()
        z.add_(1)
        assert z.tolist() == [8.0, 9.0]


def test_09_06_alone_they_are_not_recorded(T: Any) -> None:
    with T.inference_mode():
        x = T.tensor([1.0, 2.0], requires_grad=True)
    assert x.requires_grad
    for y in (x * x, x.exp(), x.sum(), x.view(2), x**2, T.cat([x, x])):
        assert not y.requires_grad
        assert y.grad_fn is None
    # beside a normal tensor they are, and so beside a number, which becomes one
    y = x * T.ones(2)
    assert y.requires_grad
    assert (x * 2).requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
