"""Every layer beside PyTorch's: what it shows of itself, what it computes, and what it refuses."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest

from tests.client.layer_cases import CASES
from tests.client.layer_misuse import REFUSED, WRONG

#: what computes otherwise in training
MODES = ("Norm", "Dropout", "RReLU", "Transformer")
#: attributes that PyTorch keeps for itself
OWN = {"_flat_weight_refs", "_load_hook", "_initialize_hook", "use_nested_tensor"}
#: members that look after the memory of cuDNN's weights
CUDNNS = {"_init_flat_weights", "_update_flat_weights", "_weights_have_changed"}
#: classes that are no layers of their own, or have no constructor to compare
NO_LAYERS = {
    "NLLLoss2d",
    "RNNBase",
    "RNNCellBase",
    "Module",
    "Container",
    "CrossMapLRN2d",
    "LinearCrossEntropyOptions",
    "ParameterDict",
    "ParameterList",
    "ModuleDict",
    "ModuleList",
    "Sequential",
}


class Scope(dict[str, Any]):
    """What the names in an expression stand for. Normal numbers of a call are leaves, in `leaves`."""

    def __init__(self, T: Any) -> None:
        super().__init__({name: v for name, v in vars(T.nn).items() if isinstance(v, type)})
        self.T, self.leaves, self.made = T, [], 0
        self.update(T=T, F=T.nn.functional, x=self.x, u=self.u, k=self.k, pm=self.pm)
        for name in dir(T.nn):
            self.setdefault(name, getattr(T.nn, name))

    def _rng(self) -> Any:
        self.made += 1
        return np.random.default_rng(self.made)

    def x(self, *shape: int) -> Any:
        """Normal numbers."""
        self.leaves.append(self.T.tensor(self._rng().normal(size=shape), requires_grad=True))
        return self.leaves[-1].clone()

    def u(self, *shape: int) -> Any:
        """Numbers from 0.1 to 0.9."""
        return self.T.tensor(self._rng().uniform(0.1, 0.9, shape))

    def k(self, below: int, *shape: int) -> Any:
        """Whole numbers."""
        return self.T.tensor(self._rng().integers(below, size=shape))

    def pm(self, *shape: int) -> Any:
        """1 and -1."""
        return self.T.tensor(self._rng().choice([-1.0, 1.0], shape))

    def make(self, text: str) -> Any:
        """The layer of a constructor, in double precision."""
        with self.T.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is deprecated, and what is no use
            made = eval(text, self)
        self.leaves.clear()
        return made

    def call(self, layer: Any, text: str) -> Any:
        """What a layer gives for arguments."""
        self.leaves.clear()
        self.made = 0
        return eval(f"layer({text})", self, {"layer": layer})


def plain(value: Any) -> Any:
    """A value that can be compared."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [type(value).__name__ if type(value) in (list, tuple) else "named", *map(plain, value)]
    if hasattr(value, "detach"):
        return np.array(value.detach().numpy())
    return getattr(value, "__name__", type(value).__name__)


def refusal(act: Callable[[], Any]) -> Any:
    """The class and the message of what an action raises, or what it gives."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = act()
            return [type(found).__name__, *map(str, np.shape(plain(found)))]
    except Exception as error:
        kind = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
        return [kind.__name__, str(error.args[0] if len(error.args) == 1 else error).partition("\n")[0]]


def face(T: Any, made: str, names: list[str] | None = None) -> dict[str, Any]:
    """What a layer shows: its text, attributes and state."""
    layer = Scope(T).make(made)
    if names is None:
        names = [n for n in vars(layer) if n not in vars(T.nn.Module()) and n not in OWN]
    lazy = made.startswith("Lazy")
    return {
        "text": repr(layer),
        "attributes": {name: _shapes(getattr(layer, name, "missing")) for name in names},
        "state": {} if lazy else {name: [*t.shape, str(t.dtype)[6:]] for name, t in _state(layer)},
        "parameters": [name for name, p in layer.named_parameters() if p.requires_grad],
        "buffers": [name for name, _ in layer.named_buffers()],
    }


def _shapes(value: Any) -> Any:
    """A plain value, without the numbers in drawn tensors."""
    if isinstance(value, (list, tuple)):
        return plain(type(value)(map(_shapes, value)))
    return list(value.shape) if hasattr(value, "detach") else plain(value)


def _state(layer: Any) -> list[tuple[str, Any]]:
    return [(name, t) for name, t in layer.state_dict().items()]


def surface(T: Any, name: str) -> dict[str, Any]:
    """A class's signatures, and what it has that Module has not."""
    made = getattr(T.nn, name)
    shared = set(dir(T.nn.Module))
    above = [c for c in made.__mro__[1:] if ".nn.modules." in c.__module__ and c is not T.nn.Module]
    return {
        "init": _parameters(made),
        "forward": _parameters(made.forward),
        "members": sorted(n for n in dir(made) if n not in shared and not n.startswith("__")),
        "bases": [f"{c.__module__.rpartition('.')[2]}.{c.__name__}" for c in above],
    }


def _parameters(of: Any) -> list[str]:
    return [
        f"{p.kind.name} {p.name} {'' if p.default is p.empty else plain(p.default)}"
        for p in inspect.signature(of).parameters.values()
    ]


def run(T: Any, made: str, call: Any) -> dict[str, Any]:
    """What a layer computes in both modes, with gradients, and what it keeps: geometry, and values as one."""
    scope = Scope(T)
    layer = scope.make(made).double()
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if made.startswith("Lazy"):
            scope.call(layer, call)
        for i, (_, p) in enumerate(layer.named_parameters()):
            with T.no_grad():
                p.copy_(T.tensor(np.random.default_rng(i + 50).normal(size=tuple(p.shape)) * 0.5))
        for mode in (True, False) if any(kind in made for kind in MODES) else (True,):
            layer.train(mode)
            layer.zero_grad()
            out = scope.call(layer, call)
            parts = [t for t in _tensors(out) if t.requires_grad]
            if parts:
                total = sum(
                    (t * T.tensor(np.cos(np.arange(t.numel())).reshape(t.shape))).sum() for t in parts
                )
                total.backward()
            found[f"out {mode}"] = _tensors(out)
            found[f"grads {mode}"] = [t.grad for t in (*scope.leaves, *layer.parameters())]
    found["kept"] = [*layer.buffers()]
    told = [t.detach().double().reshape(-1) for each in found.values() for t in each if t is not None]
    shapes = {
        name: [None if t is None else [str(t.dtype)[6:], *t.shape] for t in each]
        for name, each in found.items()
    }
    return {
        "values": plain(T.cat(told)).astype(np.float32),
        "text": repr(layer),
        "out": type(out).__name__,
        **shapes,
    }


def _tensors(out: Any) -> list[Any]:
    if isinstance(out, (list, tuple)):
        return [t for part in out for t in _tensors(part)]
    return [out] if hasattr(out, "requires_grad") else []


def differences(mine: Any, theirs: Any, at: str = "") -> list[str]:
    """Where two answers differ."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        keys = [*theirs, *(k for k in mine if k not in theirs)]
        return [d for k in keys for d in differences(mine.get(k), theirs.get(k), f"{at}.{k}")]
    if isinstance(theirs, (list, tuple)) and isinstance(mine, (list, tuple)) and len(theirs) == len(mine):
        return [
            d
            for i, (m, t) in enumerate(zip(mine, theirs, strict=True))
            for d in differences(m, t, f"{at}[{i}]")
        ]
    if isinstance(theirs, np.ndarray) and isinstance(mine, np.ndarray):
        same = mine.shape == theirs.shape and mine.dtype == theirs.dtype
        close = same and np.allclose(mine, theirs, rtol=1e-5, atol=1e-6, equal_nan=True)
        return [] if close else [f"{at}: {mine!r} for {theirs!r}"]
    return [] if type(mine) is type(theirs) and mine == theirs else [f"{at}: {mine!r} for {theirs!r}"]


@pytest.fixture(scope="module", autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def _by_class(made: Iterable[str]) -> list[Any]:
    """Constructors, those of one class together."""
    groups: dict[str, list[str]] = {}
    for one in made:
        groups.setdefault(re.split(r"\W", one, maxsplit=1)[0], []).append(one)
    return [pytest.param(group, id=name) for name, group in groups.items()]


@pytest.mark.parametrize("group", _by_class(CASES))
def test_a_layer_shows_what_pytorchs_does(oracle: Any, group: list[str]) -> None:
    wanted = oracle(lambda torch: {made: face(torch, made) for made in group})
    found = {made: face(gradd, made, [*wanted[made]["attributes"]]) for made in group}
    assert differences(found, wanted) == []


@pytest.mark.parametrize("group", _by_class(made for made, call in CASES.items() if call))
def test_a_layer_computes_what_pytorchs_does(oracle: Any, group: list[str]) -> None:
    def ask(T: Any) -> Any:
        return {made: run(T, made, CASES[made]) for made in group}

    assert differences(ask(gradd), oracle(ask)) == []


@pytest.mark.parametrize("group", _by_class(WRONG))
def test_calls_are_refused_in_pytorchs_words(oracle: Any, group: list[str]) -> None:
    def ask(T: Any) -> Any:
        found = {}
        for made in group:
            for call in WRONG[made]:
                scope = Scope(T)
                layer = scope.make(made).double()
                found[f"{made} {call}"] = refusal(lambda: plain(scope.call(layer, call)))  # noqa: B023
        return found

    assert differences(ask(gradd), oracle(ask)) == []


@pytest.mark.parametrize("group", _by_class(REFUSED))
def test_arguments_are_refused_in_pytorchs_words(oracle: Any, group: list[str]) -> None:
    def ask(T: Any) -> Any:
        return {made: refusal(lambda: Scope(T).make(made)) for made in group}  # noqa: B023

    assert differences(ask(gradd), oracle(ask)) == []


def test_every_class_has_pytorchs_signatures_members_and_bases(oracle: Any) -> None:
    def ask(torch: Any) -> Any:
        names = [n for n in torch.nn.modules.__all__ if n not in NO_LAYERS]
        return {name: surface(torch, name) for name in names}

    found = []
    for name, want in oracle(ask).items():
        made = getattr(gradd.nn, name, None)
        if made is None:
            found.append(f"{name} is missing")
            continue
        mine = surface(gradd, name)
        found += differences(
            {k: mine[k] for k in ("init", "forward")}, {k: want[k] for k in ("init", "forward")}, name
        )
        found += [f"{name}.{m} is missing" for m in want["members"] if m not in (*mine["members"], *CUDNNS)]
        for base in want["bases"]:
            path, kind = base.split(".")
            there = getattr(getattr(gradd.nn.modules, path), kind, None)
            if there is None or not issubclass(made, there):
                found.append(f"{name} is no {base}")
    assert found == []
