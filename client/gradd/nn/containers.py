"""Modules that hold others: Sequential, ModuleList, ModuleDict, and ParameterList, ParameterDict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

from .._tensor import Tensor
from .module import Module, _indented
from .parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, KeysView


def _given(values: Any, method: str, pairs: bool = False) -> list[Any]:
    """The elements of an iterable; TypeError, naming the method, for anything else."""
    if isinstance(values, Tensor) or not isinstance(values, Iterable):
        what = "an iterable of key/value pairs" if pairs else "an iterable"
        raise TypeError(f"{method} should be called with {what}, but got {type(values).__name__}")
    return list(values)


def _pairs(values: Any, kind: str, method: str) -> Iterator[tuple[Any, Any]]:
    """Keys and values; TypeError or ValueError for elements that are no pairs."""
    for i, pair in enumerate(_given(values, f"{method}.update", pairs=True)):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{kind} update sequence element #{i} should be Iterable; is{type(pair).__name__}"
            )
        found = tuple(pair)
        if len(found) != 2:
            raise ValueError(f"{kind} update sequence element #{i} has length {len(found)}; 2 is required")
        yield found


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
        for module in _given(modules, f"{type(self).__name__}.extend"):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Insert a module before `index`."""
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
    """Modules called in order, each on the result of the previous one.

    Takes modules, or one ordered dict of names and modules.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], Mapping) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def insert(self, index: int, module: Module) -> Self:
        """Insert a module before `index`; IndexError for one past the end or the beginning."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        return super().insert(index, module)

    def forward(self, input: Any) -> Any:
        """The last module's result."""
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(dict(list(self._modules.items())[index]))
        return self._modules[self._name(index)]

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self).__iadd__(other)

    def __iadd__(self, other: Sequential) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return self.extend(list(other))

    def __mul__(self, times: int) -> Sequential:
        return Sequential(*self).__imul__(times)

    def __rmul__(self, times: int) -> Sequential:
        return self * times

    def __imul__(self, times: int) -> Self:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return self.extend(list(self) * (times - 1))


class ModuleList(_Numbered):
    """A list whose modules are registered."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._name(index)]

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __repr__(self) -> str:
        """Equal consecutive modules share a line: ``(0-2): 3 x Linear(...)``."""
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
        mapped = isinstance(modules, (Mapping, ModuleDict))
        for name, module in modules.items() if mapped else _pairs(modules, "ModuleDict", "ModuleDict"):  # type: ignore[union-attr]
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
    """A parameter's line; its type is PyTorch's old name for it, or its dtype."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    size = "x".join(map(str, value.shape))
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"{kind} containing: [{value.dtype.tensor_type if typed else value.dtype} of size {size}]"


class _Parameters(Module):
    """Holds parameters and computes nothing."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{type(self).__name__} should not be called.")


class ParameterList(_Parameters):
    """A list whose parameters are registered; tensors become parameters."""

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
        for value in _given(values, "ParameterList.extend"):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def extra_repr(self) -> str:
        """A line a parameter."""
        return "\n".join(f"  ({i}): {_line(v)}" for i, v in enumerate(self))


class ParameterDict(_Parameters):
    """A dictionary whose parameters are registered; tensors become parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        self.update(parameters or {})

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._name(key))

    def _name(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                f"'{type(key).__name__}'). Open an issue on github if you need non-string keys."
            )
        return key

    def __setitem__(self, key: str, value: Any) -> None:
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, self._name(key), value)
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

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter of that name, or `default`."""
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter of that name; if there is none, set it to `default`."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Take a parameter out and return it."""
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        """Take the last parameter out and return it with its name."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        """Take all parameters out."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> ParameterDict:
        """A new dictionary of the same parameters."""
        return ParameterDict(self)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dictionary with `default` for each of `keys`."""
        return ParameterDict((key, default) for key in keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __or__(self, other: Any) -> ParameterDict:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def update(self, parameters: Any) -> None:
        """Add or replace parameters from a mapping or pairs.

        A plain dict is sorted by name; others keep their order.
        """
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            pairs = iter(parameters.items())
        elif isinstance(parameters, Mapping):
            pairs = iter(sorted(parameters.items()))
        else:
            pairs = _pairs(parameters, "ParameterDict", "ParametersDict")
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        """A line a parameter."""
        return "\n".join(f"  ({key}): {_line(value, typed=True)}" for key, value in self.items())
