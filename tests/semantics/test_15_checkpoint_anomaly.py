"""§15: checkpoints and anomaly detection (gradcheck has a file of its own)."""

from __future__ import annotations

import warnings
from typing import Any

import pytest


class Counted:
    """A function that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        return (x * x).exp().sin()


@pytest.fixture
def checkpoint(T: Any) -> Any:
    """The module under test's ``utils.checkpoint``."""
    if T.__name__ == "torch":
        pass
    return T.utils.checkpoint.checkpoint


@pytest.mark.parametrize("reentrant", [True, False])
def test_15_01_the_function_runs_twice(leaf: Any, checkpoint: Any, reentrant: bool) -> None:
    x, f = leaf([0.5, 1.0]), Counted()
    y = checkpoint(f, x, use_reentrant=reentrant)
    assert f.calls == 1
    y.sum().backward()
    assert f.calls == 2
    reference = leaf([0.5, 1.0])
    f(reference).sum().backward()
    assert x.grad.tolist() == reference.grad.tolist()


def test_15_01_leaving_it_out_warns(leaf: Any, checkpoint: Any, warns: Any) -> None:
    message = "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. …"
    with warns(UserWarning, message):
        checkpoint(Counted(), leaf())


def test_15_01_without_reentry_grad_works(T: Any, leaf: Any, checkpoint: Any) -> None:
    x, f = leaf([0.5, 1.0]), Counted()
    (g,) = T.autograd.grad(checkpoint(f, x, use_reentrant=False).sum(), x)
    (h,) = T.autograd.grad(f(x).sum(), x)
    assert g.tolist() == h.tolist()


def test_15_01_without_reentry_second_derivatives_work(T: Any, leaf: Any, checkpoint: Any) -> None:
    x, f = leaf([0.5, 1.0]), Counted()

    def second(y: Any) -> Any:
        (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
        return T.autograd.grad(g.sum(), x)[0].tolist()

    assert second(checkpoint(f, x, use_reentrant=False)) == pytest.approx(second(f(x)))


def test_15_01_reentry_refuses_grad(T: Any, leaf: Any, checkpoint: Any, raises: Any) -> None:
    x = leaf()
    message = (
        "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
        "parameter to .backward(). …"
    )
    with raises(RuntimeError, message):
        T.autograd.grad(checkpoint(Counted(), x, use_reentrant=True).sum(), x)
    with raises(RuntimeError, message):
        checkpoint(Counted(), x, use_reentrant=True).sum().backward(inputs=[x])


def test_15_01_reentry_without_tracked_inputs(T: Any, checkpoint: Any, warns: Any) -> None:
    with warns(UserWarning, "None of the inputs have requires_grad=True. Gradients will be None"):
        y = checkpoint(Counted(), T.ones(2), use_reentrant=True)
    assert not y.requires_grad


@pytest.mark.parametrize("reentrant", [True, False])
def test_15_01_weights_that_are_closed_over(T: Any, leaf: Any, checkpoint: Any, reentrant: bool) -> None:
    x, w = leaf(), leaf([3.0, 4.0])
    checkpoint(lambda a: a * w, x, use_reentrant=reentrant).sum().backward()
    assert w.grad.tolist() == [1.0, 2.0]
    assert x.grad.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("reentrant", [True, False])
def test_15_01_randomness_is_the_same(T: Any, leaf: Any, checkpoint: Any, reentrant: bool) -> None:
    T.manual_seed(3)
    seen: list[Any] = []

    def drop(a: Any) -> Any:
        out = T.nn.functional.dropout(a * 1, 0.5, True)
        seen.append(out.tolist())
        return out * out

    x = leaf([1.0] * 32)
    checkpoint(drop, x, use_reentrant=reentrant).sum().backward()
    assert seen[0] == seen[1]
    after = T.rand(4).tolist()
    T.manual_seed(3)
    T.nn.functional.dropout(T.ones(32), 0.5, True)
    assert after == T.rand(4).tolist()


def test_15_01_nested(T: Any, leaf: Any, checkpoint: Any) -> None:
    x = leaf([0.5, 1.0])

    def inner(a: Any) -> Any:
        return checkpoint(lambda b: b.exp().sin(), a, use_reentrant=False) * a

    checkpoint(inner, x, use_reentrant=False).sum().backward()
    reference = leaf([0.5, 1.0])
    (reference.exp().sin() * reference).sum().backward()
    assert x.grad.tolist() == pytest.approx(reference.grad.tolist())


def test_15_01_a_changed_number_of_saved_tensors(T: Any, leaf: Any, checkpoint: Any, raises: Any) -> None:
    calls: list[int] = []

    def changing(a: Any) -> Any:
        calls.append(1)
        return a.exp().sin() if len(calls) == 1 else a + 1

    y = checkpoint(changing, leaf(), use_reentrant=False).sum()
    message = (
        "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
        "recomputation.\nNumber of tensors saved during forward: 2\nNumber of tensors saved during "
        "recomputation: 0.…"
    )
    with raises(T.utils.checkpoint.CheckpointError, message):
        y.backward()


def test_15_01_sequential(T: Any, leaf: Any, checkpoint: Any) -> None:
    parts = [Counted() for _ in range(4)]
    x = leaf([0.5, 1.0])
    T.utils.checkpoint.checkpoint_sequential(parts, 2, x, use_reentrant=False).sum().backward()
    assert [p.calls for p in parts] == [2, 2, 1, 1]
    assert x.grad is not None


def _nan(leaf: Any) -> Any:
    return (leaf([0.0]).sqrt() * 0).sum()


def test_15_02_a_nan_names_its_function(T: Any, leaf: Any, raises: Any) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with T.autograd.detect_anomaly():
            y = _nan(leaf)
            with raises(RuntimeError, "Function 'SqrtBackward0' returned nan values in its 0th output."):
                y.backward()
    texts = [str(w.message) for w in seen]
    assert texts[0] == (
        "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled "
        "for debugging."
    )
    assert texts[1].startswith(
        "Error detected in SqrtBackward0. Traceback of forward call that caused the error:\n"
    )
    assert "leaf([0.0]).sqrt()" in texts[1]


def test_15_02_the_slot(T: Any, leaf: Any, raises: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with T.autograd.set_detect_anomaly(True):
            a = leaf([1.0])
            y = T.pow(leaf([-1.0]) * 1, a * 1) * 1
            with raises(RuntimeError, "Function 'PowBackward1' returned nan values in its 1th output."):
                y.backward()


def test_15_02_without_the_forward(T: Any, leaf: Any, raises: Any, warns: Any) -> None:
    y = _nan(leaf)
    message = "Error detected in SqrtBackward0. No forward pass information available. …"
    with (
        warns(UserWarning, message),
        T.autograd.set_detect_anomaly(True),
        raises(RuntimeError, "Function 'SqrtBackward0' returned nan values in its 0th output."),
    ):
        y.backward()


def test_15_02_nan_may_be_let_through(T: Any, leaf: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with T.autograd.detect_anomaly(check_nan=False):
            x = leaf([0.0])
            (x.sqrt() * 0).sum().backward()
    assert x.grad.isnan().all()


def test_15_02_switched_by_calls(T: Any) -> None:
    assert not T.is_anomaly_enabled()
    T.autograd.set_detect_anomaly(True)
    assert T.is_anomaly_enabled()
    assert T.is_anomaly_check_nan_enabled()
    T.autograd.set_detect_anomaly(False)
    assert not T.is_anomaly_enabled()


def test_15_02_afterwards_the_session_goes_on(T: Any, leaf: Any) -> None:
    x = leaf()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with T.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError):
            _nan(leaf).backward()
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
