"""§18.3: modules as functions of their parameters."""

from __future__ import annotations

from typing import Any


def lists(found: dict[str, Any]) -> dict[str, Any]:
    """A dict of tensors as lists."""
    return {name: t.tolist() for name, t in found.items()}


def test_18_03_functional_call(T: Any, raises: Any) -> None:
    layer = T.nn.Linear(2, 1)
    given = {"weight": T.tensor([[2.0, 3.0]]), "bias": T.tensor([1.0])}
    x = T.tensor([[1.0, 1.0]])
    assert T.func.functional_call(layer, given, (x,)).tolist() == [[6.0]]
    assert T.func.functional_call(layer, given, x).tolist() == [[6.0]]
    assert T.func.functional_call(
        layer, [{"weight": given["weight"]}, {"bias": given["bias"]}], x
    ).tolist() == [[6.0]]
    assert isinstance(layer.weight, T.nn.Parameter)
    assert layer.weight.tolist() != [[2.0, 3.0]]
    with raises(
        RuntimeError,
        "Error(s) in reparametrizing for Linear:\n\tUnexpected key(s): 'other'.\n\tMissing key(s): 'bias'.",
    ):
        T.func.functional_call(layer, {"weight": given["weight"], "other": x}, x, strict=True)
    with raises(
        ValueError, "['bias'] appeared in multiple dictionaries; behavior of functional call is ambiguous"
    ):
        T.func.functional_call(layer, [given, {"bias": x}], x)
    with raises(
        ValueError,
        "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got <class 'int'>",
    ):
        T.func.functional_call(layer, 1, x)


def test_18_03_functional_call_in_a_transform(T: Any) -> None:
    model = T.nn.Sequential(T.nn.Linear(2, 2, bias=False), T.nn.ReLU(), T.nn.Linear(2, 1, bias=False))
    given = {"0.weight": T.tensor([[1.0, 0.0], [0.0, -1.0]]), "2.weight": T.tensor([[2.0, 5.0]])}
    x = T.tensor([[3.0, 4.0]])

    def loss(parameters: Any) -> Any:
        return T.func.functional_call(model, parameters, (x,)).sum()

    found = T.func.grad(loss)(given)
    assert lists(found) == {"0.weight": [[6.0, 8.0], [0.0, 0.0]], "2.weight": [[3.0, 0.0]]}
    assert model[0].weight.grad is None


def test_18_03_functional_call_with_tied_weights_and_buffers(T: Any, raises: Any) -> None:
    class Tied(T.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.one = T.nn.Parameter(T.tensor([1.0]))
            self.two = self.one
            self.register_buffer("calls", T.tensor([0.0]))

        def forward(self, x: Any) -> Any:
            self.calls = self.calls + 1
            return x + self.one + self.two

    module, x = Tied(), T.tensor([0.0])
    two = T.tensor([2.0])
    assert T.func.functional_call(module, {"one": two}, x).tolist() == [4.0]
    assert T.func.functional_call(module, {"one": two}, x, tie_weights=False).tolist() == [3.0]
    with raises(
        ValueError,
        "functional_call got multiple values for keys ['one', 'two'], which are tied. Consider using "
        "tie_weights=False",
    ):
        T.func.functional_call(module, {"one": two, "two": x}, x)
    given = {"calls": T.tensor([5.0])}
    before = module.calls.tolist()
    T.func.functional_call(module, given, x)
    assert given["calls"].tolist() == [6.0]
    assert module.calls.tolist() == before


def test_18_03_stack_module_state(T: Any, raises: Any) -> None:
    models = [T.nn.Linear(2, 1) for _ in range(3)]
    parameters, buffers = T.func.stack_module_state(models)
    assert {name: tuple(t.shape) for name, t in parameters.items()} == {"weight": (3, 1, 2), "bias": (3, 1)}
    assert all(t.requires_grad and t.is_leaf for t in parameters.values())
    assert buffers == {}
    with raises(RuntimeError, "stack_module_state: Expected at least one model, got 0."):
        T.func.stack_module_state([])
    with raises(RuntimeError, "stack_module_state: Expected all models to be of the same class."):
        T.func.stack_module_state([models[0], T.nn.ReLU()])
    models[0].eval()
    with raises(RuntimeError, "stack_module_state: Expected all models to have the same training/eval mode."):
        T.func.stack_module_state(models)
