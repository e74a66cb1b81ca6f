"""Whole modules and other objects in files, by the names of their classes, as PyTorch has it."""

from __future__ import annotations

import argparse
import dataclasses
import enum
import io
import pickle
import subprocess
import sys
import zipfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradd
import numpy as np
import pytest

from tests.oracle import HERE, ITSELF, module


class Kind(enum.Enum):
    SMALL = 1


@dataclasses.dataclass
class Config:
    width: int
    kind: Kind = Kind.SMALL


class Net(gradd.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = gradd.nn.Sequential(gradd.nn.Linear(2, 3), gradd.nn.BatchNorm1d(3))
        self.act, self.mean, self.sizes = gradd.relu, gradd.nn.functional.softmax, (1, [2])
        self.register_buffer("scale", gradd.full((3,), 2.0), persistent=False)

    def forward(self, x: Any) -> Any:
        return self.mean(self.act(self.layers(x)) * self.scale, dim=1)


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


@pytest.fixture(params=["gradd", *ITSELF])
def T(request: pytest.FixtureRequest) -> Any:
    return gradd if request.param == "gradd" else module()


def again(T: Any, obj: Any, **options: Any) -> Any:
    file = io.BytesIO()
    T.save(obj, file)
    file.seek(0)
    return T.load(file, weights_only=False, **options)


def test_values_of_all_sorts_come_back(T: Any) -> None:
    held = {
        "args": argparse.Namespace(lr=0.5, layers=[1, 2]), "config": Config(3), "kind": Kind.SMALL,
        "set": {1, 2}, "bytes": b"ab", (1, 2): "a tuple", "path": Path("/x/y"), "deque": deque([1, 2], 3),
        "range": range(3), "dtype": np.dtype("float32"), "class": Config, "device": T.device("cpu"),
    }  # fmt: skip
    found = again(T, held)
    assert found == held
    assert found["deque"].maxlen == 3


def test_arrays_come_back(T: Any) -> None:
    held = {
        "c": np.arange(6.0).reshape(2, 3),
        "f": np.asfortranarray(np.ones((2, 3), "int32")),
        "n": np.int64(3),
    }
    found = again(T, held)
    for name, array in held.items():
        np.testing.assert_array_equal(found[name], array)
        assert np.asarray(found[name]).dtype == array.dtype


def test_a_module_comes_back_whole() -> None:
    net = Net()
    net.eval()
    net.layers[0].weight.requires_grad_(False)
    found = again(gradd, net)
    assert type(found) is Net
    assert repr(found) == repr(net)
    assert (found.training, found.sizes, found.act) == (False, (1, [2]), gradd.relu)
    assert [p.requires_grad for p in found.parameters()] == [False, True, True, True]
    assert list(found.state_dict()) == list(net.state_dict())
    x = gradd.ones(2, 2)
    assert found(x).tolist() == net(x).tolist()


def test_a_module_and_its_optimizer_still_belong_together() -> None:
    model = gradd.nn.Linear(2, 1)
    optimizer = gradd.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    model(gradd.ones(1, 2)).sum().backward()
    optimizer.step()
    found = again(gradd, {"model": model, "optimizer": optimizer})
    assert found["optimizer"].param_groups[0]["params"][0] is found["model"].weight
    for parts in ((model, optimizer), (found["model"], found["optimizer"])):
        parts[1].zero_grad()
        parts[0](gradd.ones(1, 2)).sum().backward()
        parts[1].step()
    assert found["model"].weight.tolist() == model.weight.tolist()


def test_an_object_that_holds_itself_comes_back() -> None:
    held = argparse.Namespace(name="a")
    held.me = held
    found = again(gradd, held)
    assert found.me is found


def test_weights_alone_refuse_it(T: Any) -> None:
    file = io.BytesIO()
    T.save(argparse.Namespace(a=1), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=r"(?s)^Weights only load failed.*argparse\.Namespace"):
        T.load(file)


def test_a_local_class_is_refused(T: Any) -> None:
    class Local:
        pass

    with pytest.raises((pickle.PicklingError, AttributeError), match="Can't pickle"):
        T.save(Local(), io.BytesIO())


@pytest.mark.skipif(not HERE, reason="torch is not installed")
def test_pytorch_reads_our_modules_and_we_read_its() -> None:
    torch = module()
    for T, other in ((gradd, torch), (torch, gradd)):
        model = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.ReLU(), T.nn.LayerNorm(3), T.nn.Dropout(0.5)).eval()
        file = io.BytesIO()
        T.save({"model": model, "array": np.ones(2), "args": argparse.Namespace(a=1)}, file)
        file.seek(0)
        found = other.load(file, weights_only=False)
        assert repr(found["model"]) == repr(model)
        assert found["args"] == argparse.Namespace(a=1)
        result = found["model"](other.ones(1, 2)).tolist()
        np.testing.assert_allclose(result, model(T.ones(1, 2)).tolist(), rtol=1e-5, atol=1e-6)


class Runs:
    def __init__(self, call: Any, *given: Any) -> None:
        self.call, self.given = call, given

    def __reduce__(self) -> Any:
        return self.call, self.given


@pytest.mark.parametrize(
    "call", [print, eval, exec, open, getattr, setattr, type, subprocess.Popen, gradd.delete_session, np.load]
)
def test_a_file_calls_nothing_but_makers_of_values(call: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = io.BytesIO()
    gradd.save([Runs(call, "x")], file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="its pickle calls"):
        gradd.load(file, weights_only=False)
    assert capsys.readouterr().out == ""


def test_nothing_is_imported_for_a_file() -> None:
    name = "this"  # which prints when it is imported
    assert name not in sys.modules
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02cthis\ns\n.")
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=r"it names this\.s, which this program does not have"):
        gradd.load(file, weights_only=False)
    assert name not in sys.modules
