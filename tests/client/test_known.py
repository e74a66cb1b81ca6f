"""Small tensors that were made of numbers here are read without a round trip, while nobody writes to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest
from gradd.nn.utils.rnn import pack_padded_sequence


@pytest.fixture(params=["local", "daemon"])
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    with gradd.connect(url) as s:
        yield s


def trips(session: Any) -> int:
    return int(session.stats()["round_trips"])


def of(t: Any, read: Any) -> Any:
    """What is read of a tensor that stays."""
    return read(t)


READS = {
    "tolist": (lambda: torch.tensor([3, 1, 2]).tolist(), [3, 1, 2]),
    "int": (lambda: int(torch.tensor(7)), 7),
    "bool": (lambda: bool(torch.tensor([False])), False),
    "item": (lambda: torch.tensor(0.1).item(), float(np.float32(0.1))),
    "half": (lambda: torch.tensor(0.1, dtype=torch.bfloat16).item(), 0.10009765625),
    "array": (lambda: torch.from_numpy(np.arange(3.0)).tolist(), [0.0, 1.0, 2.0]),
    "numpy": (lambda: torch.tensor([1, 2]).numpy().tolist(), [1, 2]),
    "a part": (lambda: torch.tensor([[1, 2], [3, 4]])[1, 0].item(), 3),
    "all parts": (lambda: [int(n) for n in torch.tensor([4, 5])], [4, 5]),
    "a comparison": (lambda: of(torch.tensor(2.0), lambda t: bool(t < 3)), True),
    "a sum of integers": (lambda: of(torch.tensor([1, 2]), lambda t: (t + 1).tolist()), [2, 3]),
    "a slice's end": (lambda: torch.arange(6)[: torch.tensor(2)].shape, (2,)),
}


@pytest.mark.parametrize("name", READS)
def test_what_was_made_here_is_known_here(session: Any, name: str) -> None:
    read, wanted = READS[name]
    before = trips(session)
    assert read() == wanted
    assert trips(session) == before


def test_lengths_cost_no_round_trip(session: Any) -> None:
    x = torch.rand(3, 5, 2)
    before = trips(session)
    packed = pack_padded_sequence(x, torch.tensor([5, 2, 4]), batch_first=True, enforce_sorted=False)
    assert packed.data.shape == (11, 2)
    assert trips(session) == before
    assert packed.batch_sizes.tolist() == [3, 3, 2, 2, 1]


WRITES = {
    "in place": lambda t: t.add_(1),
    "an element": lambda t: t.__setitem__(0, 9.0),
    "a view": lambda t: t[:1].zero_(),
    "an alias": lambda t: t.detach().mul_(2),
    "its data": lambda t: t.data.mul_(2),
    "data set": lambda t: setattr(t, "data", torch.ones(2) * 4),
    "out=": lambda t: torch.add(t, 1, out=t),
    "a new value": lambda t: t.copy_(torch.tensor([5.0, 6.0])),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_was_written_to_is_asked_for(session: Any, name: str) -> None:
    t = torch.tensor([1.0, 2.0])
    assert t.tolist() == [1.0, 2.0]
    WRITES[name](t)
    found = t.tolist()
    assert found != [1.0, 2.0]
    assert found == (t + 0).tolist()


def test_a_parameter_is_read_as_it_was_trained(session: Any) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.5)
    assert w.tolist() == [1.0, 2.0]
    (w * w).sum().backward()
    opt.step()
    assert w.tolist() == [0.0, 0.0]


def test_an_array_is_kept_as_it_was_given(session: Any) -> None:
    a = np.array([1.0, 2.0])
    t = torch.tensor(a)
    a[0] = 7
    assert t.tolist() == [1.0, 2.0]
    found = t.numpy()
    assert not found.flags.writeable
    b = np.array([1.0, 2.0])
    u = torch.from_numpy(b)
    b[0] = 7
    with pytest.warns(gradd.LostWriteWarning):
        assert u.tolist() == [1.0, 2.0]


def test_what_others_may_change_is_asked_for(daemon: str) -> None:
    with gradd.connect(daemon, session=f"known-{os.getpid()}") as one:
        t = torch.tensor([1.0])
        one["w"] = t
        with gradd.connect(daemon, session=one.name) as other:
            other["w"].add_(1)
            other.flush()
        assert t.tolist() == [2.0]
    gradd.delete_session(one.name, daemon)


def test_what_was_lost_with_an_error_is_not_known(session: Any) -> None:
    x = torch.ones(2)
    torch.gather(x, 0, torch.tensor([5]))
    session.step_done()
    t = torch.tensor([1.0])
    session.step_done()
    with pytest.raises(RuntimeError, match="out of bounds"):
        session.flush()
    with pytest.raises(RuntimeError, match="out of bounds"):
        t.tolist()


def test_a_traced_function_that_reads_is_run_each_time(session: Any) -> None:
    flag = torch.tensor(1)

    @gradd.function
    def f(x: Any) -> Any:
        return x * 2 if flag.item() else x * 3

    x = torch.ones(1)
    assert [f(x).item() for _ in range(3)] == [2.0] * 3
    flag.zero_()
    assert f(x).item() == 3.0


def test_larger_ones_are_asked_for(session: Any) -> None:
    t = torch.tensor(np.arange(1 << 10, dtype=np.float64))
    before = trips(session)
    assert t.tolist()[-1] == 1023.0
    assert trips(session) == before + 1
