"""A model of PyTorch's whose parameters live in a session: inputs and the loss are all that travels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from gradd_engine.graph import no_grad
from torch.utils import _pytree as pytree

from .._session import SESSIONS
from .._tensor import Tensor
from ..nn import Module
from .taking import Taking
from .values import all_fetched, sent

if TYPE_CHECKING:
    from .exported import Exported
    from .forms import Forms


class Resident(Module):
    """A `gradd.nn.Module` with the names, parameters, buffers and modes of a model of PyTorch's, whose calls
    run what was exported of that model.
    """

    def __init__(self, forms: Forms) -> None:
        super().__init__()
        taking = Taking()
        self._forms, self._session = forms, taking.session
        #: PyTorch's constants in the session, by the form that has them
        self._constants: dict[int, dict[str, Tensor]] = {}
        for name, module in forms.model.named_modules(remove_duplicate=False):
            path, _, own = name.rpartition(".")
            here: Module = Module() if name else self
            if name:
                self.get_submodule(path).register_module(own, here)
            taking.state(module, here)

    def prepare(self, args: Any, kwargs: dict[str, Any]) -> None:
        """Export the model for such inputs."""
        self._forms.find(args, kwargs)

    def write_back(self) -> Any:
        """Copy parameters and buffers, in one round trip, into the model that they came from; returns it."""
        model = self._forms.model
        mine = [*self.named_parameters(), *self.named_buffers()]
        values = all_fetched([t for _, t in mine], self._session)
        with torch.no_grad():
            for (name, _), value in zip(mine, values, strict=True):
                self._forms.held(name).copy_(value)
        return model

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the model gives for these inputs, tensors of either kind, as gradd's tensors."""
        modes = {name: module.training for name, module in self.named_modules(remove_duplicate=False)}
        for name, module in self._forms.model.named_modules(remove_duplicate=False):
            module.training = modes[name]
        program, inputs = self._forms.find(args, kwargs)
        given = [
            sent(x, self._session, x.requires_grad) if isinstance(x, torch.Tensor) else x for x in inputs
        ]
        state = [self._held(program, name) for name in program.state]
        SESSIONS.enter(self._session)
        try:
            outputs, news = program.run(state, given)
        finally:
            SESSIONS.leave(self._session)
        with no_grad():
            for at, new in zip(program.written, news, strict=True):
                if not isinstance(at, int):
                    state[program.state.index(at)].copy_(new)
                elif isinstance(inputs[at], Tensor):
                    inputs[at].copy_(new)
                else:
                    with torch.no_grad():
                        inputs[at].copy_(all_fetched([new], self._session)[0])
        return pytree.tree_unflatten(outputs, program.result_structure)

    def _held(self, program: Exported, name: str) -> Tensor:
        if name in program.constants:
            held = self._constants.setdefault(id(program), {})
            if name not in held:
                held[name] = sent(program.constants[name], self._session, False)
            return held[name]
        path, _, own = name.rpartition(".")
        found: Tensor = getattr(self.get_submodule(path), own)
        return found
