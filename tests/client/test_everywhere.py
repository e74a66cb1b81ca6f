"""Hooks common to all modules, and layers under the paths that they have in PyTorch."""

from __future__ import annotations

import importlib
from typing import Any

import gradd
import pytest

from tests.oracle import HERE, module


@pytest.fixture
def everywhere(T: Any) -> Any:
    """Where hooks common to all modules are registered."""
    return T.nn.modules.module


def test_forward_hooks_of_all_modules_come_first(T: Any, everywhere: Any) -> None:
    calls: list[str] = []
    model = T.nn.Sequential(T.nn.Identity(), T.nn.ReLU())

    def note(what: str) -> Any:
        return lambda module, *_: calls.append(f"{what} {type(module).__name__}")

    handles = [
        everywhere.register_module_forward_pre_hook(note("before")),
        everywhere.register_module_forward_hook(note("after")),
    ]
    model[1].register_forward_pre_hook(note("own before"))
    model[1].register_forward_hook(note("own after"))
    model(T.ones(1))
    assert calls == [
        "before Sequential", "before Identity", "after Identity",
        "before ReLU", "own before ReLU", "after ReLU", "own after ReLU", "after Sequential",
    ]  # fmt: skip
    for handle in handles:
        handle.remove()
    calls.clear()
    model[0](T.ones(1))
    assert calls == []


def test_forward_hooks_of_all_modules_replace(T: Any, everywhere: Any) -> None:
    def doubled(module: Any, args: Any, kwargs: Any, output: Any) -> Any:
        assert kwargs == {"input": args[0]} if not args else kwargs == {}
        return output * 2

    with (
        everywhere.register_module_forward_pre_hook(lambda module, args: args[0] + 1),
        everywhere.register_module_forward_hook(doubled, with_kwargs=True),
    ):
        assert T.nn.Identity()(T.ones(2)).tolist() == [4.0, 4.0]
    assert T.nn.Identity()(T.ones(2)).tolist() == [1.0, 1.0]


def test_a_forward_hook_of_all_modules_is_called_after_errors(T: Any, everywhere: Any) -> None:
    seen: list[Any] = []
    hook = lambda module, args, output: seen.append(output)  # noqa: E731
    with (
        everywhere.register_module_forward_hook(hook, always_call=True),
        pytest.raises(NotImplementedError, match='missing the required "forward"'),
    ):
        T.nn.Module()()
    assert seen == [None]


def test_backward_hooks_of_all_modules(T: Any, everywhere: Any) -> None:
    calls: list[Any] = []

    def before(module: Any, grad_output: Any) -> Any:
        calls.append(("before", type(module).__name__, grad_output[0].tolist()))
        return (grad_output[0] * 10,)

    def after(module: Any, grad_input: Any, grad_output: Any) -> Any:
        calls.append(("after", type(module).__name__, grad_input[0].tolist(), grad_output[0].tolist()))

    x = T.tensor([2.0], requires_grad=True)
    with (
        everywhere.register_module_full_backward_pre_hook(before),
        everywhere.register_module_full_backward_hook(after),
    ):
        layer = T.nn.Identity()
        layer.register_full_backward_hook(lambda *_: calls.append("own"))
        (layer(x) * 3).sum().backward()
    assert calls == [("before", "Identity", [3.0]), ("after", "Identity", [30.0], [30.0]), "own"]
    assert x.grad.tolist() == [30.0]
    with pytest.raises(RuntimeError, match=r"as a global Module hook. Please use only one of them"):
        everywhere.register_module_backward_hook(after)


def test_registrations_are_told(T: Any, everywhere: Any) -> None:
    told: list[str] = []
    with (
        everywhere.register_module_parameter_registration_hook(lambda m, name, p: told.append(name)),
        everywhere.register_module_buffer_registration_hook(lambda m, name, b: b + 1),
        everywhere.register_module_module_registration_hook(lambda m, name, child: T.nn.Identity()),
    ):
        model = T.nn.Module()
        model.layer = T.nn.Linear(2, 2, bias=False)
        model.register_buffer("count", T.zeros(1))
        model.count = T.tensor([5.0])
        model.add_module("other", T.nn.ReLU())
    assert told == ["weight"]
    assert model.count.tolist() == [6.0]
    assert [type(m).__name__ for m in model.children()] == ["Identity", "Identity"]


def test_hooks_are_in_dictionaries(T: Any) -> None:
    model = T.nn.Identity()
    first = model.register_forward_hook(lambda module, args, output: output * 3)
    model.register_forward_hook(lambda module, args, output: output + 1, prepend=True)
    assert list(model._forward_hooks)[1] == first.id
    assert model(T.ones(1)).tolist() == [6.0]
    del model._forward_hooks[first.id]
    first.remove()
    assert model(T.ones(1)).tolist() == [2.0]
    model._forward_hooks.clear()
    assert model(T.ones(1)).tolist() == [1.0]


BASES = {
    "BatchNorm2d(2)": "batchnorm._BatchNorm",
    "BatchNorm1d(2)": "batchnorm._NormBase",
    "InstanceNorm2d(2)": "instancenorm._InstanceNorm",
    "Conv2d(1, 1, 1)": "conv._ConvNd",
    "ConvTranspose1d(1, 1, 1)": "conv._ConvTransposeNd",
    "MSELoss()": "loss._Loss",
    "CrossEntropyLoss()": "loss._WeightedLoss",
    "Dropout2d()": "dropout._DropoutNd",
    "MaxPool1d(2)": "pooling._MaxPoolNd",
    "AvgPool2d(2)": "pooling._AvgPoolNd",
    "ConstantPad1d(1, 0.0)": "padding._ConstantPadNd",
    "LSTM(1, 1)": "rnn.RNNBase",
    "Linear(1, 1)": "module.Module",
}


@pytest.mark.parametrize("layer", BASES)
def test_layers_have_the_bases_that_scripts_ask_for(T: Any, layer: str) -> None:
    path, _, base = BASES[layer].partition(".")
    kind = getattr(importlib.import_module(f"{T.__name__}.nn.modules.{path}"), base)
    assert isinstance(eval(f"nn.{layer}", {"nn": T.nn}), kind)
    assert not isinstance(T.nn.Sequential(), kind) or base == "Module"


@pytest.mark.skipif(not HERE, reason="asks PyTorch where its layers are")
def test_layers_are_where_pytorch_has_them() -> None:
    torch = module()
    layers = {n: v for n, v in vars(torch.nn).items() if isinstance(v, type) and hasattr(gradd.nn, n)}
    assert len(layers) > 80
    for name, layer in layers.items():
        where = layer.__module__
        if where.startswith("torch.nn.modules."):
            ours = importlib.import_module(where.replace("torch", "gradd", 1))
            assert getattr(ours, name) is getattr(gradd.nn, name)
            assert getattr(gradd.nn.modules, name) is getattr(gradd.nn, name)
            assert name in dir(ours)


def test_what_is_at_no_path_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"modules.conv' has no attribute 'Linear'"):
        getattr(gradd.nn.modules.conv, "Linear")  # noqa: B009
    with pytest.raises(AttributeError, match=r"module 'gradd.nn.modules' has no attribute 'nothing'"):
        getattr(gradd.nn.modules, "nothing")  # noqa: B009
    assert "Conv2d" in gradd.nn.modules.__all__


def test_one_value_for_each_dimension(T: Any) -> None:
    utils = T.nn.modules.utils
    assert (utils._pair(3), utils._single([1]), utils._triple("abc")) == ((3, 3), (1,), ("a", "b", "c"))
    assert utils._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    assert utils._list_with_default([None, 3], [5, 6, 7]) == [6, 3]
    assert utils._ntuple(4)(0) == (0, 0, 0, 0)
    model = T.nn.Sequential(T.nn.Linear(1, 1))
    state = T.nn.DataParallel(model).state_dict()
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["0.weight", "0.bias"]
    assert str(model.load_state_dict(state)) == "<All keys matched successfully>"
