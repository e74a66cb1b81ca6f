"""Files of PyTorch's: what it wrote is read, what is written is read by it, and nothing in a file is run."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradd
import ml_dtypes
import numpy as np
import pytest

from tests.oracle import ITSELF, module

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


@pytest.fixture
def torch() -> Any:
    if not ITSELF:
        pytest.skip("files are read and written by PyTorch itself")
    return module()


def checkpoint(T: Any) -> dict[str, Any]:
    """All kinds of things that a checkpoint holds."""
    T.manual_seed(3)
    model = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.BatchNorm1d(4), T.nn.Linear(4, 2))
    optimizer = T.optim.SGD(model.parameters(), lr=0.25, momentum=0.5)
    model(T.ones(5, 3)).sum().backward()
    optimizer.step()
    shared = T.ones(2)
    return {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "epoch": 7, "big": 1 << 70, "minus": -(1 << 33), "loss": 0.5, "name": "größe", "done": False,
        "none": None,
        "size": T.ones(2, 3).shape, "tuple": (1, (2.0, "x"), ()), "list": [[], [1]], "dtype": T.bfloat16,
        "complex": 1 + 2j, "counter": Counter("aab"), "ordered": OrderedDict([("b", 1), ("a", 2)]),
        "same": [shared, shared], "weight": T.nn.Parameter(T.ones(2), requires_grad=False),
        "leaf": T.ones(2, requires_grad=True),
        3: "an int key",
    }  # fmt: skip


def plain(value: Any) -> Any:
    """It, with tensors as what they hold."""
    if hasattr(value, "requires_grad") and hasattr(value, "detach"):
        kind = type(value).__name__ == "Parameter"
        return str(value.dtype), tuple(value.shape), value.detach().tolist(), value.requires_grad, kind
    if isinstance(value, dict):
        return type(value).__name__, [(plain(key), plain(held)) for key, held in value.items()]
    if isinstance(value, (list, tuple, set)):
        return type(value).__name__, [plain(part) for part in value]
    return str(value) if "dtype" in type(value).__name__.lower() else value


@pytest.mark.oracle
def test_what_pytorch_wrote_is_read(torch: Any, tmp_path: Path) -> None:
    theirs = {**checkpoint(torch), "set": {1, 2}}
    torch.save(theirs, tmp_path / "x.pt")
    ours = gradd.load(tmp_path / "x.pt")
    assert plain(ours) == plain(theirs)
    assert ours["same"][0] is ours["same"][1]
    assert ours["model"]._metadata == theirs["model"]._metadata
    model = gradd.nn.Sequential(gradd.nn.Linear(3, 4), gradd.nn.BatchNorm1d(4), gradd.nn.Linear(4, 2))
    model.load_state_dict(ours["model"])
    optimizer = gradd.optim.SGD(model.parameters(), lr=1.0)
    optimizer.load_state_dict(ours["optimizer"])
    assert plain(optimizer.state_dict()) == plain(theirs["optimizer"])


@pytest.mark.oracle
def test_what_is_written_is_read_by_pytorch(torch: Any, tmp_path: Path) -> None:
    ours = checkpoint(gradd)
    for suffix in (".pt", ".pth", ".bin", ".ckpt", ".tar"):
        gradd.save(ours, tmp_path / f"x{suffix}")
        theirs = torch.load(tmp_path / f"x{suffix}", weights_only=False)
        assert plain(theirs) == plain(ours)
        assert theirs["same"][0] is theirs["same"][1]
    del ours["counter"]
    gradd.save(ours, tmp_path / "x.pt")
    assert plain(torch.load(tmp_path / "x.pt", weights_only=True)) == plain(ours)
    torch.load(tmp_path / "x.pt", weights_only=True, mmap=True)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_goes_both_ways(torch: Any, tmp_path: Path, dtype: str) -> None:
    values = np.random.default_rng(2).normal(size=(3, 2)) * 3
    a = gradd.tensor(np.asarray(values, ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype))
    several = [a, a.t(), a[1:, 1], gradd.zeros(0, 2, dtype=a.dtype), a[0, 0]]
    gradd.save(several, tmp_path / "x.pt")
    theirs = torch.load(tmp_path / "x.pt")
    assert [plain(t) for t in theirs] == [plain(t) for t in several]
    views = [
        theirs[0],
        theirs[0].t(),
        theirs[0][1:, 1],
        theirs[3],
        theirs[0][0, 0],
        theirs[0][:1].expand(4, 2),
    ]
    torch.save(views, tmp_path / "y.pt")
    assert [plain(t) for t in gradd.load(tmp_path / "y.pt")] == [plain(t) for t in views]


def test_it_goes_round_without_pytorch(tmp_path: Path) -> None:
    ours = checkpoint(gradd)
    gradd.save(ours, tmp_path / "x.pt")
    assert plain(gradd.load(tmp_path / "x.pt")) == plain(ours)
    assert zipfile.is_zipfile(tmp_path / "x.pt")
    gradd.save(ours["model"], tmp_path / "x")
    assert not zipfile.is_zipfile(tmp_path / "x")
    with pytest.raises(
        pickle.PicklingError, match=r"Can't pickle <function .*<lambda> at .*: it's not found as "
    ):
        gradd.save({"a": lambda: 1}, tmp_path / "y.pt")
    assert not (tmp_path / "y.pt").exists()


def archive(program: bytes, **more: bytes) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("archive/data.pkl", program)
        for name, data in more.items():
            made.writestr(f"archive/{name.replace('__', '/').replace('_pkl', '.pkl')}", data)
    file.seek(0)
    return file


class Harmful:
    def __init__(self, call: Any, *given: Any) -> None:
        self.call, self.given = call, given

    def __reduce__(self) -> Any:
        return self.call, self.given


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("call", [print, eval, open, np.frombuffer, gradd.delete_session, getattr, type])
def test_nothing_is_run(call: Any, protocol: int, capsys: pytest.CaptureFixture[str]) -> None:
    program = pickle.dumps({"a": [Harmful(call, "x")]}, protocol)
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global: GLOBAL"):
        gradd.load(archive(program))
    assert capsys.readouterr().out == ""


HOSTILE = {
    "another opcode": b"\x80\x02I1\n.",
    "a method": b"\x80\x02ctorch._utils\n_rebuild_device_tensor\n)R.",
    "a call of a dtype": b"\x80\x02ctorch\nfloat32\n)R.",
    "a name that is no text": b"\x80\x04\x88\x88\x93.",
    "append to a dict": b"\x80\x02}K\x01a.",
    "set an item of a list": b"\x80\x02]K\x01K\x02s.",
    "extend a name": b"\x80\x02ctorch\nSize\n(K\x01e.",
}
MALFORMED = {
    "no end": b"\x80\x02]",
    "an empty stack": b"\x80\x02.",
    "no mark": b"\x80\x02t.",
    "no memo": b"\x80\x02h\x07.",
    "a storage of another kind": b"\x80\x02X\x01\x00\x00\x00aN\x86N\x86N\x86NN\x87Q.",
    "nothing": b"",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_does_more_than_values_is_refused(what: str) -> None:
    with pytest.raises(pickle.UnpicklingError):
        gradd.load(archive(HOSTILE[what]))


@pytest.mark.parametrize("what", MALFORMED)
def test_what_is_malformed_is_told(what: str) -> None:
    with pytest.raises((ValueError, pickle.UnpicklingError)):
        gradd.load(archive(MALFORMED[what]))


def test_a_tensor_that_is_not_in_its_storage_is_told(tmp_path: Path) -> None:
    gradd.save(gradd.ones(2, 3), tmp_path / "x.pt")
    with zipfile.ZipFile(tmp_path / "x.pt") as file:
        program = file.read("archive/data.pkl")
    sound = {"byteorder": b"little", "data__0": np.ones(6, np.float32).tobytes()}
    assert gradd.load(archive(program, **sound)).tolist() == [[1.0] * 3] * 2
    with pytest.raises(ValueError, match="not in its storage"):
        gradd.load(archive(program, **{**sound, "data__0": bytes(20)}))
    with pytest.raises(ValueError, match="data/0"):
        gradd.load(archive(program, byteorder=b"little"))
    with pytest.raises(ValueError, match="byte order"):
        gradd.load(archive(program, **{**sound, "byteorder": b"big"}))
    with pytest.raises(pickle.UnpicklingError, match="TorchScript"):
        gradd.load(archive(program, **sound, constants_pkl=b""))
    two = program.replace(b"J\x03\x00\x00\x00", b"J\x00\x00\x00\x7f")
    with pytest.raises(ValueError, match=r"storage|repeats"):
        gradd.load(archive(two, **sound))
    with pytest.raises(ValueError, match=r"not a file that gradd\.load reads"):
        gradd.load(io.BytesIO((tmp_path / "x.pt").read_bytes()[:100]))
