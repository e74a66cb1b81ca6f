"""Which ways of writing a step are planned from the 4th on? Counted in a `local:` session, not timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd

from .bench import Bench, Row, main
from .models import mlp
from .training import cross_entropy
from .where import plan_counts


def _sgd() -> tuple[Any, Any, Any]:
    gradd.manual_seed(0)
    model = mlp(gradd)
    return model, gradd.optim.SGD(model.parameters(), lr=0.01), gradd.randn(100, 784)


def _steps(steps: int, **how: Any) -> Callable[[], None]:
    """So many steps, written in one of the ways."""

    def run() -> None:
        model, optimizer, x = _sgd()
        y = gradd.randint(0, 10, (100,))
        scheduler = gradd.optim.lr_scheduler.StepLR(optimizer, 3) if how.get("schedule") else None
        for n in range(steps):
            start = (n * 8) % 96 if how.get("slicing") or how.get("short") else 0
            rows = slice(start, 100 if how.get("short") and start == 88 else start + 8)
            optimizer.zero_grad()
            loss = cross_entropy(gradd, model(x[rows]), y[rows])
            if how.get("between"):
                loss.item()
            loss.backward()
            if how.get("by_hand"):
                with gradd.no_grad():
                    for w in model.parameters():
                        w -= 0.01 * w.grad
                loss.item()
            else:
                optimizer.step()
            if scheduler is not None:
                scheduler.step()
            if how.get("print7") and n % 7 == 6:
                loss.item()
            if how.get("evaluate") and n % 5 == 4:
                with gradd.no_grad():
                    (model(x).argmax(1) == y).float().mean().item()

    return run


WAYS = {
    "item between": "between", "slicing X[i:i+n]": "slicing", "hand-written w -= lr * w.grad": "by_hand",
    "lr schedule": "schedule", "print every 7th": "print7", "evaluation every 5th": "evaluate",
    "last short batch": "short",
}  # fmt: skip


def question(bench: Bench) -> list[Row]:
    """Batches that run planned of those after the third step, and the share that has to."""
    few, many = bench.pick(20, 20, 4), bench.pick(60, 60, 8)
    rows = []
    for way, flag in WAYS.items():
        counts = []
        for steps in (few, many):
            with gradd.connect("local:") as session:
                _steps(steps, **{flag: True})()
                counts.append(plan_counts(session))
        planned, eager = (counts[1][k] - counts[0][k] for k in ("planned", "eager"))
        share = planned / max(1, planned + eager)
        rows.append(
            Row(
                work=f"plan hits in a settled loop: {way}", value=share, bar=1.0, at_least=True,
                mine=f"{planned} of {planned + eager} batches",
            )
        )  # fmt: skip
    return rows


if __name__ == "__main__":
    main(question)
