"""A write that an array or a tensor does not see, since they share no memory here, is warned of."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def test_a_write_to_a_tensor_whose_array_is_in_use() -> None:
    t = torch.ones(3)
    a = t.numpy()
    with pytest.warns(gradd.LostWriteWarning, match="a copy here") as found:
        t.add_(1)
    (warning,) = found
    assert warning.filename == __file__
    assert inspect.getsourcelines(test_a_write_to_a_tensor_whose_array_is_in_use)[1] + 4 == warning.lineno
    assert (a.tolist(), t.tolist()) == ([1.0] * 3, [2.0] * 3)
    t.add_(1)  # the array is known to be old


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.__setitem__(0, 5.0),
        lambda t: t[1:].mul_(2),
        lambda t: t.detach().zero_(),
        lambda t: torch.sin(t, out=t),
        lambda t: t.copy_(torch.zeros(3)),
        lambda t: t.index_fill_(0, torch.tensor([0]), 2.0),
    ],
)
def test_every_way_of_writing(write: Any) -> None:
    t = torch.ones(3)
    a = t[:2].numpy()
    with pytest.warns(gradd.LostWriteWarning):
        write(t)
    assert a.tolist() == [1.0, 1.0]


def test_an_optimizers_step_is_a_write() -> None:
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)
    before = w.detach().numpy()
    w.sum().backward()
    with pytest.warns(gradd.LostWriteWarning) as found:
        optimizer.step()
    assert found[0].filename == __file__
    assert before.tolist() == [1.0, 1.0]


def test_no_write_is_lost_where_the_array_is_gone_or_a_copy() -> None:
    t = torch.ones(3)
    t.numpy()
    t.add_(1)
    kept = [t.numpy().copy(), np.array(t), t.tolist(), float(np.asarray(t).sum())]
    t.add_(1)
    a = (t * 2).numpy()
    t.add_(1)
    b, t = t.numpy(), t + 1
    t.add_(1)
    assert (len(kept), a[0], b[0], t[0].item()) == (4, 6.0, 4.0, 6.0)


def test_once_for_a_line() -> None:
    t = torch.ones(3)
    kept = []
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(5):
            kept.append(t.numpy())
            t.add_(1)
    assert [w.category for w in found] == [gradd.LostWriteWarning]
    assert [a[0] for a in kept] == [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("take", [torch.from_numpy, torch.as_tensor])
@pytest.mark.parametrize("size", [3, 1 << 16])
def test_a_write_to_an_array_that_a_tensor_took(take: Any, size: int) -> None:
    a = np.ones(size)
    t = take(a)
    line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    a[:] = 2
    with pytest.warns(gradd.LostWriteWarning, match="Make the tensor after the write") as found:
        assert t[0].item() == 1.0
    (warning,) = found
    assert (warning.filename, warning.lineno) == (__file__, line)


def test_an_array_that_is_written_to_for_the_next_tensor() -> None:
    a = np.zeros((2, 4))[:, ::2]
    for k in range(3):
        a[:] = k
        t = torch.from_numpy(a)
        assert t.sum().item() == 4 * k
        u = torch.from_numpy(a).float()
        a += 1
        assert u.sum().item() == 4 * k
        v = torch.tensor(a)
        a += 1
        assert v.sum().item() == 4 * (k + 1)
    w = torch.as_tensor(a, dtype=torch.float32)
    a += 1
    assert w[0, 0].item() == 4.0
    torch.from_numpy(a)
    a += 1
    assert torch.ones(1).item() == 1.0
    on_device = [torch.from_numpy(a).to("cuda"), torch.from_numpy(a).cuda(), torch.as_tensor(a).to("cuda:0")]
    a += 1
    assert [t[0, 0].item() for t in on_device] == [6.0] * 3


def test_an_array_is_looked_at_until_the_batch_is_sent(session: Any) -> None:
    a = np.ones(3)
    a.flags.writeable = False
    x = torch.from_numpy(a)
    assert session.sharing.taken == []
    b = np.ones(3)
    y = torch.from_numpy(b)
    assert len(session.sharing.taken) == 1
    assert (x + y).tolist() == [2.0] * 3
    assert session.sharing.taken == []
    b += 1  # too late to be noticed
    assert y.tolist() == [1.0] * 3


def test_a_session_goes_on_where_the_warning_is_an_error() -> None:
    a, t = np.ones(3), torch.ones(3)
    x = torch.from_numpy(a)
    y = x + 1
    a[:] = 5
    with pytest.raises(gradd.LostWriteWarning):
        y.tolist()
    assert (x.tolist(), y.tolist()) == ([1.0] * 3, [2.0] * 3)
    b = t.numpy()
    with pytest.raises(gradd.LostWriteWarning):
        t.add_(1)
    assert (t + 1).tolist() == [3.0] * 3
    t.add_(1)
    assert (t.tolist(), b.tolist()) == ([3.0] * 3, [1.0] * 3)
