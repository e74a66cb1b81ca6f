"""A module's parameters, buffers and child modules: registering, finding and iterating.

Behaviour and messages follow https://pytorch.org/docs/stable/generated/torch.nn.Module.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from .._tensor import Tensor, type_name
from ._everywhere import BUFFERS, MODULES, PARAMETERS, told
from .parameter import Buffer, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_UNREADY = "cannot assign {} before Module.__init__() call"
_REGISTRIES = ("_parameters", "_buffers", "_modules")
#: `gradd.function` caches a module's other attributes here until one is assigned
OWN = "_own"


class Tree:
    """The attributes of modules: assigned ones go to ``_parameters``, ``_buffers`` or ``_modules``."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def __init__(self) -> None:
        self.__dict__.update(_parameters={}, _buffers={}, _modules={}, _non_persistent_buffers_set=set())

    # -- attributes --------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        held = self.__dict__
        if isinstance(value, Parameter):
            self._ready("parameters")
            self._forget(name, self._parameters)
            self.register_parameter(name, value)
        elif name in held.get("_parameters", ()):
            if value is not None:
                kind = type_name(value)
                raise TypeError(
                    f"cannot assign '{kind}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self._parameters[name] = None
        elif isinstance(value, Tree):
            self._ready("module")
            self._forget(name, self._modules)
            self._modules[name] = told(MODULES, self, name, value)
        elif name in held.get("_modules", ()):
            if value is not None:
                kind = type_name(value)
                raise TypeError(
                    f"cannot assign '{kind}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            self._modules[name] = None
        elif isinstance(value, Buffer):
            self.register_buffer(name, value, value.persistent)
        elif name in held.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)"
                )
            self._buffers[name] = told(BUFFERS, self, name, value)
        else:
            held.pop(OWN, None)
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        held = self.__dict__
        for registry in _REGISTRIES:
            found = held.get(registry)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._buffers, self._modules):
            if name in registry:
                del registry[name]
                self._non_persistent_buffers_set.discard(name)
                return
        self.__dict__.pop(OWN, None)
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        held = [*self._parameters, *self._buffers, *self._modules]
        return sorted(name for name in {*super().__dir__(), *held} if not name[0].isdigit())

    def _ready(self, what: str) -> None:
        if "_modules" not in self.__dict__:
            raise AttributeError(_UNREADY.format(what))

    def _forget(self, name: str, target: dict[str, Any]) -> None:
        """Remove `name` from all but `target`, where a replaced entry keeps its place."""
        for registry in (self.__dict__, self._parameters, self._buffers, self._modules):
            if registry is not target:
                registry.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    # -- registration ------------------------------------------------------------------------------

    def _check_name(self, what: str, name: Any, registry: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type_name(name)}")
        if hasattr(self, name) and name not in registry:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, reachable as an attribute (torch.nn.Module.register_parameter)."""
        self._ready("parameter")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type_name(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        self._parameters[name] = None if param is None else told(PARAMETERS, self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is not a parameter; `persistent` ones are part of the state_dict."""
        self._ready("buffer")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type_name(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = told(BUFFERS, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Tree | None) -> None:
        """Add a child module, reachable as an attribute."""
        self._ready("module")
        if module is not None and not isinstance(module, Tree):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = told(MODULES, self, name, module)

    def register_module(self, name: str, module: Tree | None) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    # -- walks -------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This module and all below it, parents first, with dotted names; each once if `remove_duplicate`."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(
                    memo, prefix + ("." if prefix else "") + name, remove_duplicate
                )

    def modules(self) -> Iterator[Any]:
        """This module and all below it."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Direct child modules with their names."""
        memo = set()
        for name, child in self._modules.items():
            if child is not None and child not in memo:
                memo.add(child)
                yield name, child

    def children(self) -> Iterator[Any]:
        """Direct child modules."""
        return (child for _, child in self.named_children())

    def _named(
        self, registry: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        return self._named_members(
            lambda module: getattr(module, registry).items(), prefix, recurse, remove_duplicate
        )

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """What a function gives for each module, with dotted names, each once if `remove_duplicate`."""
        seen: set[int] = set()
        below = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in below if recurse else [(prefix, self)]:
            for name, value in get_members_fn(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield path + ("." if path else "") + name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Parameters with dotted names, in order of registration, parents first."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Parameters, each once."""
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Buffers with dotted names."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Buffers, each once."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    # -- by dotted name ----------------------------------------------------------------------------

    def get_submodule(self, target: str) -> Any:
        """The module of a dotted name, itself for the empty one; AttributeError if there is none."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Tree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put `module` at a dotted name, in place of the one there, which must be there if `strict`.

        ValueError for an empty name or anything else than a module; AttributeError where there is no module.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Tree):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if hasattr(parent, name):
            if not isinstance(getattr(parent, name), Tree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        elif strict:
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        setattr(parent, name, module)

    def _get(self, target: str, wanted: Callable[[Tree, str, Any], bool], what: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        found = getattr(module, name)
        if not wanted(module, name, found):
            raise AttributeError(f"`{name}` is not {what}")
        return found

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name; AttributeError if there is none."""
        found: Parameter = self._get(target, lambda _, __, v: isinstance(v, Parameter), "an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a dotted name; AttributeError if there is none."""
        found: Tensor = self._get(target, lambda module, name, _: name in module._buffers, "a buffer")
        return found

    def apply(self, fn: Callable[[Any], Any]) -> Self:
        """Call `fn` on every module below, then on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self
