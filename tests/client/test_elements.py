"""Elements written and read one after the other: few steps each, one program, and the values and errors of
PyTorch.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest


@pytest.fixture
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def test_a_number_is_written_without_a_tensor_of_it(session: Any) -> None:
    x = torch.zeros(4, 3, 5)
    session.flush()
    before = session.stats()["steps"]
    for i in range(4):
        x[i, 1, np.int64(i)] = 1
    session.flush()
    assert session.stats()["steps"] - before == 4 * (3 + 1)
    wanted = np.zeros((4, 3, 5))
    for i in range(4):
        wanted[i, 1, i] = 1
    assert np.array_equal(x.numpy(), wanted)


def test_what_has_history_counts_the_number_as_a_tensor(session: Any) -> None:
    w = torch.ones(3, requires_grad=True)
    y = w * 2
    y[1] = 5
    assert type(y.grad_fn).__name__ == "CopySlices"
    assert [type(fn).__name__ for fn, _ in y.grad_fn.next_functions if fn is not None] == ["MulBackward0"]
    y.sum().backward()
    assert w.grad.tolist() == [2.0, 0.0, 2.0]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (torch.float32, 2), (torch.float64, 1e-3), (torch.float16, 0.1), (torch.bfloat16, 0.1),
        (torch.int64, 2.7), (torch.uint8, 255), (torch.bool, 3), (torch.complex64, 1 + 2j),
    ],
)  # fmt: skip
def test_a_number_is_stored_as_in_a_tensor_of_the_dtype(session: Any, dtype: Any, value: Any) -> None:
    x = torch.zeros(3, dtype=dtype)
    x[1] = value
    assert x.tolist() == torch.stack([x[0], torch.tensor(value, dtype=dtype), x[2]]).tolist()
    assert x._version == 1


@pytest.mark.parametrize(("dtype", "value"), [(torch.uint8, 300), (torch.float32, 1j)])
def test_a_number_that_does_not_fit_is_refused(session: Any, dtype: Any, value: Any) -> None:
    x = torch.zeros(3, dtype=dtype)
    with pytest.raises(RuntimeError, match="cannot be converted"):
        x[1] = value
    assert x.tolist() == [0, 0, 0]


def test_a_window_is_looked_at_once_for_its_geometry(monkeypatch: pytest.MonkeyPatch, session: Any) -> None:
    """Wherever it begins."""
    looked: list[str] = []
    module: Any = sys.modules["gradd_engine.graph.infer"]
    known = module._known

    def watching(op: Any, *given: Any) -> Any:
        looked.append(op.name)
        return known(op, *given)

    monkeypatch.setattr(module, "_known", watching)
    x = torch.arange(7 * 11).reshape(7, 11)
    parts = [x[i, j] for i in range(7) for j in range(-11, 0)]
    rows = [x[i : i + 2, 1::3] for i in range(5)]
    assert looked.count("select") <= 2
    assert looked.count("slice_from") <= 2
    assert [int(p) for p in parts] == list(range(77))
    assert [r.tolist() for r in rows] == [x.numpy()[i : i + 2, 1::3].tolist() for i in range(5)]


def test_a_window_that_begins_outside_is_refused(session: Any) -> None:
    x = torch.zeros(4, 6)
    for i in range(4):
        x[i, i]
    for dim, size in ((0, 4), (1, 6)):
        for index in (size, -size - 1):
            with pytest.raises(
                IndexError, match=f"index {index} is out of bounds for dimension {dim} with size"
            ):
                x[(index, 0) if dim == 0 else (0, index)]
            with pytest.raises(IndexError, match=f"index {index} out of range for tensor of size"):
                x.select(dim, index)
    with pytest.raises(TypeError):
        x.select(0, 1.0)


def test_windows_keep_their_histories_apart(session: Any) -> None:
    w = torch.arange(4.0, requires_grad=True)
    total = sum((i + 1) * w[i] for i in range(4))
    total.backward()
    assert w.grad.tolist() == [1.0, 2.0, 3.0, 4.0]


KEYS: dict[str, Any] = {
    "alone": lambda i: i,
    "twice": lambda i: (i, i),
    "after an int": lambda i: (1, i),
    "behind all": lambda i: (slice(None), i),
    "in a part": lambda i: (slice(1, 3), -i),
    "with an axis more": lambda i: (i, None),
    "after the rest": lambda i: (..., i),
}


@pytest.mark.parametrize("value", [3, torch.Tensor])
@pytest.mark.parametrize("key", KEYS)
def test_what_is_written_at_an_unknown_place_waits_for_nothing(session: Any, key: str, value: Any) -> None:
    x = torch.arange(20.0).reshape(4, 5)
    wanted = x.numpy().copy()
    i = torch.rand(4).argmax() * 0 + 2
    part = wanted[KEYS[key](2)]
    given = value if value == 3 else torch.arange(part.size).reshape(part.shape) + 0.5
    session.flush()
    before = session.stats()["round_trips"]
    x[KEYS[key](i)] = given
    assert session.stats()["round_trips"] == before
    wanted[KEYS[key](2)] = value if value == 3 else np.arange(part.size).reshape(part.shape) + 0.5
    assert x.tolist() == wanted.tolist()
    assert x._version == 1


def test_a_place_that_is_known_here_selects(session: Any) -> None:
    x = torch.zeros(4)
    session.flush()
    before = session.stats()["steps"]
    i = torch.tensor(2)
    x[i] = 1
    session.flush()
    assert session.stats()["steps"] - before == 3  # the upload, the selection, the number
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        x[torch.tensor(4)] = 1


def test_an_unknown_place_outside_is_told_late(session: Any) -> None:
    x = torch.zeros(4)
    x[torch.rand(4).argmax() * 0 + 4] = 1
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        x.tolist()


def test_history_shows_a_part_written_at_an_unknown_place(session: Any) -> None:
    w = torch.ones(3, requires_grad=True)
    y = w * 2
    y[torch.rand(3).argmax() * 0 + 1] = 5
    assert type(y.grad_fn).__name__ == "CopySlices"
    y.sum().backward()
    assert w.grad.tolist() == [2.0, 0.0, 2.0]
