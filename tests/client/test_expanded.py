"""Writes to an expanded tensor, whose elements share memory: what each call leaves, or says.

Where PyTorch lets it, it writes one element after another: the last one stays, or all are added.
"""

from __future__ import annotations

import warnings
from typing import Any

import gradd
import pytest

#: what is left of [1, -2, 3] after a call on `x`, which is two rows of it
WRITES: dict[str, list[float]] = {
    "x.masked_fill_(x > 0, 1.5)": [1.5, -2.0, 1.5],
    "x.masked_fill_(T.tensor([[True], [False]]), T.tensor(4))": [4.0, 4.0, 4.0],
    "x.masked_fill_(T.tensor([False, False, True]), base[0])": [1.0, -2.0, 1.0],
    "x[x > 0] = 1.5": [1.5, -2.0, 1.5],
    "x[x > 100] = 1.5": [1.0, -2.0, 3.0],
    "x[x > 0] = x.sum()": [4.0, -2.0, 4.0],
    "x[T.tensor([[True, False, True], [True, True, False]])] = T.arange(1., 5.)": [3.0, 4.0, 2.0],
    "x[T.tensor([False, True])] = T.tensor([4., 5., 6.])": [4.0, 5.0, 6.0],
    "x[:, T.tensor([True, False, True])] = 5": [5.0, -2.0, 5.0],
    "x[T.tensor([0])] = 1.5": [1.5, 1.5, 1.5],
    "x[T.tensor([0, 1])] = T.arange(1., 7.).reshape(2, 3)": [4.0, 5.0, 6.0],
    "x[T.tensor([1, 0])] = T.arange(1., 7.).reshape(2, 3)": [4.0, 5.0, 6.0],
    "x[T.tensor([0, 1]), T.tensor([2, 2])] = T.tensor([7., 8.])": [1.0, -2.0, 8.0],
    "x[:, T.tensor([0, 2])] = T.tensor([[1., 2.], [3., 4.]])": [3.0, -2.0, 4.0],
    "x[T.tensor([0]), 1:] = 5": [1.0, 5.0, 5.0],
    "x[T.tensor([0])] = base": [1.0, -2.0, 3.0],
    "x.index_put_((T.tensor([0]),), T.tensor(2.), accumulate=True)": [3.0, 0.0, 5.0],
    "x.index_put_((T.tensor([0, 1]),), T.tensor([[1.], [2.]]), accumulate=True)": [4.0, 1.0, 6.0],
    "x.index_put_((T.tensor([0, 1, 0]), T.tensor([1, 1, 2])), T.tensor(2.), True)": [1.0, 2.0, 5.0],
    "x.index_put_((T.tensor([[True, False, True], [True, True, False]]),), T.tensor(2.), True)": [
        5.0, 0.0, 5.0,
    ],
    "x.index_fill_(0, T.tensor([0]), 1.5)": [1.5, 1.5, 1.5],
    "x.index_fill_(1, T.tensor([0, -1]), T.tensor(1.5))": [1.5, -2.0, 1.5],
    "x.tril_()": [1.0, 0.0, 0.0],
    "x.triu_()": [0.0, -2.0, 3.0],
    "x.tril_(1)": [1.0, -2.0, 0.0],
    "x.zero_()": [0.0, 0.0, 0.0],
    "x.fill_(2)": [2.0, 2.0, 2.0],
    "x.copy_(x)": [1.0, -2.0, 3.0],
}  # fmt: skip

SHARED = "unsupported operation: more than one element of the written-to tensor refers to a single memory"
REFUSED: dict[str, str] = {
    "x.fill_(T.tensor(2.))": SHARED,
    "x.fill_(base[0])": SHARED,
    "x.copy_(base)": SHARED,
    "x.add_(1)": SHARED,
    "x.mul_(x)": SHARED,
    "x[...] = T.tensor([1., 2., 3.])": SHARED,
    "x.index_add_(0, T.tensor([0]), T.ones(1, 3))": SHARED,
    "x.index_copy_(0, T.tensor([0]), T.ones(1, 3))": SHARED,
    "x.scatter_(0, T.tensor([[0, 0, 0]]), 1.5)": SHARED,
    "x.put_(T.tensor([0]), T.tensor([5.]))": SHARED,
    "x[T.tensor([0, 5])] = 1.5": "index 5 is out of bounds for dimension 0 with size 2",
    "x.index_fill_(0, T.tensor([2]), 1.5)": "index 2 is out of bounds for dimension 0 with size 2",
    "x[T.tensor([True, False, True])] = 1.5": "The shape of the mask [3] at index 0 does not match the shape",
    "x.masked_fill_(T.tensor([True, False]), 1.5)": "The size of tensor a (",
    "x.index_put_((T.tensor([0]),), T.ones(2))": "shape mismatch: value tensor of shape [2] cannot be broadc",
    "x.index_put_((T.tensor([0]),), T.tensor(1))": "Index put requires the source and destination dtypes",
}

pytestmark = pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors is deprecated")


def _left(T: Any, call: str) -> list[float]:
    base = T.tensor([1.0, -2.0, 3.0])
    exec(call, {"T": T, "base": base, "x": base.expand(2, 3)})
    found: list[float] = base.tolist()
    return found


@pytest.mark.parametrize("call", WRITES)
def test_the_last_element_stays_or_all_are_added(T: Any, call: str) -> None:
    assert _left(T, call) == WRITES[call]


@pytest.mark.parametrize("call", REFUSED)
def test_others_are_refused(T: Any, call: str) -> None:
    base = T.tensor([1.0, -2.0, 3.0])
    with pytest.raises((RuntimeError, IndexError)) as refused:
        exec(f"{call}\nbase.tolist()", {"T": T, "base": base, "x": base.expand(2, 3)})
    assert str(refused.value).startswith(REFUSED[call])
    # PyTorch has written by then what comes before an index that is out of bounds, and so has a device
    if T is gradd and "a device tells" not in str(refused.value):
        assert base.tolist() == [1.0, -2.0, 3.0]


@pytest.mark.parametrize("call", WRITES)
def test_a_plan_leaves_the_same(call: str) -> None:
    from gradd._transports.local import _inline

    with gradd.connect("local:") as session:
        plans = _inline()._sessions[session.name].session.plans
        for _ in range(5):
            assert _left(gradd, call) == WRITES[call]
        # where a mask says how many values are written, that is asked for on the way
        assert plans.counts["planned"] >= 3


@pytest.mark.parametrize("call", REFUSED)
def test_a_repeated_one_is_refused_each_time(call: str, daemon: str) -> None:
    with gradd.connect(daemon):
        for _ in range(4):
            test_others_are_refused(gradd, call)


@pytest.mark.parametrize(
    ("shape", "dtype", "call", "left"),
    [
        ((1, 2), "float16", "x.index_put_((T.tensor([0, 1]),), T.ones(2, 2).half(), True)", [[2, 2]]),
        ((2, 1), "int64", "x[T.tensor([1, 0])] = T.arange(6).reshape(2, 3)", [[5], [2]]),
        ((2, 1), "bool", "x.index_put_((T.tensor([0]),), T.tensor([True, False, False]), True)", [[1], [0]]),
        ((1, 1), "uint8", "x.masked_fill_(T.tensor([[True], [False]]), 7)", [[7]]),
        ((1, 2), "complex64", "x[T.tensor([1])] = T.tensor([1j, 2])", [[1j, 2]]),
        ((2, 1), "float64", "x.triu_(1)", [[0], [0]]),
        ((1, 1), "float32", "x[T.tensor([1, 0]), T.tensor([2, 0])] = T.tensor([3., 4.])", [[4]]),
        ((2, 1), "float32", "x[0, T.tensor([1, 2])] = T.tensor([3., 4.])", [[4], [0]]),
        ((2, 1), "float32", "x[T.tensor([], dtype=T.int64)] = 5", [[0], [0]]),
    ],
)
def test_any_dimension_of_any_dtype(T: Any, shape: Any, dtype: str, call: str, left: Any) -> None:
    base = T.zeros(*shape, dtype=getattr(T, dtype))
    exec(call, {"T": T, "base": base, "x": base.expand(2, 3) if shape[1] == 1 else base.expand(2, 2)})
    assert base.tolist() == left


def test_every_second_row_of_what_is_expanded_is_expanded(T: Any) -> None:
    base = T.ones(3)
    x = base.expand(4, 3)[::2, 1:]
    x[T.tensor([0])] = T.tensor([5.0, 6.0])
    x.masked_fill_(T.tensor([[False, False], [False, True]]), 7.0)
    assert base.tolist() == [1.0, 5.0, 7.0]
    one = base.expand(4, 3)[:1]
    one.mul_(2)  # a single row shares nothing
    assert base.tolist() == [2.0, 10.0, 14.0]


DEPRECATED = (
    "Use of {} on expanded tensors is deprecated. Please clone() the tensor before performing this operation."
    " This also applies to advanced indexing e.g. {}"
)
MASKED = DEPRECATED.format("masked_fill_", "tensor[mask] = scalar")
FILLED = DEPRECATED.format("index_fill_", "tensor[mask] = scalar")
PUT = DEPRECATED.format("index_put_", "tensor[indices] = tensor")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("x.masked_fill_(x > 0, 1.5)", [MASKED]),
        ("x.index_fill_(0, T.tensor([0]), 1.5)", [FILLED]),
        ("x[T.tensor([0])] = 1.5", [PUT]),
        ("x[x > 0] = 1.5", [PUT, MASKED]),
        ("x.index_put_((x > 0,), T.tensor(1.5), accumulate=True)", [PUT]),
        ("x.tril_()", []),
        ("x[0].masked_fill_(x[0] > 0, 1.5)", []),
    ],
)
def test_what_pytorch_is_to_refuse_is_warned_of(T: Any, call: str, said: list[str]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _left(T, call)
    assert [str(w.message).partition(" (Triggered")[0] for w in caught] == said


def test_of_a_value_that_was_written_each_element_counts(T: Any) -> None:
    v = T.tensor(2.0, requires_grad=True)
    base = T.ones(3)
    x = base.expand(2, 3)
    x.masked_fill_(T.tensor([[True, False, False], [False, False, True]]), v)
    (x * T.arange(6.0).reshape(2, 3)).sum().backward()
    assert v.grad.tolist() == 10.0
    v = T.tensor([2.0, 3.0, 4.0], requires_grad=True)
    base = T.ones(3)
    base.expand(2, 3).index_put_((T.tensor([0, 1]),), v, accumulate=True)
    (base * T.arange(3.0)).sum().backward()
    assert base.tolist() == [5.0, 7.0, 9.0]
    assert v.grad.tolist() == [0.0, 2.0, 4.0]


def test_no_gradient_goes_on_to_the_base(T: Any) -> None:
    b, v = T.tensor([1.0, 2.0, 3.0], requires_grad=True), T.tensor(2.0, requires_grad=True)
    for write in (lambda x: x.masked_fill_(x > 1, v), lambda x: x.tril_(), lambda x: x.copy_(x)):
        x = (b * 1).expand(2, 3)
        write(x)
        with pytest.raises(RuntimeError, match=f"^{SHARED}"):
            x.sum().backward()
        assert b.grad is None
    c = b * 1
    c.expand(2, 3).masked_fill_(T.tensor([True, False, True]), v)
    (found,) = T.autograd.grad(c.sum(), [v])  # which nobody asked for here
    assert found.tolist() == 4.0


def test_a_function_that_wrote_to_one_hands_no_gradient_on(T: Any) -> None:
    class Fill(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, v: Any) -> Any:
            ctx.mark_dirty(x)
            return x.fill_(2)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return grads[0] * 0, grads[0].sum()

    w, v = T.ones(2, requires_grad=True), T.ones((), requires_grad=True)
    b = w * 1
    Fill.apply(b.expand(3, 2), v)
    (found,) = T.autograd.grad(b.sum(), [v], retain_graph=True)
    assert found.tolist() == 6.0
    with pytest.raises(RuntimeError, match=f"^{SHARED}"):
        b.sum().backward()
    assert w.grad is None
