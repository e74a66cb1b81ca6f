"""§11.8, of modules: backward hooks of a call, which are hooks of the nodes around it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def linear(T: Any) -> Callable[..., Any]:
    """`linear(inputs=2, outputs=1)`: a layer whose weights are 2 and biases 1."""

    def make(inputs: int = 2, outputs: int = 1) -> Any:
        made = T.nn.Linear(inputs, outputs)
        with T.no_grad():
            made.weight.fill_(2.0)
            made.bias.fill_(1.0)
        return made

    return make


def _listed(grads: Any) -> list[Any]:
    return [None if g is None else g.tolist() for g in grads]


def test_11_08_of_a_module(T: Any, leaf: Any, linear: Any) -> None:
    m, log = linear(), []
    m.register_full_backward_hook(lambda m, gi, go: log.append(("after", _listed(gi), _listed(go))))
    m.register_full_backward_hook(lambda m, gi, go: log.append("first"), prepend=True)
    before = m.register_full_backward_pre_hook(lambda m, go: log.append(("before", _listed(go))))
    x = leaf([[1.0, 1.0]])
    y = m(x)
    assert y.grad_fn.name() == "BackwardHookFunctionBackward"
    y.sum().backward()
    assert log == [("before", [[[1.0]]]), "first", ("after", [[[2.0, 2.0]]], [[[1.0]]])]
    before.remove()
    log.clear()
    (slope,) = T.autograd.grad(m(x).sum() * 3, x, create_graph=True)
    assert slope.tolist() == [[6.0, 6.0]]
    assert log == ["first", ("after", [[[6.0, 6.0]]], [[[3.0]]])]


def test_11_08_hooks_of_a_module_replace_gradients(leaf: Any, linear: Any) -> None:
    m = linear()
    m.register_full_backward_pre_hook(lambda m, go: (go[0] * 3,))
    m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
    x = leaf([[1.0, 1.0]])
    m(x).sum().backward()
    assert m.weight.grad.tolist() == [[3.0, 3.0]]
    assert x.grad.tolist() == [[60.0, 60.0]]


@pytest.mark.parametrize(
    ("before", "hook", "kind", "message"),
    [
        (
            False,
            lambda m, gi, go: (gi[0], gi[0]),
            RuntimeError,
            "Backward hook returned an invalid number of grad_input, got 2, but expected 1",
        ),
        (
            False,
            lambda m, gi, go: (gi[0].double(),),
            RuntimeError,
            "hook 'hook' has changed the type of value (was torch.FloatTensor got torch.DoubleTensor)",
        ),
        (False, lambda m, gi, go: (1.0,), TypeError, "expected Variable, but hook returned 'float'"),
        (
            True,
            lambda m, go: (go[0], go[0]),
            RuntimeError,
            "Backward pre hook returned an invalid number of grad_output, got 2, but expected 1",
        ),
    ],
)
def test_11_08_what_hooks_of_a_module_may_return(
    leaf: Any, linear: Any, raises: Any, before: bool, hook: Any, kind: type[Exception], message: str
) -> None:
    m = linear()
    (m.register_full_backward_pre_hook if before else m.register_full_backward_hook)(hook)
    y = m(leaf([[1.0, 1.0]])).sum()
    with raises(kind, message):
        y.backward()


def test_11_08_a_module_without_tracked_inputs(T: Any, linear: Any, warns: Any, raises: Any) -> None:
    m, log = linear(), []
    m.register_full_backward_hook(lambda m, gi, go: log.append((gi, _listed(go))))
    message = "Full backward hook is firing when gradients are computed with respect to module outputs …"
    with warns(UserWarning, message):
        m(T.ones(1, 2)).sum().backward()
    assert log == [((None,), [[[1.0]]])]
    m.register_full_backward_hook(lambda m, gi, go: go)
    message = (
        "Backward hook for Modules where no input requires gradient should always return None or None for "
        "all gradients."
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = m(T.ones(1, 2)).sum()
        with raises(RuntimeError, message):
            y.backward()


def test_11_08_several_inputs_and_outputs(T: Any, leaf: Any) -> None:
    class Both(T.nn.Module):
        def forward(self, a: Any, b: Any, c: Any = None) -> Any:
            return a * b, a + 1, 3

    m, log = Both(), []
    m.register_full_backward_hook(lambda m, gi, go: log.append((_listed(gi), _listed(go))))
    a = leaf()
    first, second, third = m(a, T.tensor([3.0, 4.0]), None)
    assert third == 3
    first.sum().backward()
    assert log == [([[3.0, 4.0], [0.0, 0.0], None], [[1.0, 1.0], None, None])]
    assert a.grad.tolist() == [3.0, 4.0]
    assert second.requires_grad


def test_11_08_an_output_that_is_no_tensor(T: Any, leaf: Any, warns: Any) -> None:
    class Named(T.nn.Module):
        def forward(self, a: Any) -> Any:
            return {"y": a * 2}

    m, x = Named(), leaf()
    m.register_full_backward_hook(lambda m, gi, go: pytest.fail("no gradient of an output comes by"))
    message = (
        "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
        "received <class 'dict'>"
    )
    with warns(UserWarning, message):
        y = m(x)["y"]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
