"""A model of PyTorch's that computes in a session: parameters, gradients and optimizers stay PyTorch's."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from gradd_engine.backward import grad
from gradd_engine.graph import set_grad_enabled
from torch.autograd.function import once_differentiable
from torch.utils import _pytree as pytree

from .._session import SESSIONS, current
from .._tensor import Tensor
from .values import all_fetched, all_sent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .._session import Session
    from .exported import Exported
    from .forms import Forms


class Offloaded(torch.nn.Module):  # type: ignore[misc]  # PyTorch is untyped here
    """A `torch.nn.Module` whose calls run in the session that was current when it was made.

    `module` is the model; parameters, buffers and modes are its own. A call sends the inputs and what changed
    of the parameters and buffers since the last one, and waits once, for the outputs and the buffers that the
    model updates. A backward pass sends the outputs' gradients, and waits once, for those of parameters and
    inputs. A second derivative is refused.
    """

    def __init__(self, forms: Forms) -> None:
        super().__init__()
        self.module = forms.model
        self.training = forms.model.training
        self._forms = forms
        self._state = _State(current())

    def prepare(self, args: Any, kwargs: dict[str, Any]) -> None:
        """Export the model for such inputs."""
        self._forms.find(args, kwargs)

    def resend(self) -> None:
        """Send all parameters and buffers with the next call.

        For writes that no version of a tensor counts: through its `.data`, or a NumPy array that shares its
        memory.
        """
        self._state.forget()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the model gives for these inputs."""
        program, inputs = self._forms.find(args, kwargs)
        call = _Call(self._state, program, self._forms.state(program), inputs)
        results = iter(_Run.apply(call, torch.is_grad_enabled(), *call.given))
        outputs = [next(results) if isinstance(one, Tensor) else one for one in call.outputs]
        return pytree.tree_unflatten(outputs, program.result_structure)


class _State:
    """What a session has of PyTorch's tensors that a model reads, as of the latest call."""

    def __init__(self, session: Session) -> None:
        self.session = session
        #: by identity: gradd's tensor, PyTorch's, and what tells that they are still the same
        self._kept: dict[int, tuple[Tensor, Any, Any]] = {}

    def forget(self) -> None:
        """Keep nothing."""
        self._kept = {}

    def send(self, tensors: Sequence[Any], latest: set[int]) -> dict[int, Tensor]:
        """A leaf for each tensor, by identity: of those in `latest` the one of the latest call, if it is as
        PyTorch's is.
        """
        found: dict[int, Tensor] = {}
        for t in tensors:
            leaf, _, mark = self._kept.get(id(t), (None, None, None))
            if leaf is not None and mark is not None and mark == _mark(t) and id(t) in latest:
                found[id(t)] = leaf
        others = [t for t in tensors if id(t) not in found]
        found.update(zip(map(id, others), all_sent(others, self.session), strict=True))
        self._kept = {id(t): (found[id(t)], t, _mark(t)) for t in tensors if id(t) in latest}
        return found

    def take(self, t: Any, new: Tensor, value: Any) -> None:
        """Write a new value into one of PyTorch's tensors; the session has it already."""
        with torch.no_grad():
            t.copy_(value)
        if id(t) in self._kept:
            self._kept[id(t)] = new, t, _mark(t)

    @contextmanager
    def here(self, enabled: bool) -> Iterator[None]:
        """New tensors are of this session, and graphs are made if `enabled`."""
        SESSIONS.enter(self.session)
        try:
            with set_grad_enabled(enabled):
                yield
        finally:
            SESSIONS.leave(self.session)


def _mark(t: Any) -> Any:
    """What changes when a tensor is written or given other memory; None if nothing tells."""
    return None if t.is_inference() else (t._version, t.data_ptr(), t.requires_grad)


class _Call:
    """One call of a model: its tensors of PyTorch's, and gradd's that stand for them.

    `given`: PyTorch's tensors that are read, each once. `outputs`: gradd's tensors, and constants.
    """

    def __init__(self, state: _State, program: Exported, read: list[Any], inputs: list[Any]) -> None:
        self._state, self._program, self._read, self._inputs = state, program, read, inputs
        tensors = [x for x in (*read, *inputs) if isinstance(x, torch.Tensor)]
        self.given = list({id(t): t for t in tensors}.values())
        self.outputs: list[Any] = []

    def run(self, enabled: bool) -> tuple[list[Tensor], list[Tensor], list[Any]]:
        """Leaves for what is given, the outputs that are tensors, and these as PyTorch's: one round trip."""
        state, program = self._state, self._program
        leaves = state.send(self.given, {id(t) for t in self._read})
        stand = [[leaves.get(id(x), x) for x in given] for given in (self._read, self._inputs)]
        with state.here(enabled):
            self.outputs, news = program.run(*stand)
        del stand
        outs = [one for one in self.outputs if isinstance(one, Tensor)]
        values = all_fetched([*outs, *news], state.session)
        for at, new, value in zip(program.written, news, values[len(outs) :], strict=True):
            t = self._inputs[at] if isinstance(at, int) else self._read[program.state.index(at)]
            state.take(t, new.detach(), value)
        device = self.given[0].device if self.given else None
        return [leaves[id(t)] for t in self.given], outs, [v.to(device) for v in values[: len(outs)]]

    def gradients(self, outs: list[Tensor], leaves: list[Tensor], grads: Sequence[Any]) -> list[Any]:
        """PyTorch's gradients of the leaves, None where there is none, given those of the outputs: one round
        trip.
        """
        session = self._state.session
        reached = [(out, g) for out, g in zip(outs, grads, strict=True) if g is not None]
        wanted = [leaf for leaf in leaves if leaf.requires_grad]
        if not reached:
            return [None] * len(leaves)
        with self._state.here(True):
            ends, starts = [out for out, _ in reached], all_sent([g for _, g in reached], session)
            # The graph ends with the outputs, which PyTorch lets go of when it frees its own.
            found = grad(ends, wanted, starts, retain_graph=True, allow_unused=True)
        there = [(leaf, g) for leaf, g in zip(wanted, found, strict=True) if g is not None]
        values = all_fetched([g for _, g in there], session)
        by_leaf = {id(leaf): value for (leaf, _), value in zip(there, values, strict=True)}
        return [
            None if (value := by_leaf.get(id(leaf))) is None else value.to(t.device)
            for leaf, t in zip(leaves, self.given, strict=True)
        ]


class _Run(torch.autograd.Function):  # type: ignore[misc]
    """A call as one node of PyTorch's graph."""

    @staticmethod
    def forward(ctx: Any, call: _Call, enabled: bool, *given: Any) -> tuple[Any, ...]:
        """What the call gives for `given`, its own tensors."""
        leaves, outs, values = call.run(enabled)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[v for v, o in zip(values, outs, strict=True) if not o.requires_grad])
        # PyTorch frees what is saved with the graph, and says so where it is asked for later.
        graph = torch.empty(0)
        graph.call, graph.leaves, graph.outs = call, leaves, outs
        ctx.save_for_backward(graph)
        return tuple(values)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """The gradients of what was given."""
        return _backward(ctx, *grads)  # type: ignore[no-any-return]


@once_differentiable  # type: ignore[untyped-decorator]
def _backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
    (graph,) = ctx.saved_tensors
    return None, None, *graph.call.gradients(graph.outs, graph.leaves, grads)
