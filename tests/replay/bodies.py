"""Replays bodies in bulk: all of one sample in one session."""

from __future__ import annotations

import random
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import gradd
import numpy as np

from .cuts import Cuts, cutting
from .shadow import Shadows, shadowing

REPEATS = 4


class Body(Protocol):
    """What is replayed: inputs that can be made anew or kept, and what is done with them."""

    @property
    def told(self) -> bool: ...
    @property
    def writes(self) -> bool: ...
    def at(self, n: int) -> Body: ...
    def inputs(self) -> list[Any]: ...
    def run(self, tensors: list[Any]) -> list[Any]: ...


class Replayer:
    """Replays bodies and counts. Use as a context manager."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []
        self._stack = ExitStack()
        self.cuts: Cuts
        self.shadows: Shadows

    def __enter__(self) -> Replayer:
        self._stack.enter_context(np.errstate(all="ignore"))
        self._stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        self.cuts = self._stack.enter_context(cutting())
        self.shadows = self._stack.enter_context(shadowing())
        return self

    def __exit__(self, *exc: Any) -> None:
        self.counts["cuts"], self.counts["reads"] = self.cuts.cut, self.cuts.read
        self._stack.close()

    def replay(self, bodies: Sequence[Body], seeds: Sequence[int]) -> None:
        """Replay these bodies for each seed, in a session for each."""
        wanted: dict[str, Any] = {}
        for seed in seeds:
            self.shadows.first_eager = seed % 2 == 0
            with gradd.connect("local:") as session:
                twin = self.shadows.twins[session.name]
                for body in bodies:
                    turns = [body.at(n) for n in range(REPEATS)]
                    if str(turns[0]) not in wanted:
                        twin.planned.plans.enabled = False
                        for name, turn in {str(turn): turn for turn in turns}.items():
                            wanted[name] = outcome(turn, session, turn.inputs)
                        twin.planned.plans.enabled = True
                        self.counts["tests"] += 1
                    wrong = self._replay(turns, seed, session, [wanted[str(turn)] for turn in turns])
                    if wrong:
                        self.failures.append(wrong)
            self.counts.update(self.shadows.take_counts())

    def _replay(self, turns: list[Body], seed: int, session: Any, wanted: list[Any]) -> str:
        """All repetitions for one seed; what is wrong with the first that differs."""
        twin, name = self.shadows.twins[session.name], f"{turns[0]}/{seed}"
        choice = random.Random(name)
        keeps_inputs = len(set(map(str, turns))) == 1 and choice.random() < 0.4
        keeps_outputs = choice.random() < 0.3
        inputs = turns[0].inputs() if keeps_inputs else None
        kept: list[Any] = []
        self.counts["replays"] += 1
        for n, body in enumerate(turns):
            self.cuts.begin(name)
            for t in inputs or ():
                t.grad = None
            made = body.inputs if inputs is None else lambda: inputs
            found = outcome(body, session, made, kept, self.cuts)
            if not keeps_outputs:
                kept.clear()
            self.counts["repetitions"] += 1
            self.counts["steps"] += self.cuts.steps
            self.shadows.settle()
            twin.compare(deep=n == REPEATS - 1)
            wrong = self.shadows.mismatches()
            if body.told and not (inputs and body.writes):
                wrong += differences(wanted[n], found)
            if wrong:
                where = " ".join(self.cuts.points) or "nowhere"
                told = "\n  ".join(w[:1000] for w in wrong)
                again = f"python -m tests.replay --body '{body}' --seeds {seed}"
                return f"{name}: repetition {n}, cut after steps {where}\n  {told}\n  again: {again}"
        return ""


def outcome(
    body: Body,
    session: Any,
    inputs: Callable[[], Any],
    kept: list[Any] | None = None,
    cuts: Cuts | None = None,
) -> list[Any]:
    """What came of a body, as arrays; or what it raised, and what it left."""
    try:
        try:
            gradd.manual_seed(7)
            found = body.run(inputs())
            if kept is not None:
                kept.append(found)
        finally:
            if cuts is not None:
                cuts.end()
        tensors = [t for t in found if isinstance(t, gradd.Tensor)]
        session.recorder().flush(tensors)
        return [_told(session, t) for t in found]
    except Exception as error:
        if isinstance(error, AssertionError) and _of_the_body(error):
            return [f"{error!r} (number {random.random()})"]  # never what is wanted
        error.__traceback__ = None
        try:
            session.flush()
        except Exception as second:
            return ["raises", type(second).__name__, str(second)]
        return ["raises", type(error).__name__, str(error)]


def _of_the_body(error: AssertionError) -> bool:
    """Whether a body asserted; else it was refused, as attention refuses in PyTorch."""
    *_, (last, _) = traceback.walk_tb(error.__traceback__)
    return Path(last.f_code.co_filename).parent == Path(__file__).parent


def _told(session: Any, x: Any) -> Any:
    if not isinstance(x, gradd.Tensor):
        return repr(x)
    flags = (tuple(x.shape), tuple(x.stride()), str(x.dtype), x.requires_grad, x._version)
    return flags, session.read(x).tobytes()


def differences(wanted: list[Any], found: list[Any]) -> Iterator[str]:
    """How this repetition differs from the body run once, uncut and unplanned."""
    if wanted == found:
        return
    for k, (a, b) in enumerate(zip(wanted, found, strict=False)):
        if a != b:
            yield f"result {k} is {_short(b)}, uncut {_short(a)}"
            return
    yield f"{len(found)} results, uncut {len(wanted)}: {found[:3]} and {wanted[:3]}"


def _short(told: Any) -> str:
    if isinstance(told, tuple):
        (_, _, dtype, *_), data = told
        values = np.frombuffer(data, getattr(gradd, dtype.rpartition(".")[2]).np)
        return f"{told[0]} {values[:12]}"
    return str(told)
