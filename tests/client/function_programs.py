"""Random autograd.Functions, spelled alike for PyTorch and gradd: what they give, and what passes find.

A program makes one Function and calls it on inputs of every kind: leaves, results, views and views of
views, their bases, tensors that need no gradient, one tensor twice. Its forward writes to inputs, marks them
dirty or not, and returns inputs, views, new tensors, integers and what is no tensor. Values are small
integers in float64, so that two modules compare exactly.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

#: what an output is made by; "dirty" is the input that was written to
_OUTPUTS = ("dirty", "new", "new", "new", "input", "view", "part", "integer", "nothing")


class Plan:
    """One random Function, drawn before it is run, so that both modules run the same."""

    def __init__(self, rng: random.Random, count: int) -> None:
        self.written = [i for i in range(count) if rng.random() < 0.4]
        self.dirty = [i for i in self.written if rng.random() < 0.85]
        outputs = [(kind, rng.randrange(count)) for kind in rng.choices(_OUTPUTS, k=rng.choice((1, 1, 2, 3)))]
        returned = {i for kind, i in outputs if kind in ("dirty", "input")}
        outputs += [("dirty", i) for i in self.dirty if i not in returned and rng.random() < 0.95]
        rng.shuffle(outputs)
        self.outputs = outputs
        self.single = len(outputs) == 1 and rng.random() < 0.7
        self.constant = [k for k in range(len(outputs)) if rng.random() < 0.12]
        self.materialize = rng.random() < 0.7
        self.saved_inputs = [i for i in range(count) if rng.random() < 0.3]
        self.saved_outputs = [k for k in range(len(outputs)) if rng.random() < 0.2]
        self.factors = [rng.randint(2, 5) for _ in range(count)]
        self.none = [rng.random() < 0.2 for _ in range(count)]
        self.split = rng.random() < 0.3 and not self.dirty


def function(T: Any, plan: Plan, say: Callable[..., None]) -> Any:
    """The Function of a plan, over torch or gradd."""

    def compute(inputs: tuple[Any, ...]) -> list[Any]:
        for i in plan.written:
            inputs[i].mul_(plan.factors[i])
        made: dict[str, Callable[[Any, int], Any]] = {
            "dirty": lambda x, i: x,
            "input": lambda x, i: x,
            "new": lambda x, i: x * plan.factors[i] + inputs[0].sum(),
            "view": lambda x, i: x.view_as(x),
            "part": lambda x, i: x[1:],
            "integer": lambda x, i: x.to(T.int64),
            "nothing": lambda x, i: "nothing",
        }
        return [made[kind](inputs[i], i) for kind, i in plan.outputs]

    def keep(ctx: Any, inputs: tuple[Any, ...], outputs: list[Any]) -> None:
        if plan.dirty:
            ctx.mark_dirty(*[inputs[i] for i in plan.dirty])
        constant = [outputs[k] for k in plan.constant if not isinstance(outputs[k], str)]
        if constant:
            ctx.mark_non_differentiable(*constant)
        ctx.set_materialize_grads(plan.materialize)
        kept = [outputs[k] for k in plan.saved_outputs if not isinstance(outputs[k], str)]
        ctx.save_for_backward(*[inputs[i] for i in plan.saved_inputs], *kept)
        ctx.shapes = [tuple(x.shape) for x in inputs]

    def answer(outputs: list[Any]) -> Any:
        return outputs[0] if plan.single else tuple(outputs)

    class Base(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            say("backward", ctx.needs_input_grad, [None if g is None else g.tolist() for g in grads])
            say("saved", [(t.requires_grad, t.grad_fn and t.grad_fn.name()) for t in ctx.saved_tensors])
            kept = sum(
                (t.sum() for t in ctx.saved_tensors if t.dtype is T.float64), T.zeros((), dtype=T.float64)
            )
            total = sum((g.sum() for g in grads if g is not None), T.zeros((), dtype=T.float64)) + kept
            found = [
                None if none else total.expand(shape) * factor
                for none, shape, factor in zip(plan.none, ctx.shapes, plan.factors, strict=True)
            ]
            return tuple(found) if len(found) > 1 else found[0]

    if plan.split:

        class Split(Base):
            @staticmethod
            def forward(*inputs: Any) -> Any:
                return answer(compute(inputs))

            @staticmethod
            def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
                keep(ctx, inputs, [output] if plan.single else list(output))

        return Split

    class Whole(Base):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            outputs = compute(inputs)
            keep(ctx, inputs, outputs)
            return answer(outputs)

    return Whole


class Program:
    """One seed's script; `seen` is all that could be seen of it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seen: list[Any] = []
        #: gradd differs on purpose (docs/parity.md): a Function wrote to a view that is not its first input,
        #: or gives that no gradient
        self.differs = False

    def run(self, T: Any) -> list[Any]:
        """Run it over torch or gradd."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                self._run(T)
            except (RuntimeError, TypeError, ValueError) as error:
                self.seen.append((type(error).__name__, str(error)))
        self.seen.append([str(w.message).partition("\n")[0] for w in said])
        return self.seen

    def _input(self, T: Any, leaves: list[Any], tensors: list[Any]) -> Any:
        rng = self.rng
        leaf = T.tensor([1.0, 2.0, 3.0], dtype=T.float64, requires_grad=True)
        kind = rng.choice(
            ("result", "view", "view", "slice", "nested", "leaf", "plain", "again", "base", "sibling")
        )
        if kind in ("again", "base", "sibling") and tensors:
            other = rng.choice(tensors)
            base = other._base
            if kind == "again" or base is None:
                return other
            return base if kind == "base" else base.view_as(base)
        if kind == "plain":
            return T.tensor([4.0, 5.0, 6.0], dtype=T.float64)
        leaves.append(leaf)
        if kind == "leaf":
            return leaf
        result = leaf.clone() if rng.random() < 0.7 else leaf.expand(2, 3).sum(0)
        if kind == "view":
            return result.view_as(result)
        if kind == "slice":
            return (leaf.repeat(2))[1:4]
        if kind == "nested":
            return result.view(1, 3)[0]
        return result

    def _run(self, T: Any) -> None:
        rng, leaves, tensors = self.rng, [], []
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            tensors.append(self._input(T, leaves, tensors))
        plan = Plan(rng, len(tensors))
        self.differs = any(tensors[i]._base is not None and (i > 0 or plan.none[i]) for i in plan.dirty)
        fn = function(T, plan, lambda *what: self.seen.append(what))
        with T.no_grad() if rng.random() < 0.05 else T.enable_grad():
            found = fn.apply(*tensors)
        outputs = [o for o in (found if isinstance(found, tuple) else (found,)) if isinstance(o, T.Tensor)]
        around = tensors + [t._base for t in tensors if t._base is not None]
        for t in (*outputs, *around):
            self._look(T, t)
        for t in rng.sample(outputs + around, k=rng.choice((0, 0, 1, 2, 1)) % (len(outputs) + 1)):
            write = rng.choice(("mul_", "add_", "zero_"))
            try:
                _ = t.zero_() if write == "zero_" else getattr(t, write)(3)
            except RuntimeError as error:
                self.seen.append(str(error))
        for t in (*outputs, *around):
            self._look(T, t)
        roots = [t for t in outputs + around if t.requires_grad and t.dtype is T.float64]
        chosen = [t for t in roots if rng.random() < 0.7] or roots
        for _ in range(rng.choice((1, 1, 2))):
            if not chosen:
                break
            loss = sum(((k + 1) * t.sum() for k, t in enumerate(chosen)), T.zeros((), dtype=T.float64))
            try:
                loss.backward(retain_graph=rng.random() < 0.7)
            except RuntimeError as error:
                self.seen.append(str(error))
            self.seen.append([None if x.grad is None else x.grad.tolist() for x in leaves])

    def _look(self, T: Any, t: Any) -> None:
        try:
            name = None if t.grad_fn is None else t.grad_fn.name()
        except RuntimeError as error:
            name = str(error)
        try:
            leaf = t.is_leaf
        except RuntimeError as error:
            leaf = str(error)
        self.seen.append(
            (t.tolist(), t.requires_grad, leaf, t._version, t._base is not None, name, t.output_nr)
        )
