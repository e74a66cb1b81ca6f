"""`gradd.function`: what a traced call leaves behind is what a recorded one leaves behind."""

from __future__ import annotations

import gc
import itertools
import logging
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd import nn

Made = Callable[[], tuple[Callable[..., Any], list[Any]]]


@pytest.fixture
def session() -> Iterator[gradd.Session]:
    with gradd.connect("local:") as made:
        gradd.manual_seed(0)
        yield made


def leaf(*size: int, seed: int = 0) -> Any:
    values = np.random.default_rng(seed).standard_normal(size, dtype=np.float32)
    return gradd.tensor(values, requires_grad=True)


def forward() -> tuple[Callable[..., Any], list[Any]]:
    w = leaf(3, 4)
    return lambda x: (x @ w).tanh().sum(), [leaf(2, 3, seed=1)]


def accumulate() -> tuple[Callable[..., Any], list[Any]]:
    w = leaf(3, 4)

    def step(x: Any) -> Any:
        loss = (x @ w).pow(2).mean()
        loss.backward()
        return loss, w.grad

    return step, [gradd.ones(2, 3)]


def in_place() -> tuple[Callable[..., Any], list[Any]]:
    w = leaf(4)

    def step(x: Any) -> Any:
        w.grad = None
        ((w - x) ** 2).sum().backward()
        with gradd.no_grad():
            w.sub_(w.grad * 0.1)
        return w

    return step, [gradd.ones(4)]


def retained() -> tuple[Callable[..., Any], list[Any]]:
    w = leaf(4)

    def step(x: Any) -> Any:
        y = (w * x).exp().sum()
        (g,) = gradd.autograd.grad(y, w, create_graph=True)
        return g, y

    return step, [gradd.ones(4)]


def views() -> tuple[Callable[..., Any], list[Any]]:
    def step(x: Any, n: int) -> Any:
        y = x[1:] * n
        y[0] = 7.0
        return {"y": y, "t": y.t()}

    return step, [gradd.ones(3, 4), 2]


def inference() -> tuple[Callable[..., Any], list[Any]]:
    w = leaf(4)

    def step(x: Any) -> Any:
        with gradd.inference_mode():
            y = w * x
            y += 1
        return y, y[1:], w + y

    return step, [gradd.ones(4)]


def draws() -> tuple[Callable[..., Any], list[Any]]:
    return lambda x: nn.functional.dropout(x, 0.5) + gradd.rand(4), [gradd.ones(4)]


def model() -> tuple[Callable[..., Any], list[Any]]:
    net = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Dropout(0.2), nn.Linear(8, 3))
    opt = gradd.optim.Adam(net.parameters(), lr=0.05)

    def step(x: Any, y: Any) -> Any:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        return loss

    return step, [gradd.ones(5, 6), gradd.tensor([0, 1, 2, 0, 1])]


CASES: list[Made] = [forward, accumulate, in_place, retained, views, inference, draws, model]


def told(x: Any) -> Any:
    """A result as numbers and what autograd says of it."""
    if isinstance(x, gradd.Tensor):
        fn = x.grad_fn
        names = [] if fn is None else [fn.name(), *(n and n.name() for n, _ in fn.next_functions)]
        version = "inference" if x.is_inference() else x._version
        return (
            x.detach().numpy().tolist(), x.dtype, x.stride(), x.requires_grad, x.is_leaf, version, names,
        )  # fmt: skip
    if isinstance(x, dict):
        return {k: told(v) for k, v in x.items()}
    return [told(e) for e in x] if isinstance(x, (list, tuple)) else x


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_calls_leave_what_recorded_calls_leave(case: Made, caplog: pytest.LogCaptureFixture) -> None:
    found = []
    caplog.set_level(logging.INFO, "gradd.function")
    for decorate in (lambda f: f, gradd.function):
        with gradd.connect("local:") as session:
            gradd.manual_seed(0)
            fn, args = case()
            step = decorate(fn)
            rows: list[Any] = []
            for n in range(7):
                result = step(*args)
                rows.append(told(result))
                if case is retained and n % 2:
                    result[0].sum().backward()
                    rows.append(told(result[1]))
                rows.append([told(a) for a in args])
            found.append(rows)
            assert session.mirror() == session.tensors()
            del result
    assert found[0] == found[1]
    assert [r.message.partition(" ")[2] for r in caplog.records][-1:] == ["was traced"]


def test_a_traced_call_runs_no_python_and_sends_one_batch(session: gradd.Session) -> None:
    calls = itertools.count()

    @gradd.function
    def double(x: Any) -> Any:
        """Twice."""
        next(calls)
        return x * 2

    x = gradd.ones(2)
    for _ in range(2):
        double(x)
    before = session.stats()
    for _ in range(5):
        assert double(x).tolist() == [2.0, 2.0]
    after = session.stats()
    assert next(calls) == 2
    # The first value was fetched by a batch of its own; the others came with the function's.
    assert after["batches"] - before["batches"] == 6
    assert double.__doc__ == "Twice."


def test_shapes_and_constants_have_traces_of_their_own(session: gradd.Session) -> None:
    calls = itertools.count()

    @gradd.function
    def scale(x: Any, by: float, *, add: int = 0) -> Any:
        next(calls)
        return x * by + add

    for _ in range(3):
        for size in (2, 3):
            for by in (1.0, 2.0, -0.0, 0.0):
                assert scale(gradd.ones(size), by, add=1).tolist() == [by + 1] * size
    assert next(calls) == 16


def test_aliased_arguments_are_another_call(session: gradd.Session) -> None:
    @gradd.function
    def add(a: Any, b: Any) -> Any:
        a.add_(1)
        return a * b

    x, y = gradd.ones(1), gradd.full((1,), 3.0)
    for n in range(4):
        assert add(x, y).item() == (n + 2) * 3
    z = gradd.ones(1)
    for n in range(4):
        assert add(z, z).item() == (n + 2) ** 2
    v = gradd.ones(2)
    for n in range(4):  # two views of one storage
        assert add(v[:1], v[:1]).item() == (n + 2) ** 2


@pytest.mark.parametrize("reads", ["item", "upload", "graph", "level"])
def test_what_cannot_be_traced_is_recorded(
    session: gradd.Session, reads: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gradd.function")

    @gradd.function
    def f(x: Any, n: float) -> Any:
        if reads == "item":
            return x * x.sum().item()
        if reads == "upload":
            return x + gradd.tensor([n])
        if reads == "level":
            return gradd.func.jvp(lambda y: y * y, (x,), (x,))[1]
        return x.data

    x = gradd.ones(2)
    expected = [1, 1] if reads == "graph" else [2, 2]
    for _ in range(4):
        assert f(x, 1.0).tolist() == expected
    assert "is recorded at each call" in caplog.text


def test_errors_come_where_they_would(session: gradd.Session) -> None:
    w = leaf(2)

    @gradd.function
    def f(x: Any) -> Any:
        y = (w * x).exp().sum()
        y.backward()
        return y

    for _ in range(3):
        f(gradd.ones(2))
    with pytest.raises(RuntimeError, match="must match the size"):
        f(gradd.ones(3))
    y = f(gradd.ones(2))
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    with session:
        index = gradd.tensor([5])

        @gradd.function
        def pick(x: Any) -> Any:
            return x[index]

        for _ in range(3):
            pick(gradd.ones(6))
        pick(gradd.ones(6))
        index.fill_(9)
        bad = pick(gradd.ones(6))
        with pytest.raises(IndexError, match="out of") as caught:
            bad.tolist()
        assert "return x[index]" in str(caught.value.__cause__)
        index.fill_(5)
        assert pick(gradd.ones(6)).tolist() == [1.0]


def test_methods_and_functions_within_functions(session: gradd.Session) -> None:
    class Scaler:
        def __init__(self, by: float) -> None:
            self.by = gradd.tensor(by)

        @gradd.function
        def __call__(self, x: Any) -> Any:
            return inner(x) * self.by

    @gradd.function
    def inner(x: Any) -> Any:
        return x + 1

    two, three = Scaler(2.0), Scaler(3.0)
    for _ in range(4):
        assert two(gradd.ones(1)).item() == 4.0
        assert three(gradd.ones(1)).item() == 6.0


def test_a_value_held_by_nobody_is_not_kept(session: gradd.Session) -> None:
    w = leaf(4)
    f = gradd.function(lambda x: (x * w).sum())
    x = gradd.ones(4)
    gc.disable()  # no circle may keep it until a collection
    try:
        for _ in range(6):
            f(x).backward()
            w.grad = None
        session.flush()
        assert len(session.tensors()) == 2
    finally:
        gc.enable()


def test_inference_mode_is_part_of_what_a_call_depends_on(session: gradd.Session) -> None:
    w = leaf(4)
    double = gradd.function(lambda x: x * w)
    x = gradd.ones(4)
    for _ in range(4):
        assert double(x).requires_grad
        with gradd.inference_mode():
            made = double(x)
        assert made.is_inference()
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            made.add_(1)
        with gradd.no_grad():
            plain = double(x)
        assert not plain.is_inference()
        assert plain.add_(0).tolist() == made.tolist()


def test_running_statistics_that_a_traced_call_moves_are_read_anew(session: gradd.Session) -> None:
    norm = nn.BatchNorm1d(1, momentum=0.5)
    f = gradd.function(lambda x: norm(x).sum())
    x = gradd.tensor([[2.0], [6.0]])
    for mean in (2.0, 3.0, 3.5, 3.75, 3.875):
        f(x)
        assert norm.running_mean.tolist() == [mean]
    assert norm.running_mean._version == 0
