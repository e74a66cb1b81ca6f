"""Random loops for PyTorch and gradd alike: a body is drawn once and run five times over the same leaves.

A body makes tensors, takes views, writes through them, reads, hooks, passes and updates by hand. What each
step gives is written down: a value, or the class and message of what it raised.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

REPETITIONS = 5
ERRORS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)
SHAPES = [(), (2,), (3,), (2, 2), (3, 2), (2, 3)]
Step = Callable[[Any, dict[str, Any]], Any]


class Body:
    """The steps of one loop, drawn from `seed`. Tensors have names; a step that finds no such name raises for
    both sides alike.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names = ["w", "m"]
        self.steps: list[tuple[str, Step]] = []
        #: of steps that write what they read of a tensor: its name and what is written to, that which is read
        #: and how, and whether it is an assignment
        self.copies: dict[int, tuple[str, str, str, str, bool]] = {}
        self._made = 0
        for _ in range(self.rng.randrange(3, 12)):
            (kind,) = self.rng.choices(KINDS, WEIGHTS)
            kind(self)
        self.passes()

    def name(self) -> str:
        """A name that is taken, a late one rather than an early one."""
        return self.rng.choice(self.names[-4:] if self.rng.random() < 0.7 else self.names)

    def new(self) -> str:
        """A name for a result."""
        self._made += 1
        self.names.append(f"t{self._made}")
        return self.names[-1]

    def add(self, text: str, fill: dict[str, Any] | None = None) -> None:
        """A step: Python with tensors by name, and `torch` for the module."""
        code = compile(text, text, "exec")
        more = fill or {}

        def step(torch: Any, env: dict[str, Any]) -> None:
            exec(code, {"torch": torch, **more}, env)

        self.steps.append((text, step))

    # -- kinds of steps ------------------------------------------------------------------------------

    def make(self) -> None:
        """A new tensor."""
        a, shape = self.name(), list(self.rng.choice(SHAPES))
        how = self.rng.choice(
            [
                f"torch.zeros({shape}, dtype=torch.float64)",
                f"torch.ones({shape}, dtype=torch.float64)",
                f"{a} * {self.rng.choice([1, 2, -0.5])}",
                f"{a}.clone()",
                f"{a}.detach().clone()",
            ]
        )
        self.add(f"{self.new()} = {how}")

    def view(self) -> None:
        """A view of a tensor."""
        a, i, j = self.name(), self.rng.randrange(3), self.rng.randrange(3)
        how = self.rng.choice(
            [
                f"[{i}]", f"[{i}:]", f"[{i}:{i + 1 + j}]", "[..., 0]", f"[:, {i}]", ".t()",
                ".transpose(0, -1)",
                ".view(-1)", ".unsqueeze(0)", f".expand(2, *{a}.shape)", f".narrow(0, {i}, 1)", ".diagonal()",
                "[::2]",
                ".detach()", f".as_strided((2,), (1,), {i})",
            ]
        )  # fmt: skip
        self.add(f"{self.new()} = {a}{how}")

    def write(self) -> None:
        """A change in place, of a tensor or through a view of it."""
        a, b, i = self.name(), self.name(), self.rng.randrange(3)
        value = self.rng.choice([b, f"{b}.sum()", f"{b}[{i}]", f"{b} * 2", "0.5", f"{b}.mean().exp()"])
        read = value if value in (b, f"{b}[{i}]") else None
        how = self.rng.choice(
            [
                f"{a}[{i}] = {value}", f"{a}[{i}:] = {value}", f"{a}[..., {i}] = {value}", f"{a}.copy_({b})",
                f"{a}.add_({value})", f"{a}.mul_({value})", f"{a}[{i}].add_({value})",
                f"{a}[{i}:].mul_({value})",
                f"{a}.zero_()", f"{a}.fill_({b}.sum())", f"{a}.t().mul_({value})", f"{a}[{i}] += {value}",
                f"{a}.view(-1)[{i}] = {value}", f"{a}[{a} > 0.5] = {b}.sum()",
                f"({a} * 1).masked_fill_({a} > 0.5, 0.25)",
                f"{a} = {a} * 1\n{a}.index_put_((torch.tensor([0]),), {b}.sum())",
                f"{a}.exp_()", f"{a}.tanh_()",
            ]
        )  # fmt: skip
        if how == f"{a}.copy_({b})":
            self.copies[len(self.steps)] = a, a, b, b, False
        elif read is not None and how.endswith((f" {read}", f"({read})")):
            parts = [f"{a}[{i}:]", f"{a}[{i}]", f"{a}[..., {i}]", f"{a}.t()"]
            target = next((part for part in parts if how.startswith(part)), a).replace(".t()", ".T")
            self.copies[len(self.steps)] = a, target, b, read, " = " in how
        with_grad = self.rng.random() < 0.85
        self.add(how if with_grad else "with torch.no_grad():\n    " + how.replace("\n", "\n    "))

    def compute(self) -> None:
        """Something that is not in place."""
        a, b = self.name(), self.name()
        how = self.rng.choice(
            [
                f"{a} * {b}", f"{a} + {b}", f"{a}.exp()", f"{a}.tanh()", f"{a}.sum()", f"{a} * {a}",
                f"{a}.sum(0)",
                f"torch.stack([{a}, {b}])", f"{a} @ {b}", f"{a}.mean() * {b}",
            ]
        )  # fmt: skip
        self.add(f"{self.new()} = {how}")

    def read(self) -> None:
        """A value is asked for, of a tensor or of something that has nothing to do with it."""
        a = self.name()
        what = self.rng.choice([f"{a}.sum()", f"{a}.detach().mean()", "torch.ones(2).sum()"])
        self.add(f"seen.append({what}.item())")

    def hook(self) -> None:
        """A hook of a tensor that is no view, since PyTorch may crash where a view was not made anew."""
        a = self.name()
        what = self.rng.choice(
            ["lambda g: g * 0.5", "lambda g, seen=seen: seen.append(g.sum().item())", "lambda g: None"]
        )
        self.add(f"if not {a}._is_view() and not {a}.is_leaf: {a}.register_hook({what})", {})

    def passes(self) -> None:
        """A backward pass, or gradients, from a sum."""
        a = self.name()
        self.add("root = " + self.rng.choice([f"{a}.sum()", f"({a} * {a}).sum()"]))
        for _ in range(self.rng.choice([1, 1, 1, 2, 3])):
            keep = self.rng.choice(["", "", "retain_graph=True", "create_graph=True"])
            root = self.rng.choice([f"{a}.sum()", "root", "root"])
            if self.rng.random() < 0.6:
                self.add(f"{root}.backward({keep})")
            else:
                self.add(
                    f"seen.extend(g if g is None else g.tolist() for g in "
                    f"torch.autograd.grad({root}, [w, m], allow_unused=True, {keep}))"
                )

    def update(self) -> None:
        """Leaves are changed by hand."""
        a = self.rng.choice(["w", "m"])
        how = self.rng.choice(
            [
                f"with torch.no_grad():\n    {a} -= 0.1 * {a}.grad",
                f"{a}.grad = None",
                f"{a}.grad.zero_()",
                f"{a}.data.mul_(0.5)",
                f"seen.append({a}.grad.tolist())",
            ]
        )
        self.add(how)


TABLE: dict[Callable[[Body], None], float] = {
    Body.make: 2, Body.view: 3, Body.write: 5, Body.compute: 2, Body.read: 1.5, Body.hook: 0.7,
    Body.passes: 1, Body.update: 0.7,
}  # fmt: skip
KINDS = list(TABLE)
WEIGHTS = list(TABLE.values())


def places(t: Any) -> Any:
    """Where the elements of a tensor are in its memory. Asks for no history, which would be made anew."""
    at = np.full(tuple(t.shape), t.storage_offset())
    for d, step in enumerate(t.stride()):
        at = at + np.arange(t.shape[d]).reshape(-1, *[1] * (t.ndim - d - 1)) * step
    return at


def reads_what_it_wrote(env: dict[str, Any], copy: tuple[str, str, str, str, bool]) -> bool:
    """Whether an element is written from a place that another element is written to. PyTorch refuses that in
    tensors without gaps only: in others what it reads depends on the order in which it goes through memory.
    """
    a, target, b, value, assigned = copy
    if not all(hasattr(env.get(name), "stride") for name in (a, b)):
        return False
    if env[a].untyped_storage().data_ptr() != env[b].untyped_storage().data_ptr():
        return False
    try:
        to, source = (np.array(eval(e, {name: places(env[name])})) for e, name in ((target, a), (value, b)))
        source = np.broadcast_to(source, to.shape)
    except (IndexError, ValueError):
        return False
    if assigned and not np.ndim(eval(value, {b: places(env[b])})):
        return False  # a number, read first
    return bool(np.isin(source, to)[source != to].any())


def run(torch: Any, seed: int, reference: bool = False) -> list[Any]:
    """What the loop of `seed` gives, step by step. Lists are values of one tensor. Of the reference, up to
    where it reads what it has written in the same step.
    """
    body = Body(seed)
    w = torch.tensor([0.5, -1.0, 0.25], dtype=torch.float64, requires_grad=True)
    m = torch.tensor([[0.5, 2.0], [-0.5, 1.0]], dtype=torch.float64, requires_grad=True)
    told: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in range(REPETITIONS):
            w.grad = m.grad = None
            seen: list[Any] = []
            env: dict[str, Any] = {"w": w, "m": m, "seen": seen}
            for at, (text, step) in enumerate(body.steps):
                copy = body.copies.get(at) if reference else None
                ends = copy is not None and reads_what_it_wrote(env, copy)
                try:
                    step(torch, env)
                    if ends:
                        return told
                except (NameError, AttributeError):
                    told.append((n, text, "nothing there"))
                except ERRORS as error:
                    told.append((n, text, f"{type(error).__name__}: {str(error)[:70]}"))
            told.append((n, "seen", tuple(seen)))
            told.append((n, "leaves", tuple(x.tolist() for x in (w, m))))
            told.append((n, "grads", tuple(None if x.grad is None else x.grad.tolist() for x in (w, m))))
            for name, t in env.items():
                if hasattr(t, "requires_grad"):
                    told.append((n, name, (t.requires_grad, t.detach().tolist())))
    return told
