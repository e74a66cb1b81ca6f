"""Random programs of small element-wise ops, and what they give with sweeps, without them and eagerly."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from gradd_protocol.program import GradOf, Step, Value
from gradd_protocol.values import encode_scalars
from gradd_runtime.plan import replay
from gradd_runtime.plan.learn import SweepRows
from gradd_runtime.plan.sweep import Sweep
from gradd_runtime.session import Session

from tests.runtime.peer import Peer

ROUNDS = 5
FLOATS = ("float32", "float64", "float32", "float64", "float16")
UNARY = (
    "neg", "abs", "exp", "log", "sin", "cos", "tan", "tanh", "sqrt", "rsqrt", "square", "reciprocal",
    "sigmoid",
    "sign", "floor", "ceil", "round", "trunc", "exp2", "expm1", "log1p", "log2", "log10", "atan", "asin",
    "sinh", "relu", "softplus", "sgn", "frac", "deg2rad", "erf", "cos", "exp", "sqrt", "tanh",
)  # fmt: skip
BINARY = (
    "add", "sub", "mul", "div", "maximum", "minimum", "pow", "atan2", "hypot", "fmod", "remainder",
    "add", "mul", "sub", "rsub", "copysign", "logaddexp", "fmax", "fmin", "tanh_backward",
    "sigmoid_backward", "floor_divide", "add", "mul", "sub", "div", "maximum",
)  # fmt: skip
#: dtypes of a program's inputs
KINDS = (
    ("float32",), ("float32",), ("float64",), ("float32", "float64"), FLOATS, ("float32", "int64", "bool"),
    ("int64", "int32"), ("complex64",), ("float16",),
)  # fmt: skip
#: what gives or takes truth
TRUTH = (
    "lt", "le", "gt", "ge", "eq", "ne", "logical_and", "logical_or", "logical_xor", "isnan", "isfinite",
    "logical_not",
)  # fmt: skip
WHOLE = ("bitwise_and", "bitwise_or", "bitwise_xor", "add", "mul", "sub", "eq", "lt", "maximum", "div", "pow",
         "floor_divide")  # fmt: skip
IN_PLACE = ("add_", "mul_", "sub_", "neg_", "exp_", "tanh_")
SPECIAL = (float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1e-310, 1e-40, -1e-45, 1e30, 65504.0)


@dataclass
class Case:
    """One program, and what its rounds are given."""

    steps: list[Step]
    #: of each input: its data round by round
    inputs: list[list[Any]]
    leaves: list[bool]
    values: list[list[Any]]
    fetch: list[int]


@dataclass
class Outcome:
    """What the rounds of a program answered, and its sweeps."""

    told: list[Any] = field(default_factory=list)
    sweeps: list[Sweep] = field(default_factory=list)
    planned: int = 0

    @property
    def swept(self) -> int:
        """How many kernels run in sweeps."""
        return sum(s.end - s.first for s in self.sweeps)


def _data(rng: random.Random, shape: tuple[int, ...], dtype: str) -> Any:
    noise = np.random.default_rng(rng.randrange(1 << 30))
    if dtype == "bool":
        return noise.random(shape) < 0.5
    if dtype.startswith(("int", "uint")):
        return noise.integers(0 if dtype[0] == "u" else -3, 4, shape).astype(dtype)
    with np.errstate(all="ignore"):
        a = np.asarray(noise.standard_normal(shape) * rng.choice((1, 1, 100)))
        for _ in range(rng.choice((0, 0, 1, 3))):
            if a.size:
                a.reshape(-1)[rng.randrange(a.size)] = rng.choice(SPECIAL)
        return a.astype(dtype)


def _number(rng: random.Random, kind: str) -> Any:
    if kind == "int":
        return rng.choice((0, 1, 2, 3, -1, 7))
    return rng.choice((0.5, 2.0, -1.5, 1.0, rng.random(), rng.choice(SPECIAL)))


def case(seed: int) -> Case:
    """The program of a seed. What fails in its first round is replaced; what fails later stays."""
    made = _case(seed)
    for _ in range(2 * len(made.steps)):
        peer = Peer()
        names = [f"i{k}" for k in range(len(made.inputs))]
        for name, data, leaf in zip(names, made.inputs, made.leaves, strict=True):
            peer.put(name, data[0], requires_grad=leaf)
        reply = peer.batch(*made.steps, inputs=names, values=encode_scalars(made.values[0]))
        if reply.problem is None:
            break
        at = reply.problem.step
        old = made.steps[at]
        # Where the step had numbers they go with it.
        begin = sum(len([*s.values()]) for s in made.steps[:at])
        for values in made.values:
            del values[begin : begin + len([*old.values()])]
        made.steps[at : at + 1] = [Step("exp", [0], grad=old.grad)] if old.outputs else []
    return made


def _case(seed: int) -> Case:
    rng = random.Random(seed)
    shape = rng.choice(((4,), (4,), (3, 5), (1,), (), (2, 3, 4), (7,), (512,), (1, 1), (5, 1), (33, 31)))
    kinds = rng.choice(KINDS)
    shapes = [shape, shape, shape, (), (1,), shape[-1:], (1,) * len(shape)]
    if len(shape) == 2:
        shapes += [(shape[0], 1), (1, shape[1])]
    shapes = shapes if rng.random() < 0.6 else [shape]
    inputs, leaves = [], []
    for k in range(rng.randrange(1, 4)):
        dtype, of = rng.choice(kinds), shape if k == 0 else rng.choice(shapes)
        complex_ = dtype == "complex64"
        data = [_data(rng, of, "float32" if complex_ else dtype) for _ in range(ROUNDS)]
        inputs.append([(a * (1 + 0.5j)).astype(dtype) if complex_ else a for a in data])
        leaves.append(dtype[0] == "f" and rng.random() < 0.3)
    slots = len(inputs)
    steps: list[Step] = []
    numbers: list[str] = []

    def step(op: str, args: list[Any], **attrs: Any) -> None:
        nonlocal slots
        for a in args:
            if isinstance(a, Value):
                numbers.append(a.kind)
        steps.append(Step(op, args, attrs, grad=any(leaves)))
        slots += 1

    def slot() -> int:
        # Mostly what was made last, so that chains come about.
        return slots - 1 if rng.random() < 0.65 else rng.randrange(slots)

    whole = kinds[0].startswith("int")
    for _ in range(rng.choice((6, 10, 20, 40))):
        draw = rng.random()
        if draw < 0.3:
            kind = "int" if whole or rng.random() < 0.1 else "float"
            step(rng.choice(("add", "mul", "sub", "mul", "div", "rsub", "maximum")[: 4 if whole else 6]),
                 [slot(), Value(kind)])  # fmt: skip
        elif draw < 0.62:
            step(rng.choice(WHOLE if whole else BINARY), [slot(), slot()])
        elif draw < 0.9 and not whole:
            step(rng.choice(UNARY), [slot()])
        elif draw < 0.91:
            op = rng.choice(TRUTH)
            step(op, [slot()] if op in TRUTH[-3:] else [slot(), slot()])
            # Most of what follows does not take truth as it is.
            step("mul", [slots - 1, 0])
        elif draw < 0.93:
            step(rng.choice(IN_PLACE[:2]), [slot(), slot()])
        elif draw < 0.95:
            step(rng.choice(IN_PLACE[3:]), [slot()])
        elif draw < 0.97:
            step("unsqueeze", [slot()], dim=rng.choice((0, -1)))
        else:
            step("flip", [slot()], dims=[-1])
    if any(leaves) and rng.random() < 0.8:
        step("sum", [slots - 1])
        steps.append(Step("backward", [[slots - 1]], outputs=0))
        step("mul", [GradOf(leaves.index(True)), Value("float")])
    fetch = sorted({slots - 1, *(rng.randrange(slots) for _ in range(rng.choice((0, 1, 3))))})
    values = [[_number(rng, kind) for kind in numbers]]
    for _ in range(ROUNDS - 1):
        again = rng.random() < 0.3
        values.append([*values[-1]] if again else [_number(rng, kind) for kind in numbers])
    return Case(steps, inputs, leaves, values, fetch)


@contextmanager
def watching(found: list[Sweep], on: bool) -> Iterator[None]:
    """Plans make sweeps, which are noted, or none."""
    real = replay.learn

    def learn(*args: Any) -> list[Sweep]:
        made = real(*args) if on else []
        found.extend(made)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay, "learn", learn)
        if not on:
            patch.setattr(replay, "in_rows", lambda *args: SweepRows(set(), set()))
        yield


def play(c: Case, *, planned: bool, on: bool) -> Outcome:
    """Run the rounds in a session of their own."""
    outcome = Outcome()
    session = Session("sweeps")
    session.plans.enabled, session.plans.first_eager = planned, False
    peer = Peer(session)
    names = [f"i{k}" for k in range(len(c.inputs))]
    with watching(outcome.sweeps, on):
        for n in range(ROUNDS):
            for name, data, leaf in zip(names, c.inputs, c.leaves, strict=True):
                # New values in one round, and in another the tensors of the one before.
                if n % 2 == 0 or n == ROUNDS - 1:
                    peer.put(name, data[n], requires_grad=leaf)
            more = {"inputs": names, "values": encode_scalars(c.values[n]), "fetch": c.fetch}
            reply = peer.batch(*c.steps, **more)
            problem = reply.problem and (reply.problem.slug, reply.problem.detail)
            arrays = [(a.dtype, a.shape, a.tobytes()) for a in peer.arrays]
            outcome.told.append((reply.applied, problem, arrays))
    outcome.planned = session.plans.counts["planned"]
    return outcome


def differs(c: Case) -> tuple[str, Outcome]:
    """What differs between the three ways to run a program; nothing if none does."""
    eager = play(c, planned=False, on=False)
    plain = play(c, planned=True, on=False)
    swept = play(c, planned=True, on=True)
    for name, found in (("without sweeps", plain), ("with sweeps", swept)):
        for n, (a, b) in enumerate(zip(eager.told, found.told, strict=True)):
            if a != b:
                return f"round {n} {name}: {b} where eagerly {a}"[:2000], swept
    if swept.planned != plain.planned:
        return f"{swept.planned} of {plain.planned} batches are planned with sweeps", swept
    return "", swept
