"""Saving and loading a module's state as a flat dictionary, with PyTorch's checks and messages.

Source: https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from gradd_engine.graph import no_grad

from .._tensor import Tensor
from .parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._tree import Tree


class _IncompatibleKeys(NamedTuple):
    """The keys that load_state_dict found on one side only."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    def __str__(self) -> str:
        return repr(self)


def _own(module: Tree) -> Iterator[tuple[str, Tensor]]:
    """The module's own parameters and persistent buffers."""
    for name, param in module._parameters.items():
        if param is not None:
            yield name, param
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            yield name, buffer


def collect(module: Tree, into: dict[str, Any], prefix: str, keep_vars: bool) -> None:
    """Add the state of `module` and all below it to `into`."""
    for name, tensor in _own(module):
        into[prefix + name] = tensor if keep_vars else tensor.detach()
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=into, prefix=f"{prefix}{name}.", keep_vars=keep_vars)


def load(module: Tree, state: Any, strict: bool, assign: bool) -> _IncompatibleKeys:
    """Copy `state` into the module's tensors; RuntimeError lists all mismatches."""
    if not isinstance(state, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state)}.")
    found = _IncompatibleKeys([], [])
    errors: list[str] = []
    with no_grad():
        _load(module, OrderedDict(state), "", assign, found, errors)
    if strict:
        for kind, keys in (("Unexpected", found.unexpected_keys), ("Missing", found.missing_keys)):
            if keys:
                names = ", ".join(f'"{key}"' for key in keys)
                errors.insert(0, f"{kind} key(s) in state_dict: {names}. ")
    if errors:
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t" + "\n\t".join(errors)
        )
    return found


def _load(
    module: Tree,
    state: dict[str, Any],
    prefix: str,
    assign: bool,
    found: _IncompatibleKeys,
    errors: list[str],
) -> None:
    own = dict(_own(module))
    for name, tensor in own.items():
        key = prefix + name
        if key not in state:
            found.missing_keys.append(key)
        elif (problem := _misfit(key, tensor, state[key])) is not None:
            errors.append(problem)
        elif assign:
            _assign(module, name, tensor, state[key])
        else:
            tensor.copy_(state[key])
    for key in state:
        head, dot, _ = key[len(prefix) :].partition(".")
        if module._modules.get(head) is None if dot else head not in own:
            found.unexpected_keys.append(key)
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            _load(
                child, {k: v for k, v in state.items() if k.startswith(below)}, below, assign, found, errors
            )


def _misfit(key: str, tensor: Tensor, given: Any) -> str | None:
    if not isinstance(given, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
            f"checkpoint but received {type(given)}"
        )
    if tuple(given.shape) != tuple(tensor.shape):
        return (
            f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
            f"the shape in current model is {tensor.shape}."
        )
    return None


def _assign(module: Tree, name: str, tensor: Tensor, given: Tensor) -> None:
    if isinstance(tensor, Parameter) and not isinstance(given, Parameter):
        given = Parameter(given, tensor.requires_grad)
    setattr(module, name, given)
