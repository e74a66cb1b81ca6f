"""§9: gradient modes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

AMBIGUOUS = (
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that "
    "this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving "
    "both the view and the inplace either both inside the no_grad block (if you don't want the inplace to "
    "be tracked) or both outside (if you want the inplace to be tracked)."
)


def test_09_01_modes_nest(T: Any, leaf: Any) -> None:
    x = leaf()
    seen = [T.is_grad_enabled()]
    with T.no_grad():
        seen.append((x * 2).requires_grad)
        with T.enable_grad():
            seen.append((x * 2).requires_grad)
            with T.set_grad_enabled(False):
                seen.append((x * 2).requires_grad)
            seen.append(T.is_grad_enabled())
        seen.append(T.is_grad_enabled())
    seen.append((x * 2).requires_grad)
    assert seen == [True, False, True, False, True, False, True]


def test_09_01_exceptions_restore_them(T: Any) -> None:
    with pytest.raises(KeyError), T.no_grad():
        raise KeyError
    assert T.is_grad_enabled()


def test_09_01_they_are_thread_local(T: Any, leaf: Any) -> None:
    x = leaf()
    seen: list[bool] = []
    with T.no_grad():
        thread = threading.Thread(target=lambda: seen.extend([T.is_grad_enabled(), (x * 2).requires_grad]))
        thread.start()
        thread.join()
        assert not T.is_grad_enabled()
    assert seen == [True, True]


def test_09_01_as_decorators(T: Any, leaf: Any) -> None:
    x = leaf()

    @T.no_grad()
    def called() -> bool:
        return bool((x * 2).requires_grad)

    @T.no_grad
    def bare() -> bool:
        return bool((x * 2).requires_grad)

    @T.enable_grad()
    def enabled() -> bool:
        return bool((x * 2).requires_grad)

    @T.set_grad_enabled(False)
    def disabled() -> bool:
        return bool((x * 2).requires_grad)

    assert called.__name__ == "called"
    assert [called(), bare(), disabled(), enabled()] == [False, False, False, True]
    with T.no_grad():
        assert enabled()
    assert T.is_grad_enabled()


def test_09_01_on_generators(T: Any) -> None:
    @T.no_grad()
    def generate() -> Iterator[bool]:
        yield T.is_grad_enabled()
        yield T.is_grad_enabled()

    assert [(inside, T.is_grad_enabled()) for inside in generate()] == [(False, True), (False, True)]


def test_09_02_a_plain_call_takes_effect_at_once(T: Any, leaf: Any) -> None:
    x = leaf()
    T.set_grad_enabled(False)
    try:
        assert not T.is_grad_enabled()
        assert not (x * 2).requires_grad
    finally:
        T.set_grad_enabled(True)
    assert (x * 2).requires_grad


def test_09_02_factories_ask_for_themselves(T: Any) -> None:
    with T.no_grad():
        assert T.ones(2, requires_grad=True).requires_grad
        assert T.tensor([1.0], requires_grad=True).requires_grad
        assert T.zeros(2).requires_grad_().requires_grad


def test_09_03_a_view_reports_its_base(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.no_grad():
        view, computed, detached = x.view(2, 1), x * 2, x.detach()
    assert view.requires_grad
    assert view.grad_fn is None
    assert not computed.requires_grad
    assert not detached.requires_grad


@pytest.mark.parametrize("tracked", ["leaf", "computed"])
def test_09_03_but_cannot_be_modified(T: Any, leaf: Any, raises: Any, tracked: str) -> None:
    x = leaf()
    y = x if tracked == "leaf" else x * 1
    with T.no_grad():
        view = y[0]
    with raises(RuntimeError, AMBIGUOUS):
        view.mul_(2)
    with T.no_grad():
        view.mul_(2)
    assert y.tolist() == [2.0, 2.0]


def test_09_04_a_leaf_may_be_updated(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.no_grad():
        x.add_(1)
        x -= 0.5
    assert x.tolist() == [1.5, 2.5]
    assert x._version == 2
    assert x.is_leaf
    assert x.requires_grad
    (x * x).sum().backward()
    assert x.grad.tolist() == [3.0, 5.0]


def test_09_04_through_a_view(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.no_grad():
        x[0] = 7.0
        x.view(2).mul_(2)
    assert x.tolist() == [14.0, 4.0]
    assert x._version == 2
    assert x.is_leaf


@pytest.mark.parametrize(("mode", "kind"), [(1, "int"), ("a", "str"), (None, "NoneType")])
def test_09_02_the_mode_is_a_bool(T: Any, raises: Any, mode: Any, kind: str) -> None:
    with raises(TypeError, f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {kind}"):
        T.set_grad_enabled(mode)
    assert T.is_grad_enabled()


def test_09_01_they_have_a_module(T: Any) -> None:
    modes = T.autograd.grad_mode
    assert modes.no_grad is T.no_grad
    assert modes.inference_mode is T.inference_mode
    with modes.set_grad_enabled(False) as nothing:
        assert nothing is None
        assert not T.is_grad_enabled()
    made = T.set_grad_enabled(True)
    assert (made.mode, made.prev) == (True, True)
    assert repr(made) == "torch.autograd.grad_mode.set_grad_enabled(mode=True)"
    with T.autograd.set_multithreading_enabled(False) as nothing:
        assert nothing is None
