"""Containers of modules and parameters: as lists and dicts behave, as they register, as they print."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.oracle import ITSELF, module


@pytest.fixture(params=[*ITSELF, "gradd"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    """`torch`, the oracle, or `gradd` with a local session as the current one: every test runs on both."""
    if request.param == "torch":
        yield module()
        return
    import gradd

    with gradd.connect("local:"):
        yield gradd


def error(fn: Callable[[], Any]) -> tuple[type[BaseException], str]:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - class and text are what the test compares
        fn()
    return caught.type, str(caught.value)


def test_containers(T: Any) -> None:
    nn = T.nn
    parts = [nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)]
    s = nn.Sequential(*parts)
    assert len(s) == 3
    assert s[-1] is parts[2]
    assert list(s[:2]) == parts[:2]
    assert s(T.ones(4, 2)).shape == (4, 1)
    s.append(nn.Tanh())
    s.insert(0, nn.Identity())
    assert [type(p).__name__ for p in s] == ["Identity", "Linear", "ReLU", "Linear", "Tanh"]
    del s[0]
    assert type(s.pop(3)).__name__ == "Tanh"
    assert list(s.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert error(lambda: s[3]) == (IndexError, "index 3 is out of range")
    assert error(lambda: s.append(3)) == (TypeError, "int is not a Module subclass")
    named = nn.Sequential(OrderedDict(a=nn.Linear(1, 1), b=nn.ReLU()))
    assert named.a is named[0]
    many = nn.ModuleList([nn.Linear(1, 1)])
    many += [nn.ReLU()]
    many.extend([nn.Tanh()])
    many[1] = nn.Sigmoid()
    assert [type(p).__name__ for p in many] == ["Linear", "Sigmoid", "Tanh"]
    table = nn.ModuleDict({"a": nn.ReLU()})
    table["b"] = nn.Linear(1, 1)
    assert (list(table), "a" in table, len(table)) == (["a", "b"], True, 2)
    assert list(dict(table.named_parameters())) == ["b.weight", "b.bias"]
    assert type(table.pop("a")).__name__ == "ReLU"
    listed = nn.ParameterList([T.ones(2), nn.Parameter(T.zeros(1))])
    listed.append(T.ones(1))
    assert [n for n, _ in listed.named_parameters()] == ["0", "1", "2"]
    assert listed[0].requires_grad
    held = nn.ParameterDict({"w": T.ones(2)})
    assert [n for n, _ in held.named_parameters()] == ["w"]
    assert held["w"].requires_grad


def test_sequentials_add_and_multiply(T: Any) -> None:
    nn = T.nn
    first, second = nn.Sequential(nn.ReLU(), nn.Tanh()), nn.Sequential(nn.Sigmoid())
    both = first + second
    assert [type(m).__name__ for m in both] == ["ReLU", "Tanh", "Sigmoid"]
    assert both[2] is second[0]
    assert (len(first * 3), len(2 * first), len(first)) == (6, 4, 2)
    first += second
    first *= 2
    assert list(first._modules) == ["0", "1", "2", "3", "4", "5"]
    assert first[5] is first[2]
    assert error(lambda: first + nn.ReLU())[0] is ValueError
    assert error(lambda: first * 0)[1].startswith("Non-positive multiplication factor 0 for <class ")
    assert error(lambda: first * 1.5)[0] is TypeError
    joined = nn.ModuleList([nn.ReLU()]) + nn.ModuleList([nn.Tanh()])
    assert (type(joined), len(joined)) == (nn.ModuleList, 2)


def test_dicts_of_parameters_behave_as_dicts(T: Any) -> None:
    held = T.nn.ParameterDict({"b": T.ones(1), "a": T.zeros(1)})
    assert list(held) == ["a", "b"]
    assert list(T.nn.ParameterDict(OrderedDict(b=T.ones(1), a=T.zeros(1)))) == ["b", "a"]
    assert (held.get("c"), held.get("c", 3), held.get("a") is held["a"]) == (None, 3, True)
    assert held.setdefault("c", T.full((1,), 2.0)).requires_grad
    merged = held | {"d": T.ones(2)}
    assert list(merged) == ["a", "b", "c", "d"]
    assert merged["a"] is held["a"]
    held |= [("e", T.ones(1))]
    assert held.popitem()[0] == "e"
    assert held.pop("b").tolist() == [1.0]
    assert list(reversed(held)) == ["c", "a"]
    assert list(held.fromkeys(["x", "y"], 1).items()) == [("x", 1), ("y", 1)]
    held.clear()
    assert (len(held), list(held.parameters())) == (0, [])


REPRS: dict[str, Callable[[Any], Any]] = {
    "nested": lambda nn: nn.Sequential(
        OrderedDict(
            a=nn.Linear(1, 2), c=nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, bias=False), nn.BatchNorm2d(3))
        )
    ),
    "list": lambda nn: nn.ModuleList([nn.ReLU(), nn.Linear(1, 1), nn.Linear(1, 1), nn.Linear(2, 1)]),
    "list of containers": lambda nn: nn.ModuleList([nn.Sequential(nn.Tanh()), nn.Sequential(nn.Tanh())]),
    "dict": lambda nn: nn.ModuleDict({"a": nn.Tanh(), "b": nn.Flatten()}),
    "list of parameters": lambda nn: nn.ParameterList([nn.Linear(2, 3).weight, nn.Linear(1, 1).bias, 3]),
    "list of one parameter": lambda nn: nn.ParameterList([nn.Linear(2, 3).weight]),
    "dict of parameters": lambda nn: nn.ParameterDict({"b": nn.Linear(2, 3).weight, "a": 3}),
    "empty": lambda nn: nn.Sequential(),
    "empty list": lambda nn: nn.ModuleList(),
}


@pytest.mark.oracle
@pytest.mark.parametrize("case", REPRS)
def test_repr(oracle: Callable[..., Any], case: str) -> None:
    import gradd

    with gradd.connect("local:"):
        assert repr(REPRS[case](gradd.nn)) == oracle(lambda torch: repr(REPRS[case](torch.nn)))
