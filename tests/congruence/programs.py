"""Seeded random scripts against a session: what users do, in random order, with the errors users make."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import gradd
from gradd import RecordedHere
from gradd._session.session import SESSIONS
from gradd._transports import local
from gradd._transports.base import Dropped

from tests.congruence.callables import MORE
from tests.congruence.chains import CHAINS
from tests.congruence.models import MODELS

ERRORS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)
Action = Callable[["Script"], None]


class Script:
    """One random script on `session`; `other` is a second writer of the same session (or None)."""

    def __init__(self, seed: int, session: Any, other: Any = None) -> None:
        self.rng = random.Random(seed)
        self.session = session
        self.other = other
        self.held: list[Any] = []
        self.grads: list[Any] = []
        self.handles: list[Any] = []
        #: the server will find an error that the mirror cannot see
        self.planted = False
        #: graphs were lost from sight, or are another writer's: passes over them are the server's to judge
        self.blind = other is not None
        self.told: list[BaseException] = []
        self.log: list[str] = []

    def run(self, actions: int) -> None:
        """Some random actions. Errors of the script are its own affair; the server's were planted."""
        for _ in range(actions):
            (action,) = self.rng.choices(ACTIONS, WEIGHTS)
            self.do(action)
            while len(self.held) > 12:
                self.held.pop(self.rng.randrange(len(self.held)))

    def do(self, action: Action) -> None:
        """One action; remembers what it was."""
        self.log.append(action.__name__)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                action(self)
        except ERRORS as error:
            self.log[-1] += f": {type(error).__name__}: {str(error)[:60]}"
            self.judge(error)

    def judge(self, error: BaseException) -> None:
        """Only a planted failure may come from the server: told once, then by what it kept from being."""
        if not isinstance(error.__cause__, RecordedHere) or any(error is e for e in self.told):
            return
        assert self.planted or self.blind, f"the server refused what the mirror allowed: {error!r}"
        self.planted = False
        self.told.append(error)

    def fail(self) -> None:
        """A batch that only the server can refuse, and three more in flight behind it."""
        self.do(create)
        table = gradd.ones(3)
        self.run(2)
        bad = table[gradd.tensor([1, 99])]
        self.planted = self.blind = True
        self.held.append(bad)
        self.run(1)
        for _ in range(4):
            self.session.step_done()
            self.run(4)

    def settle(self) -> None:
        """Everything sent and answered; a planted failure is told here at the latest."""
        for _ in range(2):
            try:
                self.session.flush()
            except ERRORS as error:
                self.judge(error)
        assert not self.planted

    def any(self) -> Any:
        """A tensor at hand, made if there is none."""
        if not self.held:
            create(self)
        return self.rng.choice(self.held)

    def leaf(self) -> Any:
        """A leaf, one that requires gradients if there is one."""
        leaves = [t for t in self.held if t._leaf and t.requires_grad]
        return self.rng.choice(leaves) if leaves else self.any()

    def chance(self, p: float) -> bool:
        """True with probability `p`."""
        return self.rng.random() < p

    def mode(self) -> Any:
        """Gradient mode on or off, sometimes inference mode."""
        if self.chance(0.1):
            return gradd.inference_mode()
        return gradd.set_grad_enabled(self.chance(0.6))

    def keep(self, *tensors: Any) -> None:
        """Hold results in variables."""
        self.held.extend(t for t in tensors if isinstance(t, gradd.Tensor))


SHAPES = [(), (1,), (3,), (2, 3), (3, 1), (1, 3), (2, 1, 3), (0,), (3, 3)]


def create(s: Script) -> None:
    shape = s.rng.choice(SHAPES)
    kind = s.rng.randrange(6)
    if kind == 0:
        s.keep(gradd.arange(s.rng.randrange(1, 5)))
        return
    if kind == 1:
        s.keep(gradd.zeros(shape, dtype=gradd.float64))
        return
    n = 1
    for d in shape:
        n *= d
    flat = gradd.tensor([s.rng.uniform(-1, 1) for _ in range(n)], dtype=gradd.float32)
    if kind < 5:
        t = flat.reshape(shape).detach().clone().requires_grad_(s.chance(0.8))
        s.keep(t)
    else:
        s.keep(gradd.tensor(s.rng.uniform(-1, 1), requires_grad=True))


def draw(s: Script) -> None:
    if s.chance(0.3):
        gradd.manual_seed(s.rng.randrange(100))
    s.keep(gradd.rand(s.rng.choice(SHAPES)), gradd.randn(2, 3, requires_grad=True))


def binary(s: Script) -> None:
    a, b = s.any(), s.any()
    if s.chance(0.3):
        b = s.rng.choice([2, 0.5, -1.0, True])
    op = s.rng.choice([lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b])
    with s.mode():
        s.keep(op(a, b))


def unary(s: Script) -> None:
    name = s.rng.choice(["sin", "exp", "abs", "neg", "clone", "sqrt", "tanh"])
    with s.mode():
        s.keep(getattr(s.any(), name)())


def reduce(s: Script) -> None:
    t = s.any()
    s.keep(t.sum(s.rng.choice([-1, 0, 1]), keepdim=s.chance(0.5)) if s.chance(0.5) else t.sum())


def product(s: Script) -> None:
    s.keep(s.any() @ s.any())


def view(s: Script) -> None:
    t = s.any()
    with s.mode():
        match s.rng.randrange(8):
            case 0:
                out = t.view(-1)
            case 1:
                out = t.expand(2, *t.shape)
            case 2:
                out = t.transpose(0, -1)
            case 3:
                out = t.select(s.rng.choice([0, -1]), 0)
            case 4:
                out = t[s.rng.randrange(2) :]
            case 5:
                out = t.as_strided((2,), (1,))
            case 6:
                out = t.unsqueeze(s.rng.choice([0, -1]))
            case _:
                s.keep(*t.unbind(0))
                return
        s.keep(out)


def write(s: Script) -> None:
    t, other = s.any(), s.any()
    if s.chance(0.3) and t.ndim:
        t = t[0]
    with s.mode():
        match s.rng.randrange(6):
            case 0:
                t.zero_()
            case 1:
                t.fill_(s.rng.uniform(-1, 1))
            case 2:
                t.copy_(other)
            case 3:
                t.add_(other, alpha=s.rng.choice([1, 2]))
            case 4:
                t.mul_(s.rng.choice([0.5, 2]))
            case _:
                t[0] = other if s.chance(0.5) else 0.25


def backward(s: Script) -> None:
    t = s.any()
    if s.chance(0.8) and t.shape:
        t = t.sum()
    t.backward(
        gradient=gradd.ones(()) if s.chance(0.1) else None,
        retain_graph=s.rng.choice([None, None, True, False]),
        create_graph=s.chance(0.15),
        inputs=s.rng.choice([None, None, None, [s.leaf()]]),
    )
    if s.chance(0.15):
        t.backward()


def grad(s: Script) -> None:
    inputs = [s.leaf() for _ in range(s.rng.randrange(1, 3))]
    out = s.any()
    if s.chance(0.6):
        out = (inputs[0] * 2).sum() + out.sum()
    found = gradd.autograd.grad(
        out.sum(), inputs, retain_graph=s.rng.choice([None, True]), create_graph=s.chance(0.3),
        allow_unused=s.rng.choice([None, True]),
    )  # fmt: skip
    s.keep(*found)


def gradients(s: Script) -> None:
    t = s.leaf()
    match s.rng.randrange(7):
        case 0:
            s.grads.append(t.grad)
        case 1:
            t.grad = None
        case 2:
            t.grad = gradd.ones(t.shape)
        case 3:
            if t.grad is not None:
                t.grad.zero_()
        case 4:
            s.keep(t.grad)
        case 5:
            t.grad = s.rng.choice(s.grads) if s.grads else None
        case _:
            s.grads.clear()


def flags(s: Script) -> None:
    t = s.any()
    match s.rng.randrange(6):
        case 0:
            s.keep(t.detach())
        case 1:
            s.keep(t.data)
        case 2:
            t.requires_grad_(s.chance(0.5))
        case 3:
            t.retain_grad()
        case 4:
            t.detach_()
        case _:
            t.data.add_(1)


def forget(s: Script) -> None:
    for _ in range(s.rng.randrange(1, 4)):
        if s.held:
            s.held.pop(s.rng.randrange(len(s.held)))


def read(s: Script) -> None:
    t = s.any()
    if s.chance(0.5):
        t.detach().numpy()
    else:
        (t * 1.0).sum().item()


def optimize(s: Script) -> None:
    leaves = list({id(t): t for t in (s.leaf(), s.leaf())}.values())
    kind = s.rng.choice([gradd.optim.SGD, gradd.optim.Adam])
    optimizer = kind(leaves, lr=0.1)
    for _ in range(s.rng.randrange(1, 3)):
        optimizer.zero_grad(set_to_none=s.chance(0.5))
        loss = sum((p * p).sum() for p in leaves)
        loss.backward()
        optimizer.step()
    if s.chance(0.5):
        loss.item()


def end_batch(s: Script) -> None:
    s.session.step_done()


def name(s: Script) -> None:
    key = s.rng.choice("abc")
    match s.rng.randrange(4):
        case 0 | 1:
            s.session[key] = s.any()
        case 2:
            try:
                found = s.session[key]
                s.keep(found)
                # A graph that this client has lost sight of is the server's to judge.
                s.blind = s.blind or (found._fn is not None and found._fn.opaque)
            except KeyError:
                s.log[-1] += " (none)"
        case _:
            del s.session[key]


def reconnect(s: Script) -> None:
    """The connection breaks with batches in flight."""
    s.session.step_done()
    unary(s)
    s.session.step_done()
    socket = getattr(s.session.wire.transport, "_socket", None)
    if socket is None:
        s.session.wire._reconnect(Dropped("the test said so"))
    else:
        socket._socket.shutdown(2)


def amnesia(s: Script) -> None:
    """The server forgets its programs, with batches in flight."""
    if isinstance(s.session.wire.transport, local.LocalTransport):
        unary(s)
        s.session.step_done()
        local._inline()._sessions[s.session.name].session.programs.clear()
        unary(s)
        s.session.step_done()


def elsewhere(s: Script) -> None:
    """The second writer changes what is shared, and shares something of its own."""
    if s.other is None:
        return
    s.session.step_done()
    with Elsewhere(s.other):
        key = s.rng.choice("abc")
        try:
            t = s.other[key]
        except KeyError:
            s.other[key] = gradd.ones(3, requires_grad=True) * 2
            s.other.flush()
            return
        match s.rng.randrange(6):
            case 0:
                with gradd.no_grad():
                    t.add_(1)
            case 1:
                t.sum().backward()
            case 2:
                t.requires_grad_(True)
            case 3:
                t.mul_(2)
            case 4:
                t.grad = None
            case _:
                s.other[key] = gradd.zeros(2)
        s.other.flush()


class Elsewhere:
    """Makes a session current for a while, and leaves it open. Its own mistakes are its own."""

    def __init__(self, session: Any) -> None:
        self.session = session

    def __enter__(self) -> None:
        SESSIONS.enter(self.session)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        SESSIONS.leave(self.session)
        return isinstance(error, ERRORS)


TABLE: dict[Action, float] = {
    create: 3, draw: 0.5, binary: 5, unary: 4, reduce: 2, product: 1, view: 4, write: 4, backward: 4, grad: 2,
    gradients: 3, flags: 2, forget: 3, read: 1, optimize: 0.7, end_batch: 1, name: 0.7, reconnect: 0.3,
    amnesia: 0.3, elsewhere: 0.7, **MORE, **MODELS, **CHAINS,
}  # fmt: skip
ACTIONS = list(TABLE)
WEIGHTS = list(TABLE.values())
