"""Tensors turned in place (`t_`, `unsqueeze_`, `data = `, ...) with and without autograd, and what is done to
them after, beside PyTorch: shapes, flags, gradients, hooks, errors.
"""

from __future__ import annotations

import itertools
import os
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest

#: cases of all; `make fuzz` asks for more
COUNT = int(os.environ.get("GRADD_TURNED", "150"))
TURNS: dict[str, tuple[int, ...]] = {
    "t_": (), "transpose_": (0, 1), "swapaxes_": (0, 1), "unsqueeze_": (0,), "squeeze_": (), "data": (),
}  # fmt: skip
MODES = ("recorded", "no_grad", "detached")
KINDS = (
    *("plain", "leaf", "hooked leaf", "used leaf", "leaf with gradient", "view of leaf"),
    *("result", "hooked", "retained", "used", "viewed", "view", "detached", "saved"),
)
STEPS = (
    *(
        "backward",
        "backward of sum",
        "backward with seed",
        "backward of use",
        "grad of itself",
        "grad of source",
    ),
    *("grad of base", "grad of use", "grad of view", "retain", "hook", "write", "turn again", "use"),
)


def _joins(mode: str, kind: str, steps: tuple[str, ...]) -> bool:
    """Whether a hook comes after a turn with autograd that came after a hook: PyTorch lets it join the
    earlier ones, of another node.
    """
    hooked, turned = kind == "hooked", mode == "recorded"
    for step in steps:
        if step == "hook":
            if hooked and turned:
                return True
            hooked = True
        turned |= step == "turn again"
    return False


CASES = [
    (turn, mode, kind, steps)
    for turn, mode, kind in itertools.product(TURNS, MODES, KINDS)
    for steps in [(a,) for a in STEPS] + list(itertools.product(STEPS, STEPS))
    if not _joins(mode, kind, steps)
]


def _shape_is_free(turn: str, mode: str, kind: str) -> bool:
    """Whether a leaf was turned while an earlier graph of it is alive."""
    return kind == "used leaf" and (mode == "no_grad" or turn == "data")


def _shapeless(x: Any) -> list[Any]:
    """Values and names in what was seen; sizes are integers."""
    if isinstance(x, (list, tuple)):
        return [e for part in x for e in _shapeless(part)]
    return [x] if isinstance(x, (float, str)) else []


def _agree(case: Any, ours: list[Any], theirs: list[Any]) -> bool:
    """Whether it is as in PyTorch. A write to a tensor that retains its gradient and was turned in place with
    autograd fails an assertion of PyTorch's own there, after it was done: all else is the same.

    A gradient of a leaf whose earlier graph is alive, that PyTorch gives in the shape before or refuses for
    it, comes in the leaf's.
    """
    if case[2] == "retained" or "retain" in case[3]:
        theirs = [
            a if "INTERNAL ASSERT FAILED" in str(b) and "RuntimeError" not in a else b
            for a, b in zip(ours, theirs, strict=True)
        ]
    if repr(ours) == repr(theirs):
        return True
    if not _shape_is_free(*case[:3]):
        return False
    for a, b in zip(ours, theirs, strict=True):
        if repr(a) == repr(b):
            continue
        if isinstance(b, tuple) and b[0] == "RuntimeError":
            return "invalid gradient at index" in b[1]
        if _shapeless(a) != _shapeless(b):
            return False
    return True


class Case:
    """One tensor, turned, in one library; ``log`` has all that was seen."""

    def __init__(self, T: Any, turn: str, mode: str, kind: str) -> None:
        self.T, self.turn, self.kind = T, turn, kind
        self.log: list[Any] = []
        self.x = T.tensor([[1.0, 2.0, 3.0]], dtype=T.float64, requires_grad=True)
        self.base = self.y = self._made()
        self.u = self.v = None
        if kind in ("used", "used leaf"):
            self.u = (self.y * self.y).sum()
        elif kind == "viewed":
            self.v = self.y[0:1]
        elif kind == "view" or kind == "view of leaf":
            self.y = self.base[:, :]
        elif kind == "detached":
            self.y = self.base.detach()
        elif kind == "retained":
            self.y.retain_grad()
        elif kind.startswith("hooked"):
            self.hook("early")
        elif kind == "leaf with gradient":
            self.y.sum().backward()
        turned = self.y.detach() if mode == "detached" else self.y
        with T.set_grad_enabled(mode != "no_grad"):
            self.tried(lambda: self._state(self._turned(turned)))
        self.look()

    def _turned(self, t: Any) -> Any:
        if self.turn == "data":
            t.data = t.detach().mT.clone()
            return t
        return getattr(t, self.turn)(*TURNS[self.turn])

    def _made(self) -> Any:
        if self.kind == "view of leaf":
            return self.x
        if "leaf" in self.kind or self.kind == "plain":
            return self.x.detach().clone().requires_grad_(self.kind != "plain")
        return self.x.exp() if self.kind == "saved" else self.x * 2

    def hook(self, name: str) -> None:
        """A hook of the tensor that notes its gradient's shape."""
        self.y.register_hook(lambda g: self.log.append((name, tuple(g.shape))))

    def tried(self, step: Callable[[], Any]) -> None:
        """What a step gives, or the error it raises."""
        try:
            self.log.append(step())
        except Exception as error:  # whatever PyTorch raises
            self.log.append((type(error).__name__, str(error)))

    def _state(self, t: Any) -> Any:
        fn = t.grad_fn
        return tuple(t.shape), t.stride(), t._version, t.is_leaf, t.requires_grad, fn and fn.name()

    def look(self) -> None:
        """Note what the tensors are and their gradients."""
        for t in (self.x, self.base, self.y):
            self.tried(lambda t=t: (self._state(t), self._plain(t.grad)))

    def _plain(self, g: Any) -> Any:
        return None if g is None else (tuple(g.shape), g.tolist())

    def _grad(self, of: Any, wrt: Any) -> Any:
        if of is None:
            return None
        (g,) = self.T.autograd.grad(of.sum(), wrt, retain_graph=True, allow_unused=True)
        return self._plain(g)

    def step(self, name: str) -> None:
        """Do one thing to the turned tensor, and look."""
        T, y = self.T, self.y
        steps: dict[str, Callable[[], Any]] = {
            "backward": lambda: (y * y).sum().backward(),
            "backward of sum": lambda: y.sum().backward(),
            "backward with seed": lambda: y.backward(T.ones(*y.shape, dtype=T.float64)),
            "backward of use": lambda: None if self.u is None else self.u.backward(),
            "grad of itself": lambda: self._grad(y, y),
            "grad of source": lambda: self._grad(y * 3, self.x),
            "grad of base": lambda: self._grad(self.base * 3, self.base),
            "grad of use": lambda: self._grad(self.u, y),
            "grad of view": lambda: self._grad(self.v, self.x),
            "retain": y.retain_grad,
            "hook": lambda: self.hook("late"),
            "write": lambda: self._state(y.mul_(2)),
            "turn again": lambda: self._state(self._turned(y)),
            "use": lambda: self._state(y * 2 + self.base.sum()),
        }
        self.tried(steps[name])
        self.look()


def _played(T: Any, case: tuple[str, str, str, tuple[str, ...]]) -> list[Any]:
    turn, mode, kind, steps = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the gradient of a non-leaf is looked at
        played = Case(T, turn, mode, kind)
        for name in steps:
            played.step(name)
    return played.log


def _some(cases: list[Any], seed: int) -> list[Any]:
    """`COUNT` of the cases, or all where there are fewer."""
    return random.Random(seed).sample(cases, min(COUNT, len(cases)))


@pytest.fixture(params=["local", "stream"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    """gradd in a session of the test's own, in process and with a daemon."""
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    with gradd.connect(url):
        yield gradd


@pytest.mark.oracle
def test_what_comes_after_is_as_in_pytorch(T: Any) -> None:
    torch = pytest.importorskip("torch")
    for case in _some(CASES, 8):
        assert _agree(case, _played(T, case), _played(torch, case)), case


@pytest.mark.oracle
def test_what_comes_after_many_steps_is_as_in_pytorch(T: Any) -> None:
    torch = pytest.importorskip("torch")
    rng = random.Random(10)
    for _ in range(COUNT):
        mode, kind = rng.choice(MODES), rng.choice(KINDS)
        steps = tuple(rng.choices(STEPS, k=rng.randint(3, 5)))
        turn = rng.choice([*TURNS])
        case = turn, mode, kind, steps
        # What the leaf's hooks say where PyTorch refuses its gradient makes another list of it.
        if not (_joins(mode, kind, steps) or _shape_is_free(turn, mode, kind)):
            assert _agree(case, _played(T, case), _played(torch, case)), case


@pytest.mark.oracle
def test_leaves_whose_graph_lives_are_as_in_pytorch_but_for_the_shape() -> None:
    torch = pytest.importorskip("torch")
    leaves = [case for case in CASES if _shape_is_free(*case[:3])]
    with gradd.connect("local:"):
        for case in _some(leaves, 9):
            assert _agree(case, _played(gradd, case), _played(torch, case)), case


def test_what_retains_its_gradient_is_written_to_after_a_turn(T: Any) -> None:
    x = T.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.t_()
    assert y.mul_(2).tolist() == [[4.0], [8.0], [12.0]]
    (y * y).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the gradient of a non-leaf is looked at
        assert y.grad.tolist() == [[16.0, 32.0, 48.0]]  # of what it was before the turn, as PyTorch's
    assert x.grad.tolist() == [[32.0, 64.0, 96.0]]


def test_a_hook_after_a_turn_is_of_the_new_shape(T: Any) -> None:
    x = T.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(("before", tuple(g.shape))))
    y.t_()
    y.register_hook(lambda g: seen.append(("after", tuple(g.shape))))
    y.sum().backward()
    assert seen == [("after", (3, 1)), ("before", (1, 3))]
    assert x.grad.tolist() == [[2.0, 2.0, 2.0]]


def test_what_is_refused_for_its_shape_is_refused_again(T: Any) -> None:
    x = T.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    y = x * 2
    with T.no_grad():
        y.t_()
    y.mul_(2)
    for _ in range(2):  # its node keeps what it saved
        with pytest.raises(RuntimeError, match="MulBackward0 returned an invalid gradient at index 0"):
            y.sum().backward()
    assert x.grad is None
