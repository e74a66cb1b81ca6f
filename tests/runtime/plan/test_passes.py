"""What the passes over a trace leave out, and what they must not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import gradd
import pytest
from gradd._transports import local


def planned(script: Callable[[], Any]) -> Counter[str]:
    """The calls of a script's plan, by name."""
    with gradd.connect("local:") as session:
        for _ in range(3):
            script()
            session.flush()
        plans = local._inline()._sessions[session.name].session.plans
        made = [plan for found in plans._known.values() if isinstance(found, list) for plan in found]
        return Counter(call.name for call in made[-1 if len(made[-1]._steps) else -2]._steps)


def test_what_is_computed_twice_is_computed_once() -> None:
    x: list[Any] = []

    def script() -> None:
        x[:] = x or [gradd.ones(3)]
        (x[0].exp().neg() + x[0].exp().neg()).tolist()

    calls = planned(script)
    assert (calls["exp"], calls["neg"], calls["add"]) == (1, 1, 1)


def test_what_nobody_looks_at_is_not_computed() -> None:
    def script() -> None:
        x = gradd.ones(3)
        x.exp().sum()
        y = gradd.zeros(3)
        y.add_(x)
        del y
        (x * 2).tolist()

    calls = planned(script)
    assert calls == Counter({"ones": 1, "mul": 1})


@pytest.mark.parametrize("between", ["draw", "raise", "write"])
def test_what_has_an_effect_stays(between: str) -> None:
    held: list[Any] = []

    def script() -> None:
        held[:] = held or [gradd.ones(3), gradd.tensor([1])]
        x, index = held
        a = x.exp().neg()
        if between == "draw":
            gradd.rand(3)
        elif between == "raise":
            x.index_select(0, index)
        else:
            x.add_(1)
        b = x.exp().neg()
        (a + b).tolist()

    calls = planned(script)
    expected = {"draw": ("rand", 1), "raise": ("index_select", 1), "write": ("exp", 2)}[between]
    assert calls[expected[0]] == expected[1]
    assert calls["exp"] == (2 if between == "write" else 1)


def test_results_that_both_live_on_have_memory_of_their_own() -> None:
    with gradd.connect("local:") as session:
        x = gradd.ones(3)
        for _ in range(4):
            a, b = x.exp(), x.exp()
            session.flush()
            a.add_(1)
            assert (a - b).tolist() == [1.0] * 3
