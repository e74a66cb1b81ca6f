"""The layers of the table are classes like any: signatures, subclasses, pickles, calls by name or place."""

from __future__ import annotations

import inspect
import pickle

import gradd
import pytest
from gradd import nn
from gradd.nn import _table
from gradd.nn._layer import layer

LAYERS = {n: v for n, v in vars(_table).items() if isinstance(v, type) and v.__module__ == "gradd.nn"}


def test_the_table_has_the_layers_that_only_store_and_call() -> None:
    assert len(LAYERS) == 66
    assert {name for name in LAYERS if getattr(nn, name, None) is not LAYERS[name]} == set()
    assert LAYERS.keys() <= set(nn.__all__)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_has_signatures_and_documentation_of_its_own(name: str) -> None:
    made = LAYERS[name]
    assert made.__doc__
    assert inspect.getdoc(made.forward)
    assert made.__init__.__qualname__ in (f"{name}.__init__", "Module.__init__")  # type: ignore[misc]
    assert made.forward.__qualname__ == f"{name}.forward"
    assert "kwargs" not in inspect.signature(made).parameters or made.__base__.__name__ == "Stored"


def test_wrong_arguments_are_refused_in_the_layers_name() -> None:
    with pytest.raises(
        TypeError, match=r"^LeakyReLU.__init__\(\) got an unexpected keyword argument 'slope'$"
    ):
        nn.LeakyReLU(slope=1.0)
    with pytest.raises(TypeError, match=r"^Dropout.__init__\(\) takes from 1 to 3 positional arguments"):
        nn.Dropout(0.1, False, 3)
    with pytest.raises(TypeError, match=r"^Threshold.__init__\(\) missing 1 required positional argument"):
        nn.Threshold(0.1)


def test_layers_are_extended_and_pickled() -> None:
    class Steep(nn.LeakyReLU):
        def __init__(self) -> None:
            super().__init__(0.5)

    with gradd.connect("local:"):
        assert Steep()(gradd.tensor([-2.0, 1.0])).tolist() == [-1.0, 1.0]
        weights = nn.CrossEntropyLoss(weight=gradd.tensor([1.0, 3.0]), label_smoothing=0.1)
        again = pickle.loads(pickle.dumps(nn.Sequential(nn.Hardtanh(-2.0, inplace=True), weights)))
        assert repr(again[0]) == "Hardtanh(min_val=-2.0, max_val=1.0, inplace=True)"
        assert again[1].label_smoothing == 0.1
        assert list(again.state_dict()) == ["1.weight"]


def test_a_row_gives_the_function_what_it_stores_under_other_names() -> None:
    made = layer("Norms", "pairwise_distance(x1, x2)", "Distances.", "norm: float = 1.0", passes="p=norm")
    with gradd.connect("local:"):
        x, y = gradd.tensor([[0.0, 0.0]]), gradd.tensor([[3.0, 4.0]])
        assert made()(x, y).item() == pytest.approx(7.0, abs=1e-4)
        assert made(2.0)(x, y).item() == pytest.approx(5.0, abs=1e-4)
        assert repr(made(2.0)) == "Norms(norm=2.0)"
