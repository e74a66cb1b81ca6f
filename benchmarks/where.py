"""Where a step's time goes: the same steps in a `local:` session, with the planned kernels timed by name."""

from __future__ import annotations

import cProfile
import pstats
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gradd
from gradd._transports import local
from gradd_runtime.plan import lower
from gradd_runtime.session import Session


class Spent:
    """CPU seconds of the engine's thread: by kernel name, and in all."""

    def __init__(self) -> None:
        self.kernels: Counter[str] = Counter()
        self.session = 0.0


@contextmanager
def _watched() -> Iterator[Spent]:
    spent = Spent()
    lowering: Any = lower.Lowering
    session: Any = Session
    kernel_of, answer = lowering._kernel, session.answer

    def timed_kernel(self: Any, instruction: Any) -> Callable[[Any], None]:
        run, name = kernel_of(self, instruction), instruction.op.name

        def kernel(frame: Any) -> None:
            began = time.thread_time()
            run(frame)
            spent.kernels[name] += time.thread_time() - began

        return kernel

    def timed_answer(self: Any, frame: Any) -> Any:
        began = time.thread_time()
        try:
            return answer(self, frame)
        finally:
            spent.session += time.thread_time() - began

    lowering._kernel, session.answer = timed_kernel, timed_answer
    try:
        yield spent
    finally:
        lowering._kernel, session.answer = kernel_of, answer


def plan_counts(session: gradd.Session) -> dict[str, int]:
    """What the plans of a `local:` session counted: batches planned and eager, programs traced."""
    session.flush()
    return dict(local._inline()._sessions[session.name].session.plans.counts)


def where(make: Callable[[], Callable[[], Any]], steps: int, calls: int) -> str:
    """Of `calls` calls of what `make` makes, `steps` steps each, µs a step in the script, in the session
    outside kernels, and in the kernels that take most."""
    with _watched() as spent, gradd.connect("local:") as session:
        work = make()
        for _ in range(3):
            work()
        session.flush()
        before = plan_counts(session)
        spent.kernels.clear()
        spent.session, script = 0.0, time.thread_time()
        for _ in range(calls):
            work()
        script = time.thread_time() - script
        after = plan_counts(session)
        us = 1e6 / (steps * calls)
        kernels = spent.kernels.total()
        top = ", ".join(f"{name} {us * seconds:.0f}" for name, seconds in spent.kernels.most_common(6))
        planned, eager = (after[k] - before[k] for k in ("planned", "eager"))
        outside = us * (spent.session - kernels)
    return (
        f"µs a step: script {us * script:.0f}, session outside planned kernels {outside:.0f}, "
        f"kernels {us * kernels:.0f}{f' ({top})' if top else ''}; {planned} batches planned, {eager} eager."
    )


def functions(call: Callable[[], Any], steps: int) -> str:
    """The Python functions that take most of a call of `steps` steps, by their own time under cProfile."""
    profile = cProfile.Profile()
    profile.runcall(call)
    stats: Any = pstats.Stats(profile)
    total = stats.total_tt
    rows = sorted(((own, calls, *at) for at, (_, calls, own, _, _) in stats.stats.items()), reverse=True)[:8]
    named = ", ".join(
        f"{Path(file).name}:{name} {own / total:.0%} ({calls / steps:.0f} calls)"
        for own, calls, file, _, name in rows
    )
    return f"Under cProfile, of a step's {stats.total_calls / steps:.0f} Python calls: {named}."
