"""Random scripts that catch errors between the making of graphs and their passes, spelled alike for PyTorch
and gradd.

A script makes graphs of ordinary ops, Functions, tensor hooks, checkpoints and packed tensors, catches
errors in between and within callbacks, and goes on: passes, passes over passes, optimizers. Values are small
integers in float64, so that two modules compare exactly.

PyTorch raises at the line, gradd sometimes at a later one. So in PyTorch what stands in a try block behind
the failing line does not happen at all, and in gradd it has to be as if it had not: such lines say nothing.
"""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Callable
from typing import Any

ERRORS = (RuntimeError, IndexError, ValueError, TypeError, ZeroDivisionError)
#: what a refusal says of a graph of which the mirror cannot be sure
REFUSAL = "lost sight of"
#: an action was done: so the gradients are
DONE = "done"


class Program:
    """One seed's script; `seen` is all that could be seen of it."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.seen: list[Any] = []
        #: lines behind a failing one ran passes over graphs that stood before, or wrote to what they hold: of
        #: those the mirror may refuse a pass that meets callbacks
        self.touched = False
        self.refused = False
        self._quiet = False

    def run(self, T: Any, actions: int = 14) -> list[Any]:
        """Run it over torch or gradd."""
        self.T = T
        self.leaves = [
            T.tensor([1.0 + k, 2.0, 3.0 - k], dtype=T.float64, requires_grad=True) for k in range(3)
        ]
        self.graphs: list[Any] = []
        self.optimizer = self._optimizer()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number in range(actions):
                self.rng = random.Random(self.seed * 1000 + number)
                (action,) = self.rng.choices(list(ACTIONS), list(ACTIONS.values()))
                self.note(action.__name__)
                try:
                    action(self)
                    # What only the server could judge is told here at the latest.
                    self.leaves[0].detach().tolist()
                except ERRORS as error:
                    self.said(error)
                if self.refused:
                    return self.seen
                self.note(DONE, [None if x.grad is None else x.grad.tolist() for x in self.leaves])
            self.note([x.tolist() for x in (*self.leaves, *self.graphs)])
        return self.seen

    def said(self, error: BaseException, where: str = "raised") -> None:
        """An error was caught."""
        self.refused = self.refused or REFUSAL in str(error)
        if not self.refused:
            self.note(where, _name(error))

    def note(self, *what: Any) -> None:
        """Something could be seen. A value is read only then: behind a failing line that would tell."""
        if not (self._quiet or self.refused):
            self.seen.append(tuple(w.tolist() if isinstance(w, self.T.Tensor) else w for w in what))

    def _optimizer(self) -> Any:
        kinds: list[Callable[[], Any]] = [
            lambda: self.T.optim.SGD(self.leaves, lr=1.0),
            lambda: self.T.optim.SGD(self.leaves, lr=0.5, momentum=0.5),
        ]
        return self.rng.choice(kinds)()

    # -- errors ------------------------------------------------------------------------------------

    def fail(self) -> Any:
        """A line that raises, at once or when its result is looked at; its result, if there is one."""
        T, rng = self.T, self.rng
        table = T.tensor([1.0, 2.0, 3.0], dtype=T.float64)
        far = T.tensor([0, 5])
        lines: list[Callable[[], Any]] = [
            # The server's, when somebody looks.
            lambda: table[far],
            lambda: self.leaves[0][far],
            lambda: table.index_select(0, far),
            lambda: T.gather(self.leaves[1], 0, far),
            lambda: T.nn.functional.embedding(far, table.reshape(3, 1)),
            lambda: table.clone().index_fill_(0, far, 1.0),
            # The mirror's, at the line.
            lambda: table @ T.ones(2, dtype=T.float64),
            lambda: table.view(2, 2),
            lambda: table[7],
            lambda: self.leaves[0].mul_(2),
            # At the line too: shapes that depend on values, linear algebra.
            lambda: table[table > 1.0].view(3),
            lambda: table.nonzero().reshape(2, 2),
            lambda: T.linalg.cholesky(T.zeros((2, 2), dtype=T.float64) - 1),
            lambda: T.linalg.inv(T.zeros((2, 2), dtype=T.float64)),
            # The script's.
            lambda: 1 / 0,
        ]
        return rng.choice(lines)()

    def caught(self, behind: bool = False) -> None:
        """An error, caught. Before it other lines stand; with `behind`, after it too."""
        held, last, bad = self.rng, self.rng.random() < 0.7, None
        self.rng = random.Random(held.randrange(1 << 30))
        try:
            for _ in range(self.rng.randrange(3)):
                self.graphs.append(self.node(self.rng.choice(KINDS)))
            bad = self.fail()
            self._quiet = True
            if behind:
                for _ in range(self.rng.randrange(1, 4)):
                    line = self.rng.choice(BEHIND)
                    try:
                        line(self)
                    except ERRORS as error:
                        if type(error.__cause__).__name__ == "RecordedHere":
                            raise  # the one that is looked for
            (bad if last else self.leaves[1].detach()).tolist()
            bad.tolist()
        except ERRORS as error:
            self._quiet = False
            self.said(error, "caught")
        finally:
            self._quiet, self.rng = False, held
        if bad is not None:
            self.use(bad)

    def use(self, bad: Any) -> None:
        """PyTorch has no such tensor; where gradd has one, it raises the error and changes nothing."""
        uses: list[Callable[[], Any]] = [
            lambda: bad * 2,
            lambda: self.leaves[0].detach().add_(bad),
            lambda: self.any().detach().mul_(bad),
            lambda: bad.sum().backward(),
        ]
        with contextlib.suppress(*ERRORS):
            bad.tolist()  # what was written to in vain is still there
            return
        held, self.rng = self.rng, random.Random(self.seed)
        try:
            self.rng.choice(uses)()
        except ERRORS:
            return
        finally:
            self.rng = held
        raise AssertionError("what never came to be was taken")

    # -- graphs ------------------------------------------------------------------------------------

    def any(self) -> Any:
        """A leaf or the result of a graph."""
        if self.graphs and self.rng.random() < 0.6:
            return self.rng.choice(self.graphs)
        return self.rng.choice(self.leaves)

    def node(self, kind: str) -> Any:
        """A tensor of three elements that has a graph."""
        x, T, rng = self.any(), self.T, self.rng
        inside = rng.random() < 0.15
        draws = rng.randrange(1 << 30)

        def maybe_caught() -> None:
            if inside and not self._quiet:
                # The draws of callbacks are their own: they run whenever a pass comes by.
                held, self.rng = self.rng, random.Random(draws)
                try:
                    self.fail().tolist()
                except ERRORS as error:
                    self.said(error, "caught inside")
                finally:
                    self.rng = held

        if kind == "function":
            return _function(T, self.note, maybe_caught, rng).apply(x)
        if kind == "hook":
            y = x * 2
            self.hook(y, maybe_caught)
            return y + 1
        if kind == "checkpoint":

            def section(a: Any) -> Any:
                maybe_caught()
                return a * a + a

            from_module = T.utils.checkpoint if T.__name__ == "gradd" else _checkpoint()
            return from_module.checkpoint(section, x, use_reentrant=rng.random() < 0.5)
        if kind == "packed":

            def pack(t: Any) -> Any:
                self.note("pack", t)
                return t

            def unpack(t: Any) -> Any:
                maybe_caught()
                self.note("unpack")
                return t

            with T.autograd.graph.saved_tensors_hooks(pack, unpack):
                return x * x * 2
        return x * 3 + x[[2, 1, 0]] * x

    def hook(self, t: Any, first: Callable[[], None] = lambda: None) -> None:
        """Register a hook on a tensor that requires a gradient."""
        reads, factor = self.rng.random() < 0.5, self.rng.choice((None, 2))

        def called(g: Any) -> Any:
            first()
            self.note("hook", g if reads else tuple(g.shape))
            return None if factor is None else g * factor

        t.register_hook(called)

    def shrink(self) -> None:
        """Values stay small."""
        if len(self.graphs) > 5:
            self.graphs = self.graphs[-3:]


def _name(error: BaseException) -> str:
    return type(error).__name__.lstrip("_")


def _checkpoint() -> Any:
    import torch.utils.checkpoint

    return torch.utils.checkpoint


def _function(T: Any, note: Callable[..., None], maybe_caught: Callable[[], None], rng: Any) -> Any:
    where = rng.randrange(3)
    keeps = rng.random() < 0.8

    class Double(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * 2
            if where == 0:
                maybe_caught()
            if keeps:
                ctx.save_for_backward(x)
            return y + 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if where == 1:
                maybe_caught()
            note("backward", g if where == 2 else None)
            return g * ctx.saved_tensors[0] if keeps else g * 7

    return Double


KINDS = ("function", "function", "hook", "hook", "checkpoint", "packed", "ordinary")


def forward(p: Program) -> None:
    p.graphs.append(p.node(p.rng.choice(KINDS)))
    p.shrink()


def hook(p: Program) -> None:
    p.hook(p.any())


def catch(p: Program) -> None:
    p.caught()


def catch_with_lines_behind(p: Program) -> None:
    p.caught(behind=True)


def backward(p: Program) -> None:
    p.any().sum().backward(retain_graph=p.rng.random() < 0.5)


def twice(p: Program) -> None:
    x = p.rng.choice(p.leaves)
    y = (p.any() * x).sum()
    (g,) = p.T.autograd.grad(y, [x], create_graph=True)
    if p.rng.random() < 0.5:
        p.caught()
    p.note(g.tolist())
    (g * x).sum().backward(retain_graph=p.rng.random() < 0.5)


def optimize(p: Program) -> None:
    p.optimizer.zero_grad(set_to_none=p.rng.random() < 0.5)
    y = (p.any() % 4).sum()
    if p.rng.random() < 0.5:
        p.caught()
    y.backward(retain_graph=True)
    if p.rng.random() < 0.3:
        p.caught()
    p.optimizer.step()


def write(p: Program) -> None:
    with p.T.no_grad():
        p.rng.choice(p.leaves).remainder_(5)


def write_to_a_result(p: Program) -> None:
    if p.graphs:
        p.rng.choice(p.graphs).mul_(2)


def write_to_a_view(p: Program) -> None:
    if p.graphs:
        p.rng.choice(p.graphs)[1:].mul_(2)


def read(p: Program) -> None:
    p.note(p.any().tolist())


def retain(p: Program) -> None:
    if p.graphs:
        t = p.rng.choice(p.graphs)
        t.retain_grad()
        t.sum().backward(retain_graph=True)
        p.note(None if t.grad is None else t.grad.tolist())


def keep_values_small(p: Program) -> None:
    p.graphs.clear()
    write(p)


ACTIONS: dict[Callable[[Program], None], float] = {
    forward: 6, hook: 2, catch: 5, catch_with_lines_behind: 2, backward: 4, twice: 2, optimize: 2, write: 0.5,
    write_to_a_result: 0.7, write_to_a_view: 0.4, read: 1, retain: 0.5, keep_values_small: 0.7,
}  # fmt: skip


# -- lines behind one that failed: in PyTorch they do not happen -----------------------------------


def _new_graph(p: Program) -> None:
    x = p.rng.choice(p.leaves)
    y = x * 2
    if p.rng.random() < 0.5:
        y.register_hook(lambda g: g * 3)
    (y * y).sum()


def _pass_over_a_new_graph(p: Program) -> None:
    x = p.rng.choice(p.leaves)
    y = x * 2
    y.register_hook(lambda g: g * 3)
    (y * y).sum().backward()


def _pass_over_an_old_graph(p: Program) -> None:
    p.touched = True
    p.any().sum().backward()


def _pass_that_keeps_an_old_graph(p: Program) -> None:
    p.any().sum().backward(retain_graph=True)


def _write_to_a_leaf(p: Program) -> None:
    with p.T.no_grad():
        p.rng.choice(p.leaves).add_(1)


def _write_to_a_result(p: Program) -> None:
    p.touched = True
    write_to_a_result(p)


def _write_to_a_view(p: Program) -> None:
    p.touched = True
    write_to_a_view(p)


def _step(p: Program) -> None:
    # One that keeps nothing: what a Python object keeps of a step that never ran stays lost.
    p.T.optim.SGD(p.leaves, lr=1.0).step()


def _zero(p: Program) -> None:
    p.optimizer.zero_grad()


def _retain(p: Program) -> None:
    p.touched = True
    if p.graphs:
        p.rng.choice(p.graphs).retain_grad()


BEHIND = (
    _new_graph, _new_graph, _pass_over_a_new_graph, _pass_over_an_old_graph, _pass_that_keeps_an_old_graph,
    _write_to_a_leaf, _write_to_a_result, _write_to_a_view, _step, _zero, _retain,
)  # fmt: skip
