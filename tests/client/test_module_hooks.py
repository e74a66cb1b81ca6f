"""Hooks of modules: forward, full backward with its pre-hooks, and the deprecated kind, as in PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from tests.oracle import ITSELF, module


@pytest.fixture(params=[*ITSELF, "local:", "daemon"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    """`torch`, the oracle, or `gradd` in process or over the stream: every test runs on all."""
    if request.param == "torch":
        yield module()
        return
    import gradd

    url = request.getfixturevalue("daemon") if request.param == "daemon" else request.param
    with gradd.connect(url):
        yield gradd


def layer(T: Any) -> Any:
    """A Linear from 2 to 1 with weights 2 and 3."""
    made = T.nn.Linear(2, 1)
    made.load_state_dict({"weight": T.tensor([[2.0, 3.0]]), "bias": T.tensor([1.0])})
    return made


def test_forward_hooks(T: Any) -> None:
    m = T.nn.Linear(2, 2)
    calls: list[str] = []

    def before(module: Any, args: Any) -> Any:
        calls.append("before")
        return args[0] * 0

    def after(module: Any, args: Any, output: Any) -> Any:
        calls.append("after")
        assert args[0].sum().item() == 0
        return output + 1

    first = m.register_forward_pre_hook(before)
    second = m.register_forward_hook(after)
    out = m(T.ones(1, 2))
    assert out.tolist() == [[pytest.approx(v + 1) for v in m.bias.tolist()]]
    assert calls == ["before", "after"]
    first.remove()
    second.remove()
    m(T.ones(1, 2))
    assert calls == ["before", "after"]


def test_hooks_with_kwargs_order_and_failure(T: Any) -> None:
    class Add(T.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any, *, y: Any) -> Any:
            if y is None:
                raise ValueError("no y")
            return x + y

    m = Add()
    calls: list[str] = []
    m.register_forward_pre_hook(
        lambda mod, a, k: (a, {"y": k["y"] * 2}) if k["y"] else None, with_kwargs=True
    )
    m.register_forward_hook(lambda mod, a, k, out: calls.append(f"second {k['y']}"), with_kwargs=True)
    m.register_forward_hook(lambda mod, a, out: calls.append("first"), prepend=True)
    m.register_forward_hook(lambda mod, a, out: calls.append(f"always {out}"), always_call=True)
    assert m(1, y=2) == 5
    assert calls == ["first", "second 4", "always 5"]
    with pytest.raises(ValueError, match="no y"):
        m(1, y=None)
    assert calls[3:] == ["always None"]


def test_an_error_of_a_hook_that_is_always_called_gives_way(T: Any) -> None:
    class Broken(T.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            raise ValueError("first")

    def hook(mod: Any, args: Any, out: Any) -> None:
        raise KeyError("second")

    m = Broken()
    m.register_forward_hook(hook, always_call=True)
    with (
        pytest.warns(UserWarning, match="that was silenced as another error was raised in forward: 'second'"),
        pytest.raises(ValueError, match="first"),
    ):
        m(1)


def listed(grads: Any) -> Any:
    return [None if g is None else g.tolist() for g in grads]


def test_full_backward_hooks_see_and_replace_the_gradients_of_the_inputs(T: Any) -> None:
    m, seen = layer(T), []
    m.register_full_backward_hook(lambda mod, given, got: seen.append((mod is m, listed(given), listed(got))))
    m.register_full_backward_hook(lambda mod, given, got: (given[0] * 10,))
    handle = m.register_full_backward_hook(lambda mod, given, got: seen.append(listed(given)), prepend=True)
    x = T.tensor([[1.0, 5.0]], requires_grad=True)
    out = m(x)
    assert out.grad_fn.name() == "BackwardHookFunctionBackward"
    out.sum().backward()
    assert seen == [[[[2.0, 3.0]]], (True, [[[2.0, 3.0]]], [[[1.0]]])]
    assert x.grad.tolist() == [[20.0, 30.0]]
    assert m.weight.grad.tolist() == [[1.0, 5.0]]
    handle.remove()
    m(x).sum().backward()
    assert len(seen) == 3


def test_backward_pre_hooks_replace_the_gradients_of_the_outputs(T: Any) -> None:
    m, seen = layer(T), []
    m.register_full_backward_pre_hook(lambda mod, got: (got[0] * 2,))
    m.register_full_backward_pre_hook(lambda mod, got: seen.append(listed(got)))
    m.register_full_backward_hook(lambda mod, given, got: seen.append(listed(got)))
    x = T.tensor([[1.0, 5.0]], requires_grad=True)
    m(x).sum().backward()
    assert seen == [[[[2.0]]], [[[2.0]]]]
    assert x.grad.tolist() == [[4.0, 6.0]]
    assert m.bias.grad.tolist() == [2.0]


def test_several_inputs_and_outputs_some_without_gradient(T: Any) -> None:
    class Mix(T.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, a: Any, number: Any, b: Any, c: Any) -> Any:
            return a * number, "text", b + c, c

    m, seen = Mix(), []
    m.register_full_backward_hook(lambda mod, given, got: seen.append((listed(given), listed(got))))
    a, b = T.ones(1, requires_grad=True), T.ones(2, requires_grad=True)
    first, text, second, third = m(a, 3, b, T.zeros(2))
    assert (text, third.requires_grad) == ("text", False)
    first.sum().backward(retain_graph=True)
    assert a.grad.tolist() == [3.0]
    assert [g is None for g in seen[0][0]] == [False, True, False, False]
    (first.sum() + second.sum()).backward()
    assert seen[1] == ([[3.0], None, [1.0, 1.0], [0.0, 0.0]], [[1.0], None, [1.0, 1.0], None])


def test_no_input_needs_a_gradient(T: Any) -> None:
    m, seen = layer(T), []
    handle = m.register_full_backward_hook(lambda mod, given, got: seen.append((given, listed(got))))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        m(T.ones(1, 2)).sum().backward()
    assert [str(w.message)[:36] for w in told] == ["Full backward hook is firing when gr"]
    assert seen == [((None,), [[[1.0]]])]
    handle.remove()
    m.register_full_backward_hook(lambda mod, given, got: got)
    told = pytest.warns(UserWarning, match="Full backward hook is firing")
    with told, pytest.raises(RuntimeError, match="should always return None or None for all gradients"):
        m(T.ones(1, 2)).sum().backward()
    with T.no_grad():
        assert m(T.ones(1, 2)).grad_fn is None


def test_what_backward_hooks_return_is_checked(T: Any) -> None:
    x = T.ones(1, 2, requires_grad=True)
    m = layer(T)
    m.register_full_backward_hook(lambda mod, given, got: (given[0], given[0]))
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 2, but expected 1"):
        m(x).sum().backward()
    m = layer(T)
    m.register_full_backward_pre_hook(lambda mod, got: ())
    with pytest.raises(RuntimeError, match="invalid number of grad_output, got 0, but expected 1"):
        m(x).sum().backward()


def test_an_output_that_is_no_tensor_warns(T: Any) -> None:
    class Named(T.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return {"out": x}

    m = Named()
    m.register_full_backward_hook(lambda *_: None)
    with pytest.warns(
        UserWarning, match="module output should be a Tensor or a tuple of Tensors but received"
    ):
        m(T.ones(1, requires_grad=True))


def test_the_deprecated_kind_stands_at_the_node_of_the_output(T: Any) -> None:
    m, seen = layer(T), []
    m.register_backward_hook(lambda mod, given, got: seen.append((mod is m, len(given), listed(got))))
    with pytest.warns(FutureWarning, match="when the forward contains multiple autograd Nodes is deprecated"):
        out = m(T.ones(1, 2, requires_grad=True))
    out.sum().backward()
    assert seen == [(True, 3, [[[1.0]]])]
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        m.register_full_backward_hook(lambda *_: None)
    m = layer(T)
    m.register_full_backward_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        m.register_backward_hook(lambda *_: None)


def test_the_deprecated_kind_says_what_it_misses(T: Any) -> None:
    x = T.ones(1, requires_grad=True) * 1

    def told(forward: Any, *args: Any) -> list[str]:
        made = type("Made", (T.nn.Module,), {"forward": lambda self, *given: forward(*given)})()
        made.register_backward_hook(lambda *_: None)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            made(*args)
        return [str(w.message) for w in seen]

    assert told(lambda a: a.exp(), x) == []
    assert told(lambda a: a.split(1), x) == []
    assert ["does not return a single" in m for m in told(lambda a: {"out": a.exp()}, x)] == [True]
    assert ["does not take as input" in m for m in told(lambda a, n: a * n, x, 2)] == [True]
    assert ["by different autograd Nodes" in m for m in told(lambda a: (a.exp(), a.sin()), x)] == [True]


def test_hooks_in_a_double_backward(T: Any) -> None:
    m, seen = T.nn.Tanh(), []
    m.register_full_backward_hook(lambda mod, given, got: seen.append(round(given[0].item(), 4)))
    x = T.tensor([0.5], requires_grad=True)
    (g,) = T.autograd.grad(m(x).sum(), x, create_graph=True)
    (gg,) = T.autograd.grad(g.sum(), x)
    assert seen == [0.7864]
    assert round(gg.item(), 4) == -0.7269
