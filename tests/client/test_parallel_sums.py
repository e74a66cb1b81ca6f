"""Sums, means and copies over sessions: what is written, what is refused, and what goes where."""

from __future__ import annotations

from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest
from gradd import nn, parallel
from gradd._transports.control import Control
from gradd.parallel import _buckets

from tests.client.replicas import current, full


def test_the_mean_and_the_sum_are_written_in_place(anywhere: list[Any]) -> None:
    for op, expected in (("mean", 2.0), ("sum", 6.0)):
        tensors = parallel.map(anywhere, full, [1.0, 2.0, 3.0], [2] * 3, [3] * 3)
        versions = [t._version for t in tensors]
        assert parallel.all_reduce(tensors, op) is None  # type: ignore[arg-type,func-returns-value]
        assert [t.tolist() for t in tensors] == [[[expected] * 3] * 2] * 3
        assert [t._version for t in tensors] == [version + 1 for version in versions]


def test_they_are_added_in_order(anywhere: list[Any]) -> None:
    for values, expected in (([1e8, -1e8, 1.0], 1.0), ([1e8, 1.0, -1e8], 0.0)):
        tensors = parallel.map(anywhere, full, values)
        parallel.all_reduce(tensors, "sum")
        assert [t.item() for t in tensors] == [expected] * 3


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64", "complex64", "int64", "uint8"])
def test_dtypes(sessions: list[Any], name: str) -> None:
    dtype = getattr(torch, name)
    made = parallel.map(sessions, lambda s, v: torch.tensor([v, 2 * v], dtype=dtype), [3, 5, 7])
    parallel.all_reduce(made, "sum")
    assert [t.to(torch.complex128).real.tolist() for t in made] == [[15.0, 30.0]] * 3
    assert {t.dtype for t in made} == {dtype}


def test_16_bits_are_added_in_float32(sessions: list[Any]) -> None:
    made = parallel.map(
        sessions, lambda s, v: torch.tensor([v], dtype=torch.float16), [60000.0, 60000.0, 0.0]
    )
    parallel.all_reduce(made)
    assert [t.item() for t in made] == [40000.0] * 3


@pytest.mark.parametrize("bucket", [4, 12, 64, 1 << 20])
def test_buckets_of_any_size(sessions: list[Any], monkeypatch: pytest.MonkeyPatch, bucket: int) -> None:
    monkeypatch.setattr(_buckets, "BUCKET", bucket)

    def make(session: Any, rank: int) -> Any:
        base = torch.arange(24, dtype=torch.float32).reshape(4, 6) + rank
        return [
            base.clone(), base.T.clone().T, base[:, ::2].clone(), torch.zeros(0, 3),
            torch.tensor(float(rank)),
            base.to(torch.float64), torch.zeros(5, 5)[1:4, 1:3] + rank, base[1:3],
        ]  # fmt: skip

    made = parallel.map(sessions, make, range(3))
    expected = [t.numpy().copy() for t in made[1]]
    parallel.all_reduce(made)
    for replica in made:
        for t, values in zip(replica, expected, strict=True):
            np.testing.assert_array_equal(t.numpy(), values)


def test_pieces_go_into_a_part_of_a_tensor_that_is_not_contiguous(
    sessions: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_buckets, "BUCKET", 12)
    whole = parallel.map(sessions, full, [0.0, 3.0, 6.0], [4] * 3, [4] * 3)
    parallel.all_reduce([t[1:3, ::2] for t in whole])
    for value, t in zip([0.0, 3.0, 6.0], whole, strict=True):
        array = np.full((4, 4), value, np.float32)
        array[1:3, ::2] = 3.0
        np.testing.assert_array_equal(t.numpy(), array)


def test_a_large_tensor_goes_in_pieces(daemon: str) -> None:
    group = [gradd.connect(daemon) for _ in range(2)]
    size = _buckets.BUCKET // 4 + 1000
    made = parallel.map(group, lambda s, v: torch.arange(size, dtype=torch.float32) * v, [1.0, 3.0])
    parallel.all_reduce(made)
    for t in made:
        assert torch.equal(t[-3:], made[0][-3:]) if t is made[0] else True
        np.testing.assert_array_equal(t[-3:].numpy(), np.arange(size, dtype=np.float32)[-3:] * 2)
    for session in group:
        session.close()


def test_no_graph_knows_of_it(sessions: list[Any]) -> None:
    leaves = parallel.map(sessions, lambda s, v: torch.full((2,), v, requires_grad=True), [1.0, 2.0, 3.0])
    with gradd.enable_grad():
        parallel.all_reduce(leaves)
    assert all(t.is_leaf and t.requires_grad and t.grad_fn is None for t in leaves)
    parallel.map(sessions, lambda s, t: (t * t).sum().backward(), leaves)
    assert [t.grad.tolist() for t in leaves] == [[4.0, 4.0]] * 3


def test_a_write_that_a_graph_minds_is_told(sessions: list[Any]) -> None:
    def make(session: Any) -> Any:
        t = torch.ones(2, requires_grad=True) * 2
        return t, (t * t).sum()

    made = parallel.map(sessions, make)
    parallel.all_reduce([t for t, _ in made])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        made[0][1].backward()


def test_broadcast_copies_modules_with_buffers(anywhere: list[Any]) -> None:
    def make(session: Any, seed: int) -> Any:
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        model(torch.randn(5, 3))
        return model

    models = parallel.map(anywhere, make, range(3))
    expected = {name: t.numpy().copy() for name, t in models[2].state_dict().items()}
    parallel.broadcast(models, src=2)
    for model in models:
        assert {name: t.tolist() for name, t in model.state_dict().items()} == {
            name: values.tolist() for name, values in expected.items()
        }


def test_broadcast_of_tensors_of_any_dtype(sessions: list[Any]) -> None:
    made = parallel.map(
        sessions, lambda s, v: [torch.tensor([v, not v]), torch.tensor(7 * v)], [True, False, False]
    )
    parallel.broadcast(made)
    assert [[t.tolist() for t in each] for each in made] == [[[True, False], 7]] * 3


def test_what_is_none_everywhere_is_left_out(sessions: list[Any]) -> None:
    made = parallel.map(sessions, full, [1.0, 2.0, 3.0])
    parallel.all_reduce([[None, t] for t in made])
    assert [t.item() for t in made] == [2.0] * 3
    parallel.all_reduce([[None], [None], [None]])
    parallel.all_reduce([])
    parallel.all_reduce(made[:1])
    assert made[0].item() == 2.0


def bad(sessions: list[Any], case: str) -> Any:
    """Lists that are refused."""
    a, b, c = parallel.map(sessions, full, [1.0, 2.0, 3.0], [2] * 3)
    wide = parallel.map(sessions, full, [1.0] * 3, [2] * 3, [3] * 3)[1]
    long = parallel.map(sessions, lambda s: torch.ones(2, dtype=torch.int64))
    cases: dict[str, Any] = {
        "size": [a, wide, c], "dtype": [a, long[1], c], "length": [[a], [b, b], [c]],
        "none": [[a], [None], [c]], "not none": [[None], [b], [None]], "twice": [a, a, c],
        "several": [[a, b], [b, a], [c, c]], "tensor": [[a], [1.0], [c]], "mean": long,
    }  # fmt: skip
    return cases[case]


@pytest.mark.parametrize(
    ("case", "error", "says"),
    [
        ("size", ValueError, "tensor 0 of input 1 has invalid size: got 2x3, but expected 2"),
        ("dtype", ValueError, "invalid dtype: got torch.int64, but expected torch.float32"),
        ("length", ValueError, "input 1 has 2 tensors, and input 0 has 1"),
        ("none", ValueError, "tensor 0 of input 1 is None, and that of input 0 is not"),
        ("not none", ValueError, "tensor 0 of input 0 is None, and that of input 1 is not"),
        ("twice", ValueError, r"sessions\[1\] is sessions\[0\]"),
        ("several", ValueError, "input 0 has tensors of several sessions"),
        ("tensor", TypeError, r"tensors\[1\]\[0\] is a float, and no tensor"),
        ("mean", RuntimeError, r"mean\(\): could not infer output dtype"),
    ],
)
def test_what_is_refused(sessions: list[Any], case: str, error: type[Exception], says: str) -> None:
    tensors = bad(sessions, case)
    with pytest.raises(error, match=says):
        parallel.all_reduce(tensors)
    with pytest.raises(ValueError, match="op is 'mean' or 'sum'"):
        parallel.all_reduce(tensors, "max")  # type: ignore[arg-type]


def test_sums_of_booleans_and_sparse_tensors_are_refused(sessions: list[Any]) -> None:
    flags = parallel.map(sessions, lambda s: torch.tensor([True]))
    with pytest.raises(RuntimeError, match="booleans have no sum"):
        parallel.all_reduce(flags, "sum")
    sparse = parallel.map(sessions, lambda s: [torch.eye(2).to_sparse()])
    with pytest.raises(RuntimeError, match=r"tensors\[0\]\[0\] is sparse"):
        parallel.all_reduce(sparse)
    with pytest.raises(IndexError, match="src is 3, and there are 3 replicas"):
        parallel.broadcast(flags, 3)


def test_sessions_of_several_daemons_are_refused(daemon: str) -> None:
    with gradd.connect("local:") as here, gradd.connect(daemon) as there:
        made = parallel.map([here, there], full, [1.0, 2.0])  # work in both is well
        with pytest.raises(ValueError, match=r"the sessions are of several daemons: http://.*, local:"):
            parallel.all_reduce(made)


def test_an_older_daemon_is_told_apart(sessions: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    made = parallel.map(sessions, full, [1.0, 2.0, 3.0])
    monkeypatch.setattr(sessions[0].wire.transport, "extensions", frozenset())
    with pytest.raises(RuntimeError, match="older than this client"):
        parallel.all_reduce(made)


def test_an_error_of_a_session_comes_first_and_nothing_is_written(anywhere: list[Any]) -> None:
    made = parallel.map(anywhere, full, [1.0, 2.0, 3.0], [2] * 3)
    parallel.map(anywhere[1:2], lambda s: torch.ones(3)[torch.tensor([7])])
    with pytest.raises(IndexError):
        parallel.all_reduce(made)
    assert [t.tolist() for t in made] == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    parallel.all_reduce(made)
    assert made[2].tolist() == [2.0, 2.0]


def test_uploads_of_a_sum_that_failed_are_replaced(daemon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    group = [gradd.connect(daemon) for _ in range(2)]
    made = parallel.map(group, full, [1.0, 3.0], [1000] * 2)
    real, asked = Control.reduce, []

    def failing(self: Any, mean: bool, members: Any) -> None:
        asked.append([key for each in members for key in each.uploads])
        real(self, mean, members)
        if len(asked) == 1:
            raise RuntimeError("planted")

    monkeypatch.setattr(Control, "reduce", failing)
    with pytest.raises(RuntimeError, match="planted"):
        parallel.all_reduce(made)
    held = group[0].info().bytes
    parallel.all_reduce(made)
    assert asked[1] == asked[0]
    assert group[0].info().bytes <= held
    assert made[0][:2].tolist() == [2.0, 2.0]
    for session in group:
        session.close()


def test_no_value_comes_to_the_script(daemon: str) -> None:
    group = [gradd.connect(daemon) for _ in range(2)]
    made = parallel.map(group, full, [1.0, 3.0], [100_000] * 2)
    parallel.all_reduce(made)
    for session in group:
        session.flush()
        assert session.stats()["bytes_received"] < 10_000
        assert session.stats()["bytes_sent"] < 10_000
    assert made[1][0].item() == 2.0
    for session in group:
        session.close()


def test_a_traced_function_may_add(sessions: list[Any]) -> None:
    made = parallel.map(sessions, full, [1.0, 2.0, 3.0])
    begun = [t * 1 for t in made]

    def add(x: Any) -> Any:
        y = x + 1
        parallel.all_reduce([y, *begun[1:]])
        return y * 2

    traced = gradd.function(add)
    with current(sessions[0]):
        expected = [begun[1].item(), begun[2].item()]
        for value in range(4):
            total = (value + 1 + sum(expected)) / 3
            assert traced(torch.tensor(float(value))).item() == pytest.approx(2 * total)
            expected = [total, total]
