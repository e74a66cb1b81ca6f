"""Calls as scripts of all ages write them: numbers before tensors, results into tensors that are there."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest
from gradd_engine.declare import former

from tests.oracle import ITSELF, module


@pytest.fixture(params=[*ITSELF, "gradd"])
def T(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`torch`, the oracle, or `gradd` with a local session as the current one: every test runs on both."""
    monkeypatch.setattr(former, "_warned", ["add_"])
    if request.param == "torch":
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This overload of")
            yield module()
        return
    with gradd.connect("local:"):
        yield gradd


def _told(call: Callable[[], Any]) -> str:
    with pytest.raises((RuntimeError, TypeError)) as caught:
        call()
    return f"{type(caught.value).__name__}: {caught.value}"


FORMER: dict[str, tuple[Callable[[Any, Any, Any], Any], Callable[[Any, Any, Any], Any]]] = {
    "add": (lambda T, x, m: T.add(x, 2, x), lambda T, x, m: x + 2 * x),
    "add_": (lambda T, x, m: x.clone().add_(0.5, x), lambda T, x, m: x + 0.5 * x),
    "add a number": (lambda T, x, m: x.add_(T.tensor(2.0), x), lambda T, x, m: 3 * T.tensor([1.0, -2.0])),
    "sub": (lambda T, x, m: x.sub(2, x), lambda T, x, m: -x),
    "addcmul": (lambda T, x, m: T.addcmul(x, 2, x, x), lambda T, x, m: x + 2 * x * x),
    "addcmul_": (lambda T, x, m: x.clone().addcmul_(0.1, x, x), lambda T, x, m: x + 0.1 * x * x),
    "addcdiv_": (lambda T, x, m: x.clone().addcdiv_(-0.1, x, x), lambda T, x, m: x - 0.1),
    "addmm": (lambda T, x, m: T.addmm(2, m, 3, m, m), lambda T, x, m: 2 * m + 3 * m @ m),
    "addmm, beta alone": (lambda T, x, m: T.addmm(2, m, m, m), lambda T, x, m: 2 * m + m @ m),
    "addmm_": (lambda T, x, m: m.clone().addmm_(2, 3, m, m), lambda T, x, m: 2 * m + 3 * m @ m),
    "addmv": (lambda T, x, m: x.addmv(2, m, x), lambda T, x, m: 2 * x + m @ x),
    "addr": (lambda T, x, m: m.addr(2, 3, x, x), lambda T, x, m: 2 * m + 3 * T.outer(x, x)),
    "addbmm": (
        lambda T, x, m: m.addbmm(2, m[None], m[None]),
        lambda T, x, m: 2 * m + m @ m,
    ),
    "baddbmm": (
        lambda T, x, m: m[None].baddbmm(2, 3, m[None], m[None]),
        lambda T, x, m: (2 * m + 3 * m @ m)[None],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMER)
def test_numbers_may_come_before_the_tensors_that_they_scale(T: Any, name: str) -> None:
    former_call, today = FORMER[name]

    def made() -> tuple[Any, Any]:
        return T.tensor([1.0, -2.0]), T.tensor([[1.0, 2.0], [3.0, -1.0]])

    got, wanted = former_call(T, *made()), today(T, *made())
    assert got.shape == wanted.shape
    assert got.flatten().tolist() == pytest.approx(wanted.flatten().tolist())


def test_former_calls_store_their_results(T: Any) -> None:
    x, m, out = T.tensor([1.0, -2.0]), T.tensor([[1.0, 2.0], [3.0, -1.0]]), T.zeros(0)
    assert T.add(x, 2, x, out=out) is out
    assert out.tolist() == [3, -6]
    assert T.addcmul(x, 2, x, x, out=out).tolist() == [3, 6]
    square = T.zeros(2, 2)
    T.addmm(2, m, 3, m, m, out=square)
    assert square.tolist() == (2 * m + 3 * m @ m).tolist()


def test_a_number_that_is_given_twice_is_refused(T: Any) -> None:
    x, m = T.ones(2), T.ones(2, 2)
    with pytest.raises(TypeError):
        T.add(x, 2, x, alpha=3)
    with pytest.raises(TypeError):
        x.addcmul_(2, x, x, value=3)
    with pytest.raises(TypeError):
        T.addmm(2, m, m, m, beta=3)


def test_a_number_may_be_a_tensor_before_the_first(T: Any) -> None:
    m, three = T.tensor([[1.0, 2.0], [3.0, -1.0]]), T.tensor(3.0)
    assert T.addmm(three, m, 2, m, m).tolist() == (3 * m + 2 * m @ m).tolist()
    assert T.addmm(three, m, m, m).tolist() == (3 * m + m @ m).tolist()
    assert T.addmv(three, m[0], three, m, m[1]).tolist() == (3 * m[0] + 3 * m @ m[1]).tolist()
    assert m.addmm(three, three, m, m).tolist() == (3 * m + 3 * m @ m).tolist()


SCALED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "addcdiv": lambda T, x, m: T.addcdiv(x, x, x, value=2j),
    "addcdiv, too large": lambda T, x, m: T.addcdiv(x, x, x, value=1e40),
    "addcdiv_": lambda T, x, m: x.addcdiv_(x, x, value=2j),
    "addmv": lambda T, x, m: T.addmv(x, m, x, alpha=2j),
    "addr": lambda T, x, m: T.addr(m, x, x, beta=2j),
    "addbmm": lambda T, x, m: T.addbmm(m, m[None], m[None], beta=2j),
    "addbmm, too large": lambda T, x, m: T.addbmm(m, m[None], m[None], alpha=1e40),
    "index_add": lambda T, x, m: T.index_add(x, 0, T.tensor([0]), x[:1], alpha=2j),
}


@pytest.mark.parametrize("name", SCALED)
def test_a_number_that_the_result_cannot_hold_is_refused(T: Any, name: str) -> None:
    with pytest.raises(RuntimeError, match="value cannot be converted to type float without overflow"):
        SCALED[name](T, T.ones(2), T.ones(2, 2))


def test_gradients_flow_through_former_calls(T: Any) -> None:
    x, y = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    T.add(x, 3, y).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([1, 1], [3, 3])


def test_the_first_former_call_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(former, "_warned", [])
    with gradd.connect("local:"):
        x = gradd.ones(2)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            x.add_(2, x)
            x.add_(2, x)
    (told,) = caught
    assert str(told.message) == (
        "This overload of add_ is deprecated:\n\tadd_(Number alpha, Tensor other)\nConsider using one of the "
        "following signatures instead:\n\tadd_(Tensor other, *, Number alpha = 1)"
    )
    assert told.filename == __file__


def test_other_surplus_arguments_are_refused(T: Any) -> None:
    x = T.ones(2)
    for call in (lambda: x.add(x, x), lambda: T.addcmul(x, x, x, 2), lambda: T.add(x, "2", x)):
        assert _told(call).startswith("TypeError: add")


CREATED: dict[str, Callable[[Any, Any], Any]] = {
    "zeros": lambda T, out: T.zeros(2, 3, out=out),
    "ones": lambda T, out: T.ones((2, 3), out=out),
    "full": lambda T, out: T.full((2, 3), 1.5, out=out),
    "eye": lambda T, out: T.eye(3, out=out),
    "arange": lambda T, out: T.arange(6, out=out),
    "linspace": lambda T, out: T.linspace(0, 1, 6, out=out),
    "logspace": lambda T, out: T.logspace(0, 1, 5, out=out),
}


@pytest.mark.parametrize("name", CREATED)
@pytest.mark.parametrize("shape", [(0,), (2, 3)])
def test_what_is_created_goes_into_a_tensor_that_is_there(T: Any, name: str, shape: tuple[int, ...]) -> None:
    out = T.empty(shape, dtype=T.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert CREATED[name](T, out) is out
    assert out.dtype is T.float64
    plain = CREATED[name](T, None).double()
    if name in ("arange", "linspace") and shape == (2, 3):
        plain = plain.reshape(2, 3)
    assert out.shape == plain.shape
    assert out.flatten().tolist() == pytest.approx(plain.flatten().tolist(), rel=1e-6)


def test_drawn_numbers_go_into_a_tensor_that_is_there(T: Any) -> None:
    out = T.empty(0)
    for call, shape in (
        (lambda: T.rand(4, out=out), (4,)),
        (lambda: T.randn(3, 2, out=out), (3, 2)),
        (lambda: T.randint(5, (2,), out=out), (2,)),
        (lambda: T.randperm(4, out=out), (4,)),
        (lambda: T.normal(0.0, 1.0, (5,), out=out), (5,)),
    ):
        assert call() is out
        assert tuple(out.shape) == shape
    assert T.zeros(2, out=out, requires_grad=True) is out
    assert out.requires_grad


def test_what_an_out_of_created_numbers_may_not_be(T: Any) -> None:
    assert _told(lambda: T.zeros(2, out=3)) == "TypeError: zeros(): argument 'out' must be Tensor, not int"
    told = _told(lambda: T.eye(2, out=T.ones(3), dtype=T.float64))
    assert told == "RuntimeError: dtype Double does not match dtype of out parameter (Float)"
    told = _told(lambda: T.zeros(2, out=T.ones(2, requires_grad=True)))
    assert told.removeprefix("RuntimeError: aten::").removeprefix("RuntimeError: ") == (
        "zeros(): functions with out=... arguments don't support automatic differentiation, but one of the "
        "arguments requires grad."
    )


def test_several_results_go_into_as_many_tensors(T: Any) -> None:
    x = T.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    values, indices = T.empty(0), T.empty(0, dtype=T.int64)
    for call in (
        lambda out: T.sort(x, dim=1, out=out),
        lambda out: T.topk(x, 2, out=out),
        lambda out: T.max(x, dim=0, out=out),
        lambda out: T.median(x, dim=1, out=out),
        lambda out: T.cummax(x, dim=1, out=out),
        lambda out: T.kthvalue(x, 2, out=out),
        lambda out: T.mode(x, out=out),
    ):
        values.resize_(0), indices.resize_(0)
        got, plain = call((values, indices)), call(None)
        assert got[0] is values
        assert got.indices is indices
        assert [t.tolist() for t in (values, indices)] == [t.tolist() for t in plain]
    told = _told(lambda: T.topk(x, 2, out=values))
    assert told == "TypeError: topk(): argument 'out' must be tuple of Tensors, not Tensor"
    told = _told(lambda: T.add(x, x, out=T.empty(0, dtype=T.int64)))
    assert told == "RuntimeError: result type Float can't be cast to the desired output type Long"


def test_joined_tensors_go_into_a_buffer(T: Any) -> None:
    x, buffer = T.tensor([1.0, 2.0]), T.empty(4)
    for call in (lambda: T.cat([x, x], out=buffer), lambda: T.hstack((x, 2 * x), out=buffer)):
        assert call() is buffer
    assert buffer.tolist() == [1, 2, 2, 4]
    x.requires_grad_()
    assert "don't support automatic differentiation" in _told(lambda: T.cat([x, x], out=buffer))
