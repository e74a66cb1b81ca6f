"""Arrays and tensors together: NumPy's functions of tensors, operators with arrays, what tensor() takes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import gradd
import numpy as np
import pytest

from tests.oracle import ITSELF, module


@pytest.fixture(params=[*ITSELF, "gradd"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    """`torch`, the oracle, or `gradd` with a local session as the current one: every test runs on both."""
    if request.param == "torch":
        with warnings.catch_warnings():
            # NumPy asks PyTorch for newer forms of its protocols.
            warnings.simplefilter("ignore", DeprecationWarning)
            yield module()
        return
    with gradd.connect("local:"):
        yield gradd


def kind(x: Any) -> str:
    """The class and dtype of a result, and its values."""
    values = x.tolist() if hasattr(x, "tolist") else x
    return f"{type(x).__name__} {str(getattr(x, 'dtype', '')).removeprefix('torch.')} {values}"


FUNCTIONS = [
    ("np.add(a, t)", "Tensor float64 [5.0, 7.0, 9.0]"),
    ("np.add(f, t)", "Tensor float32 [5.0, 7.0, 9.0]"),
    ("np.square(t)", "Tensor float32 [16.0, 25.0, 36.0]"),
    ("np.sqrt(t[:1])", "Tensor float32 [2.0]"),
    ("np.negative(i)", "Tensor int64 [-1, -2, -3]"),
    ("np.isnan(t)", "Tensor uint8 [0, 0, 0]"),
    ("np.matmul(a, t)", "Tensor float64 32.0"),
    ("np.dot(a, t)", "float64 float64 32.0"),
    ("np.where(t > 4, t, a)", "ndarray float64 [1.0, 5.0, 6.0]"),
    ("np.stack([t, t])[1]", "ndarray float32 [4.0, 5.0, 6.0]"),
    ("np.concatenate([t, a])", "ndarray float64 [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]"),
    ("np.asarray(t)", "ndarray float32 [4.0, 5.0, 6.0]"),
    ("np.asarray(t, dtype=np.int16)", "ndarray int16 [4, 5, 6]"),
    ("np.array([t[0], t[1]])", "ndarray float32 [4.0, 5.0]"),
    ("np.clip(t, 4.5, 5.5)", "Tensor float32 [4.5, 5.0, 5.5]"),
    ("np.allclose(t, a + 3)", "bool  True"),
    ("t * a", "Tensor float64 [4.0, 10.0, 18.0]"),
    ("t - f", "Tensor float32 [3.0, 3.0, 3.0]"),
    ("t @ a", "Tensor float64 32.0"),
    ("t ** a", "Tensor float64 [4.0, 25.0, 216.0]"),
    ("a / T.tensor([1.0, 2.0, 4.0])", "Tensor float64 [1.0, 1.0, 0.75]"),
    ("t == a + 3", "Tensor bool [True, True, True]"),
    ("a == t", "Tensor bool [False, False, False]"),
    ("np.float64(2) * t", "Tensor float32 [8.0, 10.0, 12.0]"),
    ("t + np.int64(2)", "Tensor float32 [6.0, 7.0, 8.0]"),
    ("a[i - 1]", "ndarray float64 [1.0, 2.0, 3.0]"),
    ("a[i[1]]", "float64 float64 3.0"),
    ("t[np.array([0, 2])]", "Tensor float32 [4.0, 6.0]"),
    ("T.tensor(range(3))", "Tensor int64 [0, 1, 2]"),
    ("T.tensor(bytearray(b'ab'))", "Tensor int64 [97, 98]"),
    ("T.tensor(memoryview(b'ab'))", "Tensor int64 [97, 98]"),
    ("T.tensor(Counted())", "Tensor int64 [0, 1, 4]"),
    ("T.tensor([1, 2], dtype=float)", "Tensor float64 [1.0, 2.0]"),
    ("T.zeros(2, dtype=bool)", "Tensor bool [False, False]"),
    ("T.ones(2).to(int)", "Tensor int64 [1, 1]"),
    ("T.ones(2).sum(dtype=complex)", "Tensor complex128 (2+0j)"),
]


class Counted:
    """A sequence of no known type."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, k: int) -> int:
        if k > 2:
            raise IndexError
        return k * k


@pytest.mark.parametrize(("source", "found"), FUNCTIONS, ids=[s for s, _ in FUNCTIONS])
def test_arrays_and_tensors_meet_as_in_pytorch(T: Any, source: str, found: str) -> None:
    names = {
        "T": T, "np": np, "Counted": Counted, "a": np.array([1.0, 2.0, 3.0]),
        "f": np.array([1.0, 2.0, 3.0], np.float32), "t": T.tensor([4.0, 5.0, 6.0]), "i": T.tensor([1, 2, 3]),
    }  # fmt: skip
    assert kind(eval(source, names)) == found


REFUSED = [
    ("a * t", TypeError, "unsupported operand type"),
    ("a - t", TypeError, "unsupported operand type"),
    ("a @ t", TypeError, "unsupported operand type"),
    ("t > a", TypeError, "'>' not supported"),
    ("np.sin(g)", RuntimeError, "Can't call numpy\\(\\) on Tensor that requires grad"),
    ("T.add(t, a)", TypeError, "must be Tensor, not numpy.ndarray"),
    ("np.asarray(t, copy=False)", ValueError, "Unable to avoid copy"),
    ("t == np.ones(2)", RuntimeError, "must match the size"),
    ("T.zeros(2, dtype=str)", TypeError, "must be torch.dtype"),
    ("T.tensor({1, 2})", RuntimeError, "Could not infer dtype of set"),
    ("T.tensor({'a': 1})", RuntimeError, "Could not infer dtype of dict"),
    ("g.__dlpack__()", BufferError, "require gradient"),
]


@pytest.mark.parametrize(("source", "error", "text"), REFUSED, ids=[s for s, *_ in REFUSED])
def test_what_pytorch_refuses_is_refused(T: Any, source: str, error: type[Exception], text: str) -> None:
    t = T.tensor([4.0, 5.0, 6.0])
    names = {"T": T, "np": np, "a": np.array([1.0, 2.0, 3.0]), "t": t, "g": t.clone().requires_grad_()}
    with pytest.raises(error, match=text):
        eval(source, names)


def test_dlpack_goes_both_ways(T: Any) -> None:
    for dtype in (T.float32, T.float64, T.int64, T.uint8, T.bool, T.complex64):
        t = T.tensor([[1, 0, 2]]).to(dtype)
        assert np.from_dlpack(t).tolist() == t.tolist()
        assert T.equal(T.from_dlpack(t.numpy().copy()), t)
        assert T.equal(T.from_dlpack(t), t)
        again = T.utils.dlpack.from_dlpack(T.utils.dlpack.to_dlpack(t))
        assert (again.dtype, T.equal(again, t)) == (t.dtype, True)
    assert tuple(map(int, T.ones(1).__dlpack_device__())) == (1, 0)


def test_a_tensor_of_gradds_stays_where_it_is() -> None:
    with gradd.connect("local:") as session:
        t = gradd.ones(3)
        before = session.stats()
        u = gradd.from_dlpack(t)
        u.add_(1)
        assert session.stats() == before
        assert t.tolist() == [2.0, 2.0, 2.0]
        assert gradd.from_dlpack(t, copy=True).add_(1).tolist() == [3.0, 3.0, 3.0]
        with pytest.raises(ValueError, match="copied into the session"):
            gradd.from_dlpack(np.ones(2), copy=False)
        with pytest.raises(BufferError, match="a copy"):
            t.__dlpack__(copy=False)
        with pytest.raises(BufferError, match="host's memory"):
            t.__dlpack__(dl_device=(2, 0))
        with pytest.raises(BufferError, match="bfloat16"):
            t.bfloat16().__dlpack__()
