"""Switches of PyTorch for TF32 reach products on a device, and change nothing on a CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest

from tests.standin.sessions import sessions_there

#: it has no number in TF32
FINE = 1 + 2.0**-12
matmul = gradd.backends.cuda.matmul


@pytest.fixture(autouse=True)
def switched_back() -> Iterator[None]:
    yield
    matmul.fp32_precision = "none"


@pytest.fixture
def there() -> Iterator[Any]:
    with sessions_there() as placement, gradd.connect("local:") as session:
        yield placement._sessions[session.name].session


def _product() -> Any:
    return gradd.full((2, 2), FINE) @ gradd.eye(2)


def test_products_are_computed_as_the_switches_say(there: Any) -> None:
    switches: list[tuple[Callable[[], object], bool]] = [
        (lambda: None, False),
        (lambda: gradd.set_float32_matmul_precision("high"), True),
        (lambda: gradd.set_float32_matmul_precision("highest"), False),
        (lambda: gradd.set_float32_matmul_precision("medium"), True),
        (lambda: setattr(matmul, "allow_tf32", False), False),
        (lambda: setattr(matmul, "allow_tf32", True), True),
        (lambda: setattr(matmul, "fp32_precision", "ieee"), False),
        (lambda: setattr(matmul, "fp32_precision", "tf32"), True),
    ]
    for switch, rounded in switches:
        before = _product()  # not yet sent
        was = matmul.allow_tf32
        switch()
        assert before[0, 0].item() == (1.0 if was else FINE)
        assert _product()[0, 0].item() == (1.0 if rounded else FINE)
        assert matmul.allow_tf32 is rounded
        assert (_product().double()[0, 0] == FINE).item() is not rounded


def test_float64_is_never_rounded(there: Any) -> None:
    matmul.allow_tf32 = True
    assert (gradd.full((2, 2), FINE).double() @ gradd.eye(2).double())[0, 0].item() == FINE


def test_a_plan_is_for_one_precision(there: Any) -> None:
    w: Any = gradd.full((2, 2), FINE, requires_grad=True)
    x: Any = gradd.eye(2)
    y = gradd.full((2, 1), FINE)

    def step() -> Any:
        w.grad = None
        found = x @ w
        (found @ y).sum().backward()
        return found.detach()

    for rounds in range(3):
        for allowed in (False, True):
            matmul.allow_tf32 = allowed
            for _ in range(4):
                before = there.plans.counts["planned"]
                want = 1.0 if allowed else FINE
                assert step()[0, 0].item() == want
                # both products of the backward pass are rounded as well
                assert w.grad[0, 0].item() == want
            assert there.plans.counts["planned"] > before
            assert rounds == 0 or there.plans.counts["traced"] > 0


def test_a_traced_function_is_for_one_precision(there: Any) -> None:
    w, x = gradd.full((2, 2), FINE), gradd.eye(2)

    @gradd.function
    def product(x: Any) -> Any:
        return x @ w

    for _ in range(3):
        for allowed in (False, True):
            matmul.allow_tf32 = allowed
            for _ in range(3):
                assert product(x)[0, 0].item() == (1.0 if allowed else FINE)


def test_other_products_follow_the_switch(there: Any) -> None:
    x, w = gradd.full((1, 2), FINE), gradd.eye(2)
    many, bias = x.expand(3, 1, 2), gradd.zeros(2)
    calls: list[Callable[[], Any]] = [
        lambda: gradd.addmm(bias, x, w), lambda: gradd.nn.functional.linear(x, w, bias),
        lambda: gradd.bmm(many, w.expand(3, 2, 2)), lambda: gradd.mv(w, x[0]),
        lambda: gradd.einsum("bij,jk->bik", many, w), lambda: gradd.addmv(bias, w, x[0]),
        lambda: gradd.baddbmm(bias, many, w.expand(3, 2, 2)),
    ]  # fmt: skip
    for allowed in (False, True):
        matmul.allow_tf32 = allowed
        for call in calls:
            assert call().flatten()[0].item() == (1.0 if allowed else FINE)


def test_nothing_changes_on_a_cpu() -> None:
    with gradd.connect("local:"):
        x = gradd.randn(9, 9)
        before = (x @ x).tolist()
        gradd.set_float32_matmul_precision("high")
        assert (x @ x).tolist() == before
        assert _product()[0, 0].item() == FINE
