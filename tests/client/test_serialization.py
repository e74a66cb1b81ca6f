"""save and load: tensors and plain values however nested, in files safetensors reads, written in one go."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradd
import ml_dtypes
import numpy as np
import pytest
from gradd import nn, optim

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def array(dtype: str, *shape: int) -> Any:
    a = np.random.default_rng(2).normal(size=shape) * 3
    if dtype.startswith("complex"):
        a = a + 1j * a[::-1]
    return np.asarray(a, ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def numbers(t: Any) -> Any:
    return t.detach()._values()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 2), (), (0, 3)], ids=str)
def test_every_dtype_and_shape(dtype: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    a = array(dtype, *shape) if shape else np.asarray(array(dtype, 1)[0])
    gradd.save({"a": gradd.tensor(a)}, tmp_path / "t")
    back = gradd.load(tmp_path / "t")["a"]
    assert str(back.dtype) == f"torch.{dtype}"
    assert tuple(back.shape) == shape
    np.testing.assert_array_equal(numbers(back), a)


def test_views_are_written_as_they_look(tmp_path: Path) -> None:
    t = gradd.tensor([[1.0, 2.0], [3.0, 4.0]])
    gradd.save([t.t(), t[:, 0]], tmp_path / "t")
    a, b = gradd.load(tmp_path / "t")
    assert a.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert b.tolist() == [1.0, 3.0]


def test_nesting_and_plain_values(tmp_path: Path) -> None:
    t = gradd.tensor([1.0])
    obj = {
        "a": {"b": [t, (t, None)], 3: "text", None: True},
        "a.b": gradd.tensor([2.0]),
        "numbers": [1, 2.5, -0.0, float("inf"), 1 + 2j, 10**30],
        "dtype": gradd.float64,
        "empty": [{}, [], ()],
    }
    gradd.save(obj, tmp_path / "t")
    back = gradd.load(tmp_path / "t")
    first, (second, nothing) = back["a"]["b"]
    assert (first is second, nothing, first.tolist()) == (True, None, [1.0])
    assert back["a.b"].tolist() == [2.0]
    assert (back["a"][3], back["a"][None]) == ("text", True)
    assert repr(back["numbers"]) == repr(obj["numbers"])
    assert back["dtype"] is gradd.float64
    assert back["empty"] == [{}, [], ()]


def test_kinds_of_dicts_and_tuples_come_back() -> None:
    net = nn.Linear(2, 1)
    opt = optim.SGD(net.parameters(), lr=1.0)
    schedule = optim.lr_scheduler.MultiStepLR(opt, [2, 2, 5])
    file = io.BytesIO()
    gradd.save([net.state_dict(), schedule.state_dict(), {"b": 1}, net.weight.shape, (1, 2)], file)
    file.seek(0)
    state, planned, plain, shape, pair = gradd.load(file)
    assert [type(v).__name__ for v in (state, planned, plain, pair)] == [
        "OrderedDict",
        "dict",
        "dict",
        "tuple",
    ]
    assert repr(shape) == "torch.Size([1, 2])"
    assert planned["milestones"][2] == 2
    assert planned["milestones"][3] == 0


def test_nan_comes_back(tmp_path: Path) -> None:
    gradd.save(float("nan"), tmp_path / "t")
    assert np.isnan(gradd.load(tmp_path / "t"))


def test_parameters_and_flags(tmp_path: Path) -> None:
    saved = [nn.Parameter(gradd.ones(1)), gradd.ones(1).requires_grad_(), gradd.ones(1)]
    gradd.save(saved, tmp_path / "t")
    back = gradd.load(tmp_path / "t")
    assert [(type(t).__name__, t.requires_grad) for t in back] == [
        ("Parameter", True), ("Tensor", True), ("Tensor", False),
    ]  # fmt: skip


def test_a_checkpoint_resumes_training(tmp_path: Path) -> None:
    def build() -> tuple[Any, Any]:
        m = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        return m, optim.Adam(m.parameters(), lr=0.05)

    def step(m: Any, opt: Any) -> float:
        opt.zero_grad()
        loss = (m(gradd.tensor([[1.0, 2.0, 3.0]])) ** 2).mean()
        loss.backward()
        opt.step()
        return float(loss.item())

    model, opt = build()
    for _ in range(3):
        step(model, opt)
    gradd.save(
        {"model": model.state_dict(), "optimizer": opt.state_dict(), "epoch": 3}, tmp_path / "checkpoint"
    )
    going_on = [step(model, opt) for _ in range(3)]
    other, other_opt = build()
    checkpoint = gradd.load(tmp_path / "checkpoint")
    other.load_state_dict(checkpoint["model"])
    other_opt.load_state_dict(checkpoint["optimizer"])
    assert checkpoint["epoch"] == 3
    assert [step(other, other_opt) for _ in range(3)] == going_on


def test_a_file_survives_its_session(tmp_path: Path) -> None:
    with gradd.connect("local:"):
        gradd.save({"a": gradd.tensor([1.0, 2.0])}, tmp_path / "t")
    assert gradd.load(tmp_path / "t")["a"].tolist() == [1.0, 2.0]


def test_small_tensors_come_in_one_message(tmp_path: Path, session: Any) -> None:
    tensors = {str(i): gradd.ones(10) * i for i in range(50)}
    before = session.stats()["round_trips"]
    gradd.save(tensors, tmp_path / "t")
    assert session.stats()["round_trips"] == before + 1
    assert gradd.load(tmp_path / "t")["49"].tolist() == [49.0] * 10


def test_streams_in_memory() -> None:
    stream = io.BytesIO()
    stream.write(b"before")
    gradd.save([gradd.tensor([1, 2])], stream)
    stream.seek(6)
    assert gradd.load(stream)[0].tolist() == [1, 2]


# -- other readers and writers -----------------------------------------------------------------------------


def test_safetensors_reads_what_is_saved(tmp_path: Path) -> None:
    st = pytest.importorskip("safetensors")
    from safetensors.numpy import load_file

    held = {d: gradd.tensor(array(d, 2, 3)) for d in DTYPES if d != "bfloat16"}
    gradd.save({"layer": held}, tmp_path / "t.safetensors")
    back = load_file(tmp_path / "t.safetensors")
    for d, t in held.items():
        want = numbers(t)
        if d == "complex128":
            want = np.stack([want.real, want.imag], -1)
        np.testing.assert_array_equal(back[f"layer.{d}"], want)
    with st.safe_open(tmp_path / "t.safetensors", framework="numpy") as file:
        assert json.loads(file.metadata()["gradd.complex128"]) == ["layer.complex128"]


def test_files_of_safetensors_are_read(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    from safetensors.numpy import save_file

    held = {"a.weight": array("float32", 2, 3), "b": array("int8", 4), "c": array("bfloat16", 5)}
    save_file(held, tmp_path / "t.safetensors")
    back = gradd.load(tmp_path / "t.safetensors")
    assert set(back) == set(held)
    for name, a in held.items():
        np.testing.assert_array_equal(numbers(back[name]), a)


@pytest.mark.oracle
def test_torchs_safetensors_agree(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    st = pytest.importorskip("safetensors.torch")
    theirs = torch.nn.Linear(3, 2)
    st.save_file(theirs.state_dict(), tmp_path / "t")
    mine = nn.Linear(3, 2)
    mine.load_state_dict(gradd.load(tmp_path / "t"))
    np.testing.assert_array_equal(numbers(mine.weight), theirs.weight.detach().numpy())
    gradd.save({"x": gradd.tensor(array("bfloat16", 3))}, tmp_path / "u")
    back = st.load_file(tmp_path / "u")["x"]
    assert back.dtype == torch.bfloat16
    np.testing.assert_array_equal(back.float().numpy(), array("bfloat16", 3).astype("float32"))


# -- what is refused ---------------------------------------------------------------------------------------


def test_what_has_no_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="cannot pickle"):
        gradd.save({"a": iter([1]).__next__, "b": (i for i in ())}, tmp_path / "t")
    assert os.listdir(tmp_path) == []


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gradd.save([gradd.tensor([1.0])], tmp_path / "t")

    def fail(source: Any, target: Any) -> None:
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        gradd.save([gradd.tensor([2.0])], tmp_path / "t")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["t"]
    assert gradd.load(tmp_path / "t")[0].tolist() == [1.0]


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        gradd.load(tmp_path / "t")


def frame(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def one(**about: Any) -> dict[str, Any]:
    return {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **about}}


def tree(node: Any) -> dict[str, Any]:
    return {"__metadata__": {"gradd.tree": json.dumps(node)}}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01",
        (1 << 40).to_bytes(8, "little") + b"{}",
        frame(b"nonsense"),
        frame(b"[1]"),
        frame(b"\xff\xfe"),
        frame(b'{"a":' * 50_000),
        frame({"a": 3}),
        frame({"a": {}}),
        frame(one(dtype="F8_E4M3"), b"12345678"),
        frame(one(dtype="C128", shape=[]), b"12345678"),
        frame(one(dtype=[]), b"12345678"),
        frame(one(shape=[-2]), b"12345678"),
        frame(one(shape=[2.0]), b"12345678"),
        frame(one(shape=[True, 2]), b"12345678"),
        frame(one(shape=[3]), b"12345678"),
        frame(one(data_offsets=[8, 16]), b"1234567812345678"),
        frame(one(), b"1234"),
        frame(one(), b"1234567812345678"),
        frame({**one(), "b": one()["a"]}, b"12345678"),
        frame({"__metadata__": {"x": 3}}),
        frame({"__metadata__": {"gradd.complex128": '["a"]'}, **one()}, b"12345678"),
        frame({"__metadata__": {"gradd.tree": "nonsense"}}),
        frame(tree({"tensor": "b", "requires_grad": False, "parameter": False})),
        frame(tree({"tensor": "b"})),
        frame(tree({"what": 1})),
        frame(tree({"dict": [[[], 1]]})),
        frame(tree({"dict": 3})),
        frame(tree({"dtype": "float7"})),
        frame(tree({"a": 1, "b": 2})),
        frame(b'{"__metadata__":{"gradd.tree":"' + b"[" * 20_000 + b'"}}'),
    ],
    ids=range(31),
)
def test_malformed_files_are_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"is not a file that gradd\.load reads"):
        gradd.load(path)
