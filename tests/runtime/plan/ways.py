"""Ways to write a training loop: which are planned, which are not, and why. `make planned` writes it into
docs/speed.md.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gradd
import gradd.nn.functional as F
from gradd import nn, optim
from gradd.utils.checkpoint import checkpoint

from .loops import CLIPS, GROWS, LAYERS, LOOKUPS, LOSSES, OPTIMIZERS, SCHEDULES, Loop, run, steps_of

PAGE = Path(__file__).parents[3] / "docs" / "speed.md"
BEGIN, END = "<!-- planned: written by `make planned` -->\n", "<!-- /planned -->\n"


class Task:
    """What a step works on. A way may hang what it keeps on it."""

    def __init__(self) -> None:
        self.model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
        self.optimizer = optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.x, self.t, self.data = gradd.randn(2, 4), gradd.rand(2, 3), gradd.randn(10, 4)
        self.kept: Any = None
        self.n = 0

    def loss(self, y: Any = None) -> Any:
        """The loss of an output, or of the model's."""
        return F.mse_loss(self.model(self.x) if y is None else y, self.t)

    def finish(self, loss: Any) -> Any:
        """Go back from the loss and step; the loss."""
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


class Way(NamedTuple):
    """A step of a way, and where not all of it is planned: what the profile says, and why."""

    step: Callable[[Task], Any]
    says: str = ""
    because: str = ""


class _Square(gradd.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * g


def _custom(task: Task) -> Any:
    return task.finish(task.loss(_Square.apply(task.model(task.x))))


def _checkpointed(task: Task) -> Any:
    return task.finish(task.loss(checkpoint(task.model, task.x, use_reentrant=False)))


def _hooked(task: Task) -> Any:
    y = task.model(task.x)
    y.register_hook(lambda g: 2 * g)
    return task.finish(task.loss(y))


def _post_hooked(task: Task) -> Any:
    if task.kept is None:
        task.kept = [p.register_post_accumulate_grad_hook(_halve) for p in task.model.parameters()]
    return task.finish(task.loss())


def _halve(p: Any) -> None:
    p.grad.mul_(0.5)


def _module_hooked(task: Task) -> Any:
    if task.kept is None:
        task.kept = task.model.register_full_backward_hook(lambda module, gave, got: None)
    x = task.x.detach().requires_grad_()
    return task.finish(task.loss(task.model(x)))


def _packed(task: Task) -> Any:
    with gradd.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
        loss = task.loss()
    return task.finish(loss)


def _anomaly(task: Task) -> Any:
    with gradd.autograd.set_detect_anomaly(True):
        return task.finish(task.loss())


def _forward_mode(task: Task) -> Any:
    ad = gradd.autograd.forward_ad
    with ad.dual_level():
        y = task.model(ad.make_dual(task.x, gradd.ones_like(task.x)))
        return task.finish(ad.unpack_dual(y).tangent.pow(2).sum())


def _data_replaced(task: Task) -> Any:
    loss = task.finish(task.loss())
    for p in task.model.parameters():
        p.data = p.data * 0.9
    return loss


def _reseeded(task: Task) -> Any:
    gradd.manual_seed(3)
    return task.finish(task.loss())


def _new_shapes(task: Task) -> Any:
    task.n += 1
    return task.finish(task.model(task.data[: task.n]).sum())


def _accumulated(task: Task) -> Any:
    task.optimizer.zero_grad()
    for _ in range(2):
        loss = task.loss()
        loss.backward()
    task.optimizer.step()
    return loss


def _penalised(task: Task) -> Any:
    loss = task.loss()
    found = gradd.autograd.grad(loss, list(task.model.parameters()), create_graph=True)
    return task.finish(loss + sum(g.pow(2).sum() for g in found))


def _batches(task: Task) -> Any:
    task.n = (task.n + 2) % 8
    return task.finish(task.loss(task.model(task.data[task.n : task.n + 2])))


def _shuffled(task: Task) -> Any:
    return task.finish(task.loss(task.model(task.data[gradd.randperm(8)[:2]])))


def _by_hand(task: Task) -> Any:
    loss = task.loss()
    loss.backward()
    with gradd.no_grad():
        for p in task.model.parameters():
            p -= 0.1 * p.grad
            p.grad = None
    return loss


def _evaluated(task: Task) -> Any:
    loss = task.finish(task.loss())
    task.model.eval()
    with gradd.inference_mode():
        task.model(task.data).sum().item()
    task.model.train()
    return loss


def _looked_at(task: Task) -> Any:
    y = task.model(task.x)
    y.mean().item()
    loss = task.loss(y)
    if loss.item() > 0:
        loss = loss * 2
    task.finish(loss)
    for p in task.model.parameters():
        p.grad.norm().item()
    return loss


def _functional(task: Task) -> Any:
    params = {name: p.detach() for name, p in task.model.named_parameters()}

    def loss(params: Any, x: Any, t: Any) -> Any:
        return F.mse_loss(gradd.func.functional_call(task.model, params, (x,)), t)

    found = gradd.func.vmap(gradd.func.grad(loss), (None, 0, 0))(params, task.x, task.t)
    with gradd.no_grad():
        for name, p in task.model.named_parameters():
            p.sub_(0.1 * found[name].mean(0))
    return task.loss()


TEXT = """\
A loop of any {parts} of the SDK is planned from its third step on, whether gradients \
are set to None or to zero, and whether the loss is read before its pass or after the step. \
So are loops with {planned}. What is not planned has the same results:
"""
TABLE = """
| a loop with | planned | `profile()` says | because |
|---|---|---|---|
"""

PASSES = "the pass stops for what the client calls"

WAYS: dict[str, Way] = {
    "gradients of several passes added up": Way(_accumulated),
    "a gradient penalty (`create_graph`)": Way(_penalised),
    "slices of a data set": Way(_batches),
    "shuffled rows of a data set": Way(_shuffled),
    "an update by hand": Way(_by_hand),
    "an evaluation in each step": Way(_evaluated),
    "values read in the middle": Way(_looked_at),
    "`func.vmap` of `func.grad`": Way(_functional),
    "a hook on a tensor that the step makes": Way(_hooked, "a step is begin_backward", PASSES),
    "a post-accumulate hook on the parameters": Way(_post_hooked, "a step is begin_backward", PASSES),
    "a full backward hook on a module": Way(_module_hooked, "a step is set_history", PASSES),
    "an `autograd.Function`": Way(_custom, "a step is set_history", PASSES),
    "`checkpoint`": Way(_checkpointed, "a step is stored_rng", "the random state is kept for the pass"),
    "`saved_tensors_hooks`": Way(_packed, "a step is drop_saved", "the client packs what nodes save"),
    "anomaly detection": Way(
        _anomaly, "a step is begin_backward", "the client follows the pass node by node"
    ),
    "forward mode": Way(
        _forward_mode, "a step is enter_dual_level, a step is exit_dual_level",
        "tangents are kept beside tensors",
    ),
    "`p.data = ...`": Way(_data_replaced, "a step is set_data", "the tensor gets other memory"),
    "`manual_seed` in each step": Way(_reseeded, "a step is manual_seed", "the random stream begins anew"),
    "a new shape in each step": Way(_new_shapes, "first sighting", "each shape is a program"),
    "`optim.LBFGS`, until its history is full": Way(
        lambda task: None, "first sighting", "each step's program is longer than the one before it"
    ),
}  # fmt: skip


def steps_of_way(name: str) -> tuple[Any, Callable[[], Any]]:
    """As `steps_of`, of a way."""
    if "LBFGS" in name:
        return steps_of(Loop(optimizer="LBFGS"))
    task = Task()
    return task.model, lambda: WAYS[name].step(task)


def section() -> str:
    """What docs/speed.md says of what is planned, from runs of all ways."""
    parts = {
        "layer": LAYERS | LOOKUPS, "loss": LOSSES, "optimizer": OPTIMIZERS.keys() - GROWS,
        "schedule": SCHEDULES, "clipping of gradients": CLIPS,
    }  # fmt: skip
    planned, rows = [], []
    for name, way in WAYS.items():
        ran = run(lambda name=name: steps_of_way(name))
        if not ran.whys:
            planned.append(name)
            continue
        how = "in part" if ran.planned else "no"
        rows.append(f"| {name} | {how} | {said(ran.whys)} | {way.because} |\n")
    counted = [f"{name} ({len(found)})" for name, found in parts.items()]
    text = TEXT.format(parts=_listed(counted), planned=_listed(planned))
    return textwrap.fill(text, 120, break_long_words=False) + "\n" + TABLE + "".join(rows)


def said(whys: set[str]) -> str:
    """What the profile says, of several things."""
    return ", ".join(sorted(whys))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1]


def page(text: str) -> str:
    """The page with its section as it should be."""
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}{section()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__" and "--write" in sys.argv:
    PAGE.write_text(page(PAGE.read_text()))
