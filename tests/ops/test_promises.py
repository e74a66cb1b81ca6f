"""What promises not to raise does not, whatever the values: eagerly and in a plan."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gradd_engine.schema.op import Op
from gradd_engine.schema.registry import REGISTRY

from tests.ops.promises import Call, broken, calls, promising


@pytest.fixture(scope="module")
def known() -> dict[Op, list[Call]]:
    """Calls of each kernel."""
    return calls()


def test_there_is_a_call_of_each_op_that_promises(known: dict[Op, list[Call]]) -> None:
    promises = promising()
    assert len(promises) > 200
    assert [op.name for op in promises if not known.get(op)] == []


def test_no_value_makes_an_op_raise_that_promises_not_to(known: dict[Op, list[Call]]) -> None:
    found = [line for op in promising() for call in known[op] for line in broken(op, call)]
    assert found == []


@pytest.mark.parametrize(
    "name", ["binary_cross_entropy", "nll_loss_flat", "index_select", "floor_divide", "embedding"]
)
def test_a_false_promise_is_found(
    monkeypatch: pytest.MonkeyPatch, known: dict[Op, list[Call]], name: str
) -> None:
    op = REGISTRY[name]
    monkeypatch.setattr(op, "effects", replace(op.effects, raises=False))
    assert any(list(broken(op, call)) for call in known[op])


def test_nothing_is_promised_that_is_not_said() -> None:
    assert REGISTRY["index"].effects.raises is True
    assert REGISTRY["div_"].effects.raises == REGISTRY["div"].effects.raises == "not of floats"
    assert REGISTRY["exp_"].effects.raises is False
