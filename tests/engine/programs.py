"""Random programs: views, in-place changes, gradient modes, hooks, retained and created graphs."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from gradd_engine import backward as api
from gradd_engine import ops
from gradd_engine.backends.array import NUMPY
from gradd_engine.declare.surface import functions
from gradd_engine.graph import modes
from gradd_engine.tensor.tensor import Tensor

assert ops.__all__, "importing the families declares them"

PUBLIC = functions()
SHAPES = [(), (3,), (2, 3), (3, 3), (3, 1), (2, 3, 2)]

Statement = Callable[["Side"], Any]


class Side:
    """The tensors of a program on one engine, and that engine's functions: here gradd's."""

    kind: type = Tensor
    autograd: Any = api

    def __init__(self) -> None:
        self.pool: list[Any] = []
        self.seen: list[Any] = []
        #: a pass was recorded: which nodes backward rules are made of is nobody's promise
        self.created = False

    def function(self, name: str) -> Callable[..., Any]:
        return PUBLIC["", name]

    def leaf(self, values: Any, grad: bool) -> Any:
        t = NUMPY.from_array(values.copy())
        t.requires_grad = grad
        return t

    def no_grad(self) -> Any:
        return modes.no_grad()

    def watch(self, g: Any) -> None:
        self.seen.append(values(g))

    def run(self, statement: Statement) -> Any:
        """How many tensors came out, which join the pool; or the exception."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = statement(self)
        except Exception as error:
            return error
        new = [
            t for t in (found if isinstance(found, (tuple, list)) else [found]) if isinstance(t, self.kind)
        ]
        self.pool.extend(t for t in new if not any(t is p for p in self.pool))
        return len(new)


def values(t: Any) -> Any:
    """A copy of a tensor's elements."""
    return np.array(t.array if isinstance(t, Tensor) else t.detach().numpy())


def halve(g: Any) -> Any:
    """A hook."""
    return g * 0.5


UNARY: list[Callable[[Any], Any]] = [
    lambda x: x.sin(),
    lambda x: x.tanh(),
    lambda x: x.sigmoid(),
    lambda x: x.tanh().exp(),
    lambda x: -x,
    lambda x: x.abs(),
    lambda x: x.relu(),
    lambda x: x * 0.5,
    lambda x: 2 - x,
    lambda x: x**2,
    lambda x: x.clamp(-0.5, 0.5),
    lambda x: x.clone(),
    lambda x: x.detach(),
    lambda x: x.sum(),
    lambda x: x.mean(),
    lambda x: x.sum(0),
    lambda x: x.mean(-1, keepdim=True),
    lambda x: x.cumsum(0),
    lambda x: x.amax(-1),
    lambda x: x.contiguous(),
    lambda x: x.softmax(-1),
    lambda x: x.norm(),
]
VIEWS: list[Callable[[Any], Any]] = [
    lambda x: x.view(-1),
    lambda x: x.reshape(-1),
    lambda x: x.transpose(0, -1),
    lambda x: x.unsqueeze(0),
    lambda x: x.squeeze(),
    lambda x: x[0],
    lambda x: x[..., 1:],
    lambda x: x[..., ::2],
    lambda x: x[None, ..., -1],
    lambda x: x.expand(2, *x.shape),
    lambda x: x.diagonal(),
    lambda x: x.narrow(0, 0, 2),
    lambda x: x.select(-1, 1),
    lambda x: x.unbind(0),
    lambda x: x.split(2),
    lambda x: x.chunk(2, -1),
    lambda x: x.view(x.shape),
    lambda x: x.T if x.ndim == 2 else x.flatten(),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / (y * y + 1),
    lambda x, y: x.maximum(y),
    lambda x, y: (x @ y) * 1.0,
    lambda x, y: x.where(y > 0, y),
    lambda x, y: x.lerp(y, 0.25),
]
CHANGES: list[Callable[[Any], Any]] = [
    lambda x: x.mul_(0.5),
    lambda x: x.add_(1),
    lambda x: x.sin_(),
    lambda x: x.tanh_(),
    lambda x: x.sigmoid_(),
    lambda x: x.relu_(),
    lambda x: x.zero_(),
    lambda x: x.fill_(0.3),
    lambda x: x.clamp_(-0.5, 0.5),
    lambda x: x.neg_(),
    lambda x: x.pow_(2),
    lambda x: x.__setitem__(0, 0.25),
    lambda x: x.__setitem__(..., 0.5),
]
WRITES: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x.add_(y),
    lambda x, y: x.sub_(y, alpha=0.5),
    lambda x, y: x.mul_(y),
    lambda x, y: x.div_(y * y + 1),
    lambda x, y: x.copy_(y),
    lambda x, y: x.lerp_(y, 0.5),
    lambda x, y: x.addcmul_(y, y),
    lambda x, y: x.__setitem__(0, y),
    lambda x, y: x.__setitem__((..., slice(1, None)), y),
]


def quiet_state(make: random.Random, count: int) -> Statement:
    """A statement on flags, gradients or hooks of one tensor."""
    at = make.randrange(count)
    chosen = make.choice(
        ["flag", "flag", "retain", "hook", "hook", "clear", "grad", "detach_", "data", "drop"]
    )
    flag = make.random() < 0.7

    def change(side: Side) -> Any:
        x = side.pool[at]
        match chosen:
            case "flag":
                x.requires_grad_(flag)
            case "retain":
                x.retain_grad()
            case "hook" if flag:
                x.register_hook(halve)
            case "hook":
                x.register_hook(side.watch)
            case "clear":
                x.grad = None
            case "grad":
                return None if x.grad is None else x.grad * 1.0
            case "detach_":
                x.detach_()
            case "data":
                x.grad = side.pool[(at + 1) % count].detach()
            case _:
                if count > 4:
                    del side.pool[at]
        return None

    return change


def backward_pass(make: random.Random, count: int) -> Statement:
    """A backward pass or a call of grad, with all its options."""
    roots = [make.randrange(count) for _ in range(make.choice([1, 1, 1, 2]))]
    ends = [make.randrange(count) for _ in range(make.choice([1, 2]))]
    keep = make.choice([None, None, True, False])
    create = make.random() < 0.25
    reduced, some, unused = make.random() < 0.8, make.random() < 0.25, make.choice([None, True])
    grads, materialize = make.random() < 0.55, make.random() < 0.1

    def root(side: Side, i: int) -> Any:
        x = side.pool[i]
        return (x * x).sum() if reduced else x

    def backward(side: Side) -> None:
        side.created |= create
        inputs = [side.pool[i] for i in ends] if some else None
        tensors = [root(side, i) for i in roots]
        side.autograd.backward(tensors, retain_graph=keep, create_graph=create, inputs=inputs)

    def grad(side: Side) -> Any:
        side.created |= create
        found = side.autograd.grad(
            [root(side, i) for i in roots],
            [side.pool[i] for i in ends],
            retain_graph=keep,
            create_graph=create,
            allow_unused=unused,
            materialize_grads=materialize,
        )
        return [None if g is None else g.reshape(-1) * 1.0 for g in found]

    return grad if grads else backward


def untangled(x: Any, y: Any) -> Any:
    """`y`, or a copy where PyTorch does not look whether a write to `x` changes what is still to be read."""
    return y if x.is_contiguous() and y.is_contiguous() else y.clone()


def plain_statement(make: random.Random, count: int) -> Statement:
    """An operation on one or two tensors, or a new leaf."""
    a, b = make.randrange(count), make.randrange(count)
    kind = make.choices(
        ["unary", "view", "binary", "change", "write", "leaf", "stack"], [4, 6, 5, 4, 4, 1, 1]
    )[0]
    match kind:
        case "unary" | "view" | "change":
            one = make.choice({"unary": UNARY, "view": VIEWS, "change": CHANGES}[kind])
            return lambda side: one(side.pool[a])
        case "binary":
            two = make.choice(BINARY)
            return lambda side: two(side.pool[a], side.pool[b])
        case "write":
            write = make.choice(WRITES)
            return lambda side: write(side.pool[a], untangled(side.pool[a], side.pool[b]))
        case "stack":
            return lambda side: side.function("stack")([side.pool[a], side.pool[b]])
    return new_leaf(make)


def new_leaf(make: random.Random) -> Statement:
    """A leaf of random values."""
    start = np.random.default_rng(make.randrange(1 << 30)).uniform(-1, 1, make.choice(SHAPES))
    grad = make.random() < 0.7
    return lambda side: side.leaf(start, grad)


def statement(make: random.Random, count: int) -> Statement:
    """A random statement on a pool of `count` tensors."""
    kind = make.choices(["plain", "no_grad", "state", "pass"], [22, 3, 4, 4])[0]
    if kind == "state":
        return quiet_state(make, count)
    if kind == "pass":
        return backward_pass(make, count)
    inner = plain_statement(make, count)
    if kind == "plain":
        return inner

    def quietly(side: Side) -> Any:
        with side.no_grad():
            return inner(side)

    return quietly
