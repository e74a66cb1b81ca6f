"""§13: hooks on what is saved for backward."""

from __future__ import annotations

import math
from typing import Any

import pytest


class Log:
    """A pair of hooks that count their calls."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.packed: list[Any] = []
        self.unpacked: list[Any] = []

    def pack(self, t: Any) -> Any:
        """Keep it as it is."""
        self.packed.append(t.tolist())
        return (self.name, t)

    def unpack(self, box: Any) -> Any:
        """What was kept."""
        assert box[0] == self.name
        self.unpacked.append(box[1].tolist())
        return box[1]


def test_13_01_once_a_slot_at_forward_and_at_backward(T: Any, leaf: Any) -> None:
    x, log = leaf(), Log()
    with T.autograd.graph.saved_tensors_hooks(log.pack, log.unpack):
        y = x * x
    assert log.packed == [[1.0, 2.0], [1.0, 2.0]]
    assert log.unpacked == []
    y.sum().backward()
    assert log.unpacked == [[1.0, 2.0], [1.0, 2.0]]
    assert x.grad.tolist() == [2.0, 4.0]


def test_13_01_outputs_and_indices_are_packed_too(T: Any, leaf: Any) -> None:
    log = Log()
    x = leaf([0.0, 0.0])
    with T.autograd.graph.saved_tensors_hooks(log.pack, log.unpack):
        y = x.exp()[T.tensor([1, 0])]
    assert log.packed == [[1.0, 1.0], [1, 0]]
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_13_01_what_unpack_gives_is_used(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t * 10):
        y = x.exp() * 2
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([20 * 2.7182817, 20 * 7.389056])


def test_13_01_only_the_innermost_pair(T: Any, leaf: Any) -> None:
    outer, inner, x = Log("outer"), Log("inner"), leaf()
    with T.autograd.graph.saved_tensors_hooks(outer.pack, outer.unpack):
        with T.autograd.graph.saved_tensors_hooks(inner.pack, inner.unpack):
            y = x.exp()
        z = x.sin()
    (y + z).sum().backward()
    assert len(outer.packed) == len(outer.unpacked) == 1
    assert len(inner.packed) == len(inner.unpacked) == 1


def test_13_01_only_within_the_context(T: Any, leaf: Any) -> None:
    log, x = Log(), leaf()
    with T.autograd.graph.saved_tensors_hooks(log.pack, log.unpack):
        pass
    x.exp().sum().backward()
    assert log.packed == []


def test_13_01_a_composite_packs_what_is_inside(T: Any, leaf: Any) -> None:
    log = Log()
    x = leaf([[1.0, 2.0], [3.0, 5.0]])
    w = leaf([[1.0, 0.0], [0.5, 1.0]])
    with T.autograd.graph.saved_tensors_hooks(log.pack, log.unpack):
        loss = T.nn.functional.mse_loss(T.nn.functional.linear(x, w).relu(), T.zeros(2, 2))
    loss.backward()
    assert len(log.packed) == len(log.unpacked) > 3
    reference = w.detach().clone().requires_grad_()
    T.nn.functional.mse_loss(T.nn.functional.linear(x.detach(), reference).relu(), T.zeros(2, 2)).backward()
    assert w.grad.tolist() == reference.grad.tolist()


def test_13_01_in_place_operations(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x * 1
        y.exp_()
        y.mul_(x)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([2 * 2.7182817, 3 * 7.389056])


@pytest.mark.parametrize("pack", ["clone", "copy"])
def test_13_01_in_place_operations_on_views(T: Any, leaf: Any, pack: str) -> None:
    x = leaf([[0.5, 1.0, 0.0], [0.25, 0.0, 2.0]])
    copies = {"clone": T.clone, "copy": lambda t: T.tensor(t.tolist())}
    with T.autograd.graph.saved_tensors_hooks(copies[pack], lambda t: t):
        y = x * 2
        y[:, 1:].exp_()
        z = (y * y).sum()
    (g,) = T.autograd.grad(z, x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x)
    e = [[0, 2, 0], [0, 0, 4]]
    assert g.tolist() == [
        pytest.approx([8 * row[0], *(4 * math.exp(2 * v) for v in power[1:])])
        for row, power in zip(x.tolist(), e, strict=True)
    ]
    assert h.tolist() == [pytest.approx([8.0, *(16 * math.exp(2 * v) for v in power[1:])]) for power in e]


def test_13_01_second_derivatives(T: Any, leaf: Any) -> None:
    log, x = Log(), leaf()
    with T.autograd.graph.saved_tensors_hooks(log.pack, log.unpack):
        y = (x * x * x).sum()
    (g,) = T.autograd.grad(y, x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x)
    assert g.tolist() == [3.0, 12.0]
    assert h.tolist() == [6.0, 12.0]


def test_13_01_second_derivatives_of_saved_results(T: Any, leaf: Any) -> None:
    x = leaf([0.0, 1.0])
    with T.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = (x * 2).exp().sum()
    (g,) = T.autograd.grad(y, x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x)
    assert h.tolist() == pytest.approx([4.0, 4 * 7.389056])


def test_13_01_freed_as_any_graph(T: Any, leaf: Any, raises: Any) -> None:
    log, x = Log(), leaf()
    with T.autograd.graph.saved_tensors_hooks(log.pack, log.unpack):
        y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward()
    assert len(log.unpacked) == 2
    with raises(RuntimeError, "Trying to backward through the graph a second time …"):
        y.backward()


def test_13_01_packing_runs_without_history(T: Any, leaf: Any) -> None:
    seen: list[bool] = []
    x = leaf()

    def pack(t: Any) -> Any:
        seen.append(T.is_grad_enabled())
        return t * 1

    with T.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        x.exp()
    assert seen == [False]


def test_13_02_values_may_leave_and_come_back(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), lambda a: T.tensor(a)):
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_13_02_pack_must_not_write(T: Any, leaf: Any, raises: Any) -> None:
    message = (
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
        "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open "
        "an issue if you need to perform in-place operations on the input to a pack hook."
    )
    y = leaf() * 1
    with (
        raises(RuntimeError, message),
        T.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t),
    ):
        y.exp()


def test_13_02_unpack_gives_a_tensor(T: Any, leaf: Any, raises: Any) -> None:
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: "text"):
        y = leaf().exp().sum()
    message = "Output of saved tensor unpack_hook expected to be a Tensor but got result of type str"
    with raises(TypeError, message):
        y.backward()


def test_13_03_disabled(T: Any, leaf: Any, raises: Any) -> None:
    graph = T.autograd.graph
    with graph.disable_saved_tensors_hooks("not here"):
        with raises(RuntimeError, "not here"), graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            leaf().exp()
        leaf().exp().sum().backward()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        leaf().exp().sum().backward()


def test_13_03_disabled_within_a_pair(T: Any, raises: Any) -> None:
    graph = T.autograd.graph
    with (
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        raises(RuntimeError, "not here"),
        graph.disable_saved_tensors_hooks("not here"),
    ):
        pass


def test_13_01_hooks_are_callable(T: Any, leaf: Any, raises: Any) -> None:
    message = "…incompatible function arguments.…"
    pair = T.autograd.graph.saved_tensors_hooks(lambda t: t, 5)
    with raises(TypeError, "_push_saved_tensors_default_hooks(): " + message[1:]), pair:
        pass
    y = leaf().exp()
    with raises(TypeError, "register_hooks(): " + message[1:]):
        y.grad_fn._raw_saved_result.register_hooks(1, 2)
    y.sum().backward()


def test_13_03_save_on_cpu(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.autograd.graph.save_on_cpu():
        y = (x * x).exp().sum()
    y.backward()
    assert x.grad.tolist() == pytest.approx([2 * 2.7182817, 4 * 54.59815])


def test_13_03_mutation_of_saved_tensors(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = (y * y).sum()
        y.zero_()
        z.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_13_03_mutation_tells_what_was_saved_from_what_was_made_later(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        total = 0
        for k in range(6):
            y = x * (k + 1)
            total = total + (y * y).sum()
            y.mul_(2)
            del y  # the next one is likely to lie where this did
        total.backward()
    assert x.grad.tolist() == [182.0, 364.0]


@pytest.mark.parametrize("where", ["hooks", "Function", "anomaly"])
def test_13_03_mutation_is_seen_wherever_it_is_done(T: Any, leaf: Any, where: str) -> None:
    class Triple(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    x = leaf()
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = (y * y).sum()
        if where == "hooks":
            with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                y.mul_(3)
        elif where == "Function":
            Triple.apply(y)
        else:
            with T.autograd.set_detect_anomaly(False):
                pass
            y.mul_(3)
        z.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_13_03_mutation_ends_with_its_context(T: Any, leaf: Any, raises: Any) -> None:
    mutation = T.autograd.graph.allow_mutation_on_saved_tensors
    with mutation() as context:
        y = (leaf() ** 2).sum()
        with raises(RuntimeError, "allow_mutation_on_saved_tensors contexts cannot be nested"), mutation():
            pass
    assert callable(context.clear)
    with raises(AssertionError, "Trying to backward outside of the 'allow_mutation_on_saved_tensors' …"):
        y.backward()


@pytest.mark.parametrize("how", ["numpy", "same", "cpu"])
def test_13_01_a_function_keeps_the_history_of_what_it_saved(T: Any, leaf: Any, how: str) -> None:
    seen: list[Any] = []

    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x**3
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            seen.append((x.requires_grad, type(y.grad_fn).__name__))
            return g * 3 * y / x

    graph = T.autograd.graph
    pair = {
        "numpy": lambda: graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), T.from_numpy),
        "same": lambda: graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        "cpu": graph.save_on_cpu,
    }[how]
    x = leaf()
    for given in (x, x * 1):
        with pair():
            y = Cube.apply(given)
        (first,) = T.autograd.grad(y.sum(), x, create_graph=True)
        assert first.tolist() == pytest.approx([3.0, 12.0])
        (second,) = T.autograd.grad(first.sum(), x)
        assert second.tolist() == pytest.approx([6.0, 12.0])
    assert seen == [(True, "CubeBackward")] * 4


def test_12_04_hooks_of_one_saved_tensor(T: Any, leaf: Any, raises: Any) -> None:
    log, x = Log(), leaf([0.0, 1.0])
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(log.pack, log.unpack)
    assert len(log.packed) == 1
    with raises(
        RuntimeError, "Calling register_hooks on a saved tensor whose hooks have already been set. …"
    ):
        y.grad_fn._raw_saved_result.register_hooks(log.pack, log.unpack)
    y.sum().backward()
    assert len(log.unpacked) == 1
    assert x.grad.tolist() == pytest.approx([1.0, 2.7182817])
    with raises(RuntimeError, "Calling register_hooks on a saved tensor after it has been freed. …"):
        y.grad_fn._raw_saved_result.register_hooks(log.pack, log.unpack)
