"""Modules that hold others: Sequential, ModuleList, ModuleDict, and ParameterList, ParameterDict."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

from .._tensor import Tensor
from .module import Module, _indented
from .parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, KeysView


class _Numbered(Module):
    """Children named 0, 1, ..."""

    def _name(self, index: Any) -> str:
        i = operator.index(index)
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} is out of range")
        return list(self._modules)[i]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name(index), module)

    def __delitem__(self, index: int | slice) -> None:
        doomed = list(self._modules)[index] if isinstance(index, slice) else [self._name(index)]
        rest = [m for name, m in self._modules.items() if name not in doomed]
        self._modules.clear()
        self._modules.update({str(i): m for i, m in enumerate(rest)})

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Put a module before the one at `index`."""
        order = list(self)
        order.insert(index, module)
        self.append(module)
        self._modules.update({str(i): m for i, m in enumerate(order)})
        return self

    def pop(self, key: int | slice) -> Any:
        """Take a module out and return it."""
        found = self[key]  # type: ignore[index]
        del self[key]
        return found


class Sequential(_Numbered):
    """Modules called one after another, each on the result of the one before.

    Made of modules, or of one ordered dict of names and modules.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], Mapping) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        """The last module's result."""
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(dict(list(self._modules.items())[index]))
        return self._modules[self._name(index)]


class ModuleList(_Numbered):
    """A list whose modules are registered."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._name(index)]

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __repr__(self) -> str:
        """Equal neighbours share a line: ``(0-2): 3 x Linear(...)``."""
        if not len(self):
            return f"{self._get_name()}()"
        lines = []
        for text, group in groupby(enumerate(map(repr, self)), key=lambda pair: pair[1]):
            places = [i for i, _ in group]
            first, last = places[0], places[-1]
            head = f"({first}): " if first == last else f"({first}-{last}): {len(places)} x "
            lines.append(_indented(head + text))
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dictionary whose modules are registered."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> KeysView[str]:
        """Names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """Modules."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add or replace modules."""
        for name, module in modules.items() if isinstance(modules, (Mapping, ModuleDict)) else modules:
            self[name] = module

    def pop(self, key: str) -> Any:
        """Take a module out and return it."""
        found = self[key]
        del self[key]
        return found

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()


def _line(value: Any, typed: bool = False) -> str:
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    size = "x".join(map(str, value.shape))
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    of = value.dtype.tensor_type if typed else value.dtype
    return f"{kind} containing: [{of} of size {size}]"


class ParameterList(Module):
    """A list whose parameters are registered; tensors put in become parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(values or ())

    def _name(self, index: int) -> str:
        i = operator.index(index)
        if not -self._size <= i < self._size:
            raise IndexError(f"index {i} is out of range")
        return str(i % self._size)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._size))

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, self._name(index))

    def __setitem__(self, index: int, value: Any) -> None:
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, self._name(index), value)

    def append(self, value: Any) -> Self:
        """Add a parameter at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add parameters at the end."""
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def extra_repr(self) -> str:
        """A line a parameter."""
        return "\n".join(f"  ({i}): {_line(v)}" for i, v in enumerate(self))


class ParameterDict(Module):
    """A dictionary whose parameters are registered; tensors put in become parameters."""

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        self.update(parameters or {})

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, key, value)
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self) -> KeysView[str]:
        """Names."""
        return self._keys.keys()

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names and parameters."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterator[Any]:
        """Parameters."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Mapping[str, Any]) -> None:
        """Add or replace parameters."""
        for key, value in parameters.items():
            self[key] = value

    def extra_repr(self) -> str:
        """A line a parameter."""
        return "\n".join(f"  ({key}): {_line(value, typed=True)}" for key, value in self.items())
