"""Saving and loading a module's state as a flat dictionary, with PyTorch's hooks, checks and messages.

Source: https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
"""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from gradd_engine.graph import no_grad

from .._tensor import Tensor
from ._hooks import Hooked
from ._registry import HookHandle, Hooks, add
from .parameter import Parameter, is_lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HOOKS = (
    "_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip
_EXTRA = "_extra_state"
_NEVER = "Reached a code path in Module.{}() that should never be called: a module that has one defines both."


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


class _OfModule:
    """A hook that is given its module first, and does not keep it alive."""

    def __init__(self, hook: Callable[..., Any], module: Any) -> None:
        self._hook, self._module = hook, weakref.ref(module)

    def __call__(self, *args: Any) -> Any:
        module = self._module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self._hook(module, *args)

    def __deepcopy__(self, memo: dict[int, Any]) -> _OfModule:
        module = self._module()
        return _OfModule(self._hook, memo.get(id(module), module))


class Loadable(Hooked):
    """The state dictionary of a module and all below it: saving, loading, and the hooks of both."""

    _version: int = 1
    _state_dict_pre_hooks: Hooks
    _state_dict_hooks: Hooks
    _load_state_dict_pre_hooks: Hooks
    _load_state_dict_post_hooks: Hooks

    def __init__(self) -> None:
        super().__init__()
        self.__dict__.update({name: OrderedDict() for name in HOOKS})

    # -- saving ------------------------------------------------------------------------------------

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Parameters and persistent buffers by dotted name: detached, or themselves with `keep_vars`."""
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict "
                "for details.",
                FutureWarning,
                stacklevel=2,
            )
            given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination = given["destination"] if destination is None else destination
            prefix, keep_vars = prefix or given.get("prefix", ""), keep_vars or given.get("keep_vars", False)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        about = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = about
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, about)
            if changed is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = changed
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Add this module's own state; what subclasses extend."""
        for name, tensor in self._own_state():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Loadable.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def _own_state(self) -> Iterator[tuple[str, Tensor]]:
        """The module's own parameters and persistent buffers."""
        for name, param in self._parameters.items():
            if param is not None:
                yield name, param
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                yield name, buffer

    def get_extra_state(self) -> Any:
        """What else is to be in the state dictionary; subclasses that have some define it."""
        raise RuntimeError(_NEVER.format("get_extra_state"))

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` returned; subclasses that have some define it."""
        raise RuntimeError(_NEVER.format("set_extra_state"))

    # -- loading -----------------------------------------------------------------------------------

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy `state_dict` into this module's tensors, or replace them with its tensors if `assign`.

        RuntimeError lists every wrong size and, if `strict`, every missing and unexpected name.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        found = _IncompatibleKeys([], [])
        errors: list[str] = []
        about = getattr(state_dict, "_metadata", None)
        given: Any = OrderedDict(state_dict)
        if about is not None:
            given._metadata = about
        with no_grad():
            self._load(given, "", about or {}, assign, found, errors)
        if strict:
            for kind, keys in (("Unexpected", found.unexpected_keys), ("Missing", found.missing_keys)):
                if keys:
                    names = ", ".join(f'"{key}"' for key in keys)
                    errors.insert(0, f"{kind} key(s) in state_dict: {names}. ")
        if errors:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors)
            )
        return found

    def _load(
        self,
        state: dict[str, Any],
        prefix: str,
        about: Mapping[str, Any],
        assign: bool,
        found: _IncompatibleKeys,
        errors: list[str],
    ) -> None:
        local = about.get(prefix[:-1], {})
        if assign:
            local["assign_to_params_buffers"] = assign
        self._load_from_state_dict(state, prefix, local, True, *found, errors)
        for name, child in self._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                part = {k: v for k, v in state.items() if k.startswith(below)}
                child._load(part, below, about, assign, found, errors)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, found) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return "
                    "new values, if incompatible_keys need to be modified, it should be done inplace."
                )

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module's own state, and add to the lists what is wrong; what subclasses extend."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = dict(self._own_state())
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                assign = local_metadata.get("assign_to_params_buffers", False)
                problem = self._take(key, name, tensor, state_dict[key], assign)
                error_msgs.extend([] if problem is None else [problem])
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA
        takes_extra = type(self).set_extra_state is not Loadable.set_extra_state
        if takes_extra and extra in state_dict:
            self.set_extra_state(state_dict[extra])
        elif strict and takes_extra:
            missing_keys.append(extra)
        if strict:
            for key in state_dict:
                head, dot, _ = key[len(prefix) :].partition(".")
                if not key.startswith(prefix) or (takes_extra and key == extra):
                    continue
                if head not in (self._modules if dot else own):
                    unexpected_keys.append(key)

    def _take(self, key: str, name: str, tensor: Any, given: Any, assign: bool) -> str | None:
        """Copy or assign one tensor; what is wrong with it, if anything is."""
        if not isinstance(given, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object '
                f"from checkpoint but received {type(given)}"
            )
        if is_lazy(tensor) and is_lazy(given):
            return None
        if not is_lazy(tensor) and tensor.dim() == 0 and tuple(given.shape) == (1,):
            given = given[0]  # as PyTorch before 0.4 saved scalars
        if tuple(given.shape) != tuple(tensor.shape):
            return (
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
                f"the shape in current model is {tensor.shape}."
            )
        try:
            if not assign:
                tensor.copy_(given)
                return None
            if isinstance(tensor, Parameter):
                if isinstance(given, Parameter):
                    given.requires_grad_(tensor.requires_grad)
                else:
                    given = Parameter(given, tensor.requires_grad)
            setattr(self, name, given)
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{tensor.size()} and whose dimensions in the checkpoint are {given.size()}, an exception "
                f"occurred : {error.args}."
            )
        return None

    # -- hooks -------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(module, prefix, keep_vars)`` before `state_dict` collects this module's state."""
        return add(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Any) -> HookHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after `state_dict`; it may write."""
        hook._from_public_api = True
        return add(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """As `register_state_dict_post_hook`; what it returns replaces the outermost dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously "
                "registered via register_state_dict_post_hook"
            )
        return add(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs)`` before this module's state is loaded; it may write to all of them.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> HookHandle:
        """As `register_load_state_dict_pre_hook`, without the module unless `with_module`."""
        return add(self._load_state_dict_pre_hooks, _OfModule(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(module, incompatible_keys)`` after loading; it may change the lists of keys."""
        return add(self._load_state_dict_post_hooks, hook)
