"""What promises not to raise does not, whatever the values: eagerly and in a plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from gradd_engine.schema.op import Op
from gradd_engine.schema.registry import REGISTRY

from tests.ops.promises import Call, broken, calls, promising


@pytest.fixture(scope="module")
def views() -> dict[Op, list[Call]]:
    """Calls of each view: filled while `known` is."""
    return {op: [] for op in REGISTRY.values() if op.view}


@pytest.fixture(scope="module")
def known(views: dict[Op, list[Call]]) -> dict[Op, list[Call]]:
    """Calls of each kernel."""
    with pytest.MonkeyPatch.context() as patch:
        for op, seen in views.items():
            patch.setattr(op, "infer", _told(op.infer, seen))
            op.caches.known.clear()
            if op.caches.inferred is not None:
                op.caches.inferred.clear()
        return calls()


def _told(infer: Any, seen: list[Call]) -> Any:
    def told(*inputs: Any, **attrs: Any) -> Any:
        seen.append((inputs, attrs))
        return infer(*inputs, **attrs)

    return told


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


def _absolute(op: Op, call: Call) -> bool:
    """Whether a view of the same tensor further on in its memory is not the same view further on."""
    (x, *others), attrs = call
    assert op.infer is not None
    begin = x.offset
    found = []
    for x.offset in (begin + 8, begin):
        metas = op.infer(x, *others, **attrs)
        found.append(metas if op.many else [metas])
    return any(
        (a.offset - b.offset, a.shape, a.strides, a.dtype) != (8, b.shape, b.strides, x.dtype)
        for a, b in zip(*found, strict=True)
    )


def test_a_view_counts_from_its_input_where_it_says_so(
    known: dict[Op, list[Call]], views: dict[Op, list[Call]]
) -> None:
    promising = {op: some for op, some in views.items() if op.effects.relative}
    assert known
    assert len([op for op, some in promising.items() if some]) > 18
    assert [op.name for op, some in promising.items() if any(_absolute(op, call) for call in some)] == []


def test_a_view_that_counts_from_where_its_memory_begins_is_found(
    known: dict[Op, list[Call]], views: dict[Op, list[Call]]
) -> None:
    assert known
    for name in ("as_strided", "real_parts", "complex_pairs"):
        op = REGISTRY[name]
        assert not op.effects.relative
        assert any(_absolute(op, call) for call in views[op]), name
