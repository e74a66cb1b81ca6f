"""Tensors, layers and containers of PyTorch's, taken over as gradd's."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch

import gradd.nn as nn

from .._session import current
from .values import sent

if TYPE_CHECKING:
    from .._tensor import Tensor

#: registries of a module, which are taken over one by one, and (by prefix) what PyTorch keeps for its kernels
_APART = ("_parameters", "_buffers", "_modules", "_flat_weight")
#: options that `gradd.nn` may refuse when a layer is made, with what it never refuses
_REFUSABLE = {"padding_mode": "zeros", "max_norm": None, "scale_grad_by_freq": False}
#: layers that PyTorch names otherwise inside of its own
_NAMES = {"NonDynamicallyQuantizableLinear": "Linear"}


def take(what: Any) -> Any:
    """See `gradd.from_torch`."""
    return Taking().anything(what)


class Taking:
    """One taking over: what occurs twice becomes one object here too."""

    def __init__(self) -> None:
        self.session = current()
        #: what was taken over, by the identity of PyTorch's object, which is kept so that it stays unique
        self._known: dict[int, tuple[Any, Any]] = {}

    def anything(self, what: Any) -> Any:
        """A tensor, a module, or dicts, lists and tuples of these. TypeError for anything else."""
        if isinstance(what, torch.Tensor):
            return self.tensor(what)
        if isinstance(what, torch.nn.Module):
            return self._module(what, "")
        if isinstance(what, dict):
            return {name: self.anything(one) for name, one in what.items()}
        if isinstance(what, (list, tuple)):
            return type(what)([self.anything(one) for one in what])
        raise TypeError(f"from_torch() takes a torch tensor or module, not {type(what).__name__}")

    def tensor(self, t: Any) -> Tensor:
        """A leaf with its values, a Parameter if it is one."""
        if id(t) not in self._known:
            made: Any
            if isinstance(t, torch.nn.Parameter):
                made = nn.Parameter(sent(t, self.session, False), t.requires_grad)
            else:
                made = sent(t, self.session, t.requires_grad)
            self._known[id(t)] = t, made
        found: Tensor = self._known[id(t)][1]
        return found

    def state(self, of: Any, into: nn.Module) -> None:
        """Put the parameters and buffers of PyTorch's module `of`, not of those below it, into `into`."""
        for name, t in of._parameters.items():
            into.register_parameter(name, None if t is None else self.tensor(t))  # type: ignore[arg-type]
        for name, t in of._buffers.items():
            persistent = name not in of._non_persistent_buffers_set
            into.register_buffer(name, None if t is None else self.tensor(t), persistent)
        into.training = of.training

    def _module(self, of: Any, path: str) -> nn.Module:
        if id(of) in self._known:
            found: nn.Module = self._known[id(of)][1]
            return found
        kind = _layer(of, path)
        if any(getattr(of, name, usual) != usual for name, usual in _REFUSABLE.items()):
            _made_anew(kind, of)
        made = kind.__new__(kind)
        nn.Module.__init__(made)
        self._known[id(of)] = of, made
        # The options, as they are now: a layer's constructor would draw initial values for nothing.
        for name, value in vars(of).items():
            if not name.startswith(_APART) and name not in vars(_BARE):
                made.__dict__[name] = _option(value, f"{path}.{name}".lstrip("."))
        self.state(of, made)
        for name, child in of._modules.items():
            below = None if child is None else self._module(child, f"{path}.{name}".lstrip("."))
            made.register_module(name, below)
        return made


#: a module without anything: its attributes are registries and hooks
_BARE = torch.nn.Module()


def _layer(of: Any, path: str) -> type[nn.Module]:
    """The class of `gradd.nn` for a module of PyTorch's."""
    name = type(of).__name__
    where = f"{path} is a {name}" if path else f"this is a {name}"
    if not type(of).__module__.startswith("torch.nn.modules."):
        raise TypeError(
            f"from_torch() takes over torch.nn's own layers and containers, and {where}, whose forward() is "
            "code that runs PyTorch. gradd.offload(model, inputs) runs it as it is; or write the class with "
            "gradd.nn, and load gradd.from_torch(model.state_dict()) into it"
        )
    found = getattr(nn, _NAMES.get(name, name), None)
    if found is None:
        raise TypeError(f"gradd.nn has no {name}: {where}. gradd.offload(model, inputs) may run it")
    hooked = [key for key, held in vars(of).items() if key.endswith("_hooks") and held]
    if hooked:
        raise TypeError(f"from_torch() takes over no hooks, and {where} that has some ({', '.join(hooked)})")
    return found  # type: ignore[no-any-return]


def _made_anew(kind: type[nn.Module], of: Any) -> nn.Module:
    """A layer from its constructor, with the options of PyTorch's."""
    given = {name: getattr(of, name) for name in inspect.signature(kind).parameters if hasattr(of, name)}
    if "bias" in given:
        given["bias"] = given["bias"] is not None
    return kind(**given)


def _option(value: Any, path: str) -> Any:
    """An attribute of a layer: a constant, or one of torch.nn.functional's functions."""
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    if isinstance(value, (list, tuple)):
        return type(value)([_option(one, path) for one in value])
    if isinstance(value, dict):
        return {name: _option(one, path) for name, one in value.items()}
    name = getattr(value, "__name__", "")
    if callable(value) and getattr(torch.nn.functional, name, None) is value and hasattr(nn.functional, name):
        return getattr(nn.functional, name)
    raise TypeError(f"from_torch() cannot take over {path}, which is a {type(value).__name__}")
