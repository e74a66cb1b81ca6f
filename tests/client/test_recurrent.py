"""Recurrent layers: PyTorch's results and gradients from its weights, its text, names and checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest

RNG = np.random.default_rng(4)
X = RNG.normal(size=(5, 2, 3)).astype("float32")


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


LAYERS: dict[str, Callable[[Any], Any]] = {
    "RNN": lambda nn: nn.RNN(3, 4),
    "RNN, relu": lambda nn: nn.RNN(3, 4, 2, "relu", False),
    "GRU": lambda nn: nn.GRU(3, 4, num_layers=2, bidirectional=True),
    "LSTM": lambda nn: nn.LSTM(3, 4),
    "LSTM, options": lambda nn: nn.LSTM(3, 4, 2, bias=False, batch_first=True, bidirectional=True),
    "LSTM, projected": lambda nn: nn.LSTM(3, 4, 2, proj_size=2),
}
CELLS: dict[str, Callable[[Any], Any]] = {
    "RNNCell": lambda nn: nn.RNNCell(3, 4),
    "RNNCell, relu": lambda nn: nn.RNNCell(3, 4, bias=False, nonlinearity="relu"),
    "GRUCell": lambda nn: nn.GRUCell(3, 4),
    "LSTMCell": lambda nn: nn.LSTMCell(3, 4),
}


def flat(found: Any) -> list[Any]:
    return [t for part in found for t in flat(part)] if isinstance(found, tuple) else [found]


def pair(torch: Any, make: Callable[[Any], Any]) -> tuple[Any, Any]:
    """gradd's module with the weights of torch's, and torch's."""
    mine, theirs = make(gradd.nn), make(torch.nn)
    assert repr(mine) == repr(theirs)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    mine.load_state_dict({n: gradd.from_numpy(v.numpy()) for n, v in theirs.state_dict().items()})
    return mine, theirs


def compare(mine: Any, theirs: Any, got: Any, want: Any) -> None:
    a, b = flat(got), flat(want)
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), rtol=1e-5, atol=1e-6)
    sum((t * t).sum() for t in a).backward()
    sum((t * t).sum() for t in b).backward()
    for (name, p), q in zip(mine.named_parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize("name", LAYERS)
def test_layers_follow_torch(torch: Any, name: str) -> None:
    mine, theirs = pair(torch, LAYERS[name])
    x, y = gradd.tensor(X), torch.tensor(X)
    compare(mine, theirs, mine(x), theirs(y))
    state, want = mine(x)[1], theirs(y)[1]
    for one, other in zip(flat(mine(x, state)), flat(theirs(y, want)), strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-5, atol=1e-6)
    for one, other in zip(flat(mine(x[0])), flat(theirs(y[0])), strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.oracle
@pytest.mark.parametrize("name", CELLS)
def test_cells_follow_torch(torch: Any, name: str) -> None:
    mine, theirs = pair(torch, CELLS[name])
    x, y = gradd.tensor(X), torch.tensor(X)
    first, second = mine(x[0]), theirs(y[0])
    compare(mine, theirs, mine(x[1], first), theirs(y[1], second))
    for one, other in zip(flat(mine(x[0, 0])), flat(theirs(y[0, 0])), strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_a_sequence_is_one_step(session: Any) -> None:
    layer = gradd.nn.LSTM(3, 4, 2)
    x = gradd.tensor(X)
    session.flush()
    before = session.stats()["steps"]
    layer(x, (gradd.zeros(2, 2, 4), gradd.zeros(2, 2, 4)))
    session.flush()
    assert session.stats()["steps"] == before + 3


@pytest.mark.parametrize("name", LAYERS)
def test_training_is_planned_from_its_third_step_on(session: Any, name: str) -> None:
    layer, x = LAYERS[name](gradd.nn), gradd.tensor(X)
    opt = gradd.optim.SGD(layer.parameters(), lr=0.1)
    with session.profile() as profile:
        for _ in range(4):
            opt.zero_grad()
            layer(x)[0].sum().backward()
            opt.step()
    assert [batch.how for batch in profile.batches] == ["eager", "eager", "planned", "planned"]


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_a_layer_keeps_no_gates_where_nothing_is_differentiated(session: Any, name: str) -> None:
    layer, x = LAYERS[name](gradd.nn), gradd.randn(50, 20, 3)
    held = []
    for grad in (False, True):
        before = session.info().bytes
        with gradd.set_grad_enabled(grad):
            out = layer(x)[0]
        held.append(session.info().bytes - before)
        del out
    assert held[1] - held[0] >= 50 * 20 * 4 * 4


def test_its_weight_may_not_change_before_the_pass_and_its_output_may() -> None:
    layer, x = gradd.nn.GRU(3, 4), gradd.tensor(X)
    out, _ = layer(x)
    out.mul_(2)
    out.sum().backward()
    out, _ = layer(x)
    with gradd.no_grad():
        layer.weight_hh_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_a_graph_may_be_kept_for_another_pass() -> None:
    layer, x = gradd.nn.LSTM(3, 4), gradd.tensor(X, requires_grad=True)
    total = layer(x)[0].sum()
    (first,) = gradd.autograd.grad(total, x, retain_graph=True)
    (second,) = gradd.autograd.grad(total, x)
    assert gradd.equal(first, second)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        gradd.autograd.grad(total, x)


def test_dropout_between_layers_while_training() -> None:
    layer = gradd.nn.GRU(3, 8, 2, dropout=0.5)
    x = gradd.tensor(X)
    assert not gradd.equal(layer(x)[0], layer(x)[0])
    layer.eval()
    assert gradd.equal(layer(x)[0], layer(x)[0])
    with pytest.warns(UserWarning, match="dropout option adds dropout after all but last recurrent layer"):
        gradd.nn.GRU(3, 8, dropout=0.5)


WRONG: list[Callable[[Any], Any]] = [
    lambda T: T.nn.LSTM(3, 4)(T.zeros(5, 2, 2)),
    lambda T: T.nn.LSTM(3, 4)(T.zeros(1, 5, 2, 3)),
    lambda T: T.nn.RNN(3, 4)(T.zeros(1, 5, 2, 3)),
    lambda T: T.nn.GRU(3, 4)(T.zeros(3)),
    lambda T: T.nn.LSTM(3, 4)(T.zeros(5, 2, 3, dtype=T.float64)),
    lambda T: T.nn.LSTM(3, 4)(T.zeros(5, 2, 3), (T.zeros(1, 2, 3), T.zeros(1, 2, 4))),
    lambda T: T.nn.LSTM(3, 4)(T.zeros(5, 2, 3), (T.zeros(1, 2, 4), T.zeros(2, 2, 4))),
    lambda T: T.nn.LSTM(3, 4)(T.zeros(5, 2, 3), (T.zeros(2, 4), T.zeros(2, 4))),
    lambda T: T.nn.LSTM(3, 4)(T.zeros(5, 3), (T.zeros(1, 2, 4), T.zeros(1, 2, 4))),
    lambda T: T.nn.GRU(3, 4)(T.zeros(5, 2, 3), T.zeros(1, 3, 4)),
    lambda T: T.nn.GRU(3, 4)(T.zeros(5, 2, 3), T.zeros(2, 4)),
    lambda T: T.nn.RNN(3, 4)(T.zeros(5, 3), T.zeros(1, 2, 4)),
    lambda T: T.nn.RNN(3, 4, nonlinearity="x"),
    lambda T: T.nn.RNN(3, 4, proj_size=2),
    lambda T: T.nn.GRU(3, 4, proj_size=2),
    lambda T: T.nn.LSTM(3, 4, proj_size=4),
    lambda T: T.nn.LSTM(3, 4, proj_size=-1),
    lambda T: T.nn.LSTM(3, 4, 0),
    lambda T: T.nn.LSTM(0, 4),
    lambda T: T.nn.LSTM(3, -1),
    lambda T: T.nn.LSTM(3, 4.0),
    lambda T: T.nn.LSTM(3, 4, bias=1),
    lambda T: T.nn.LSTM(3, 4, dropout=2.0),
    lambda T: T.nn.RNNCell(3, 4)(T.zeros(1, 1, 3)),
    lambda T: T.nn.GRUCell(3, 4)(T.zeros(1, 3), T.zeros(1, 1, 4)),
    lambda T: T.nn.LSTMCell(3, 4)(T.zeros(1, 3), (T.zeros(1, 4), T.zeros(1, 1, 4))),
    lambda T: T.nn.RNNCell(3, 4, nonlinearity="x")(T.zeros(1, 3)),
    lambda T: T.nn.RNNBase("X", 3, 4),
]


@pytest.mark.oracle
@pytest.mark.parametrize("make", WRONG)
def test_misuse_is_told_in_torchs_words(torch: Any, make: Callable[[Any], Any]) -> None:
    told = []
    for T in (gradd, torch):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - class and text are what the test compares
            make(T)
        told.append((caught.type, str(caught.value)))
    assert told[0] == told[1]
