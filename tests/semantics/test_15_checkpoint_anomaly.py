"""§15: checkpoints and anomaly detection (gradcheck has a file of its own)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
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


def test_15_01_a_changed_input_is_noticed(leaf: Any, checkpoint: Any, raises: Any) -> None:
    x = leaf()
    message = "one of the variables needed for gradient computation has been modified by an inplace …"
    for reentrant in (True, False):
        given = x * 1
        y = checkpoint(Counted(), given, use_reentrant=reentrant)
        given.add_(1)
        with raises(RuntimeError, message):
            y.sum().backward()
    given = x * 1
    y = checkpoint(lambda t: t.mul_(2).sin(), given, use_reentrant=False)
    with raises(RuntimeError, message):
        y.sum().backward()
    assert x.grad is None


def test_15_01_each_pass_runs_it_again(leaf: Any, checkpoint: Any) -> None:
    calls: list[int] = []

    def both(x: Any) -> Any:
        calls.append(1)
        return x.exp(), x.sin()

    x = leaf([0.0])
    first, second = checkpoint(both, x, use_reentrant=False)
    first.sum().backward()
    second.sum().backward()
    assert len(calls) == 3
    assert x.grad.tolist() == [2.0]


def test_15_01_saved_tensors_are_read_once(T: Any, leaf: Any, checkpoint: Any, raises: Any) -> None:
    class Twice(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            assert len(ctx.saved_tensors) == len(ctx.saved_tensors)
            return g * 2

    y = checkpoint(Twice.apply, leaf(), use_reentrant=False)
    message = (
        "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. …"
    )
    with raises(T.utils.checkpoint.CheckpointError, message):
        y.sum().backward()


def test_15_01_second_derivatives_through_a_function(T: Any, leaf: Any, checkpoint: Any) -> None:
    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 3 * x**2

    x = leaf()
    y = checkpoint(lambda t: Cube.apply(t * 1), x, use_reentrant=False)
    (first,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = T.autograd.grad(first.sum(), x)
    assert second.tolist() == [6.0, 12.0]


def test_15_01_hooks_around_it_pack_its_inputs(T: Any, leaf: Any, checkpoint: Any) -> None:
    log: list[str] = []
    with T.autograd.graph.saved_tensors_hooks(
        lambda t: (log.append("pack"), t)[1], lambda t: (log.append("unpack"), t * 2)[1]
    ):
        y = checkpoint(Counted(), x := leaf([0.0]), use_reentrant=False)
    y.sum().backward()
    assert log == ["pack", "unpack"]
    assert x.grad.tolist() == [0.0]


def test_15_01_contexts_see_what_ends_it_early(leaf: Any, checkpoint: Any) -> None:
    log: list[str] = []

    @contextmanager
    def around(name: str) -> Iterator[None]:
        log.append(f"in {name}")
        yield
        log.append(f"out of {name}")

    def contexts() -> Any:
        return around("forward"), around("recomputation")

    checkpoint(Counted(), leaf(), use_reentrant=False, context_fn=contexts).sum().backward()
    assert log == ["in forward", "out of forward", "in recomputation"]


def test_15_01_messages(T: Any, leaf: Any, checkpoint: Any, raises: Any, warns: Any) -> None:
    message = "determinism_check should be one of ['default', 'none'], but got sometimes"
    with raises(ValueError, message):
        checkpoint(Counted(), leaf(), use_reentrant=False, determinism_check="sometimes").sum().backward()
    calls: list[int] = []

    def other(x: Any) -> Any:
        calls.append(1)
        return (x if len(calls) == 1 else x[:1]).sin()

    device = T.zeros(1).device
    saved = {"shape": T.Size([2]), "dtype": T.float32, "device": device}
    message = (
        "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
        f"during the forward pass.\ntensor at position 0:\nsaved metadata: {saved}\n"
        f"recomputed metadata: { {**saved, 'shape': T.Size([1])} }\n.\n…"
    )
    with raises(T.utils.checkpoint.CheckpointError, message):
        checkpoint(other, leaf(), use_reentrant=False).sum().backward()
    message = (
        "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed "
        "explicitly. In version 2.9 we will raise an exception if use_reentrant is not passed. …"
    )
    with warns(UserWarning, message):
        T.utils.checkpoint.checkpoint_sequential([Counted(), Counted()], 2, leaf())


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
