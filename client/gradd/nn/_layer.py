"""Layers that store their arguments and call a function of torch.nn.functional.

Each is a row of a table (`_table`): its name, what it stores, what it calls. Its `__init__` and `forward` are
generated from the row as Python text, with their own signatures, on first access.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

from . import functional
from .module import Module

if TYPE_CHECKING:
    from collections.abc import Callable

#: legacy arguments of losses, replaced by `reduction`
_LEGACY = frozenset({"size_average", "reduce"})


class Stored(Module):
    """A layer that prints what it stores: the names in `shown`, and whether it is in place."""

    shown: ClassVar[tuple[str, ...]] = ()

    def extra_repr(self) -> str:
        """Its arguments."""
        parts = [f"{name}={getattr(self, name)!r}" for name in self.shown if name != "inplace"]
        return ", ".join(parts + ["inplace=True"] * ("inplace" in self.shown and bool(self.inplace)))


class Written:
    """A method that is generated from its layer's row on first access, and replaces this."""

    def __init__(self, name: str, write: Callable[[], str], base: type[Module], doc: str | None) -> None:
        self._name, self._write, self._base, self._doc = name, write, base, doc

    def __set_name__(self, owner: type[Module], name: str) -> None:
        self._owner = owner

    def __get__(self, made: Any, owner: type[Module] | None = None) -> Any:
        """The function, bound if accessed on an instance."""
        text = f"from __future__ import annotations\n{self._write()}"
        # Compiled as a file of the SDK, so that call sites skip it.
        code = compile(text, f"{__file__}:{self._owner.__name__}", "exec")
        names: dict[str, Any] = {"F": functional, "base": self._base}
        exec(code, names)
        fn: Callable[..., Any] = names[self._name]
        fn.__qualname__, fn.__module__ = f"{self._owner.__qualname__}.{self._name}", self._owner.__module__
        fn.__doc__ = self._doc
        setattr(self._owner, self._name, fn)
        return fn if made is None else fn.__get__(made, owner)


def under(name: str, init: Any) -> FunctionType:
    """A base's `__init__` under the layer's name, for Python's messages about wrong arguments."""
    made = FunctionType(init.__code__, init.__globals__, "__init__", init.__defaults__, init.__closure__)
    made.__annotations__, made.__qualname__ = init.__annotations__, f"{name}.__init__"
    return made


def _taken(base: Any) -> list[str]:
    """The parameters of a base's constructor."""
    code = base.__init__.__code__
    return [] if base is Stored else list(code.co_varnames[1 : code.co_argcount])


def _init(parameters: list[str], base: type[Module]) -> str:
    """A constructor that gives `base` its parameters and stores the others."""
    own = {p.partition(":")[0]: p for p in parameters}
    taken = _taken(base)
    lines = [f"base.__init__(self{''.join(f', {n}={n}' for n in taken if n in own)})"]
    lines += [
        f"self.register_buffer({n!r}, {n})" if "Tensor" in p else f"self.{n} = {n}"
        for n, p in own.items()
        if n not in taken
    ]
    return f"def __init__(self, {', '.join(parameters)}) -> None:\n    " + "\n    ".join(lines)


def _forward(function: str, inputs: list[str], passes: list[str], returns: str) -> str:
    """A call of `function` with the inputs and what is stored, by position as far as possible."""
    called = inspect.signature(getattr(functional, function)).parameters.values()
    places = [p.name for p in called if p.kind is p.POSITIONAL_OR_KEYWORD][len(inputs) :]
    pairs = [(to, of or to) for to, _, of in (name.partition("=") for name in passes)]
    together = [to == place for (to, _), place in zip(pairs, places, strict=False)]
    count = (*together, False).index(False)
    given = [
        *inputs,
        *(f"self.{of}" for _, of in pairs[:count]),
        *(f"{to}=self.{of}" for to, of in pairs[count:]),
    ]
    typed = ", ".join(f"{name}: Tensor" for name in inputs)
    return f"def forward(self, {typed}) -> {returns}:\n    return F.{function}({', '.join(given)})"


def layer(
    name: str,
    calls: str,
    doc: str,
    parameters: str = "",
    *,
    base: type[Module] = Stored,
    passes: str | None = None,
    gives: str = "The same shape.",
    returns: str = "Tensor",
    shows: str | None = None,
) -> type[Module]:
    """A layer from a row.

    `calls`: the function with the arguments of `forward`, ``l1_loss(input, target)``. It also gets what the
    layer stores, or only what `passes` names (``p=norm``: pass `norm` as `p`). `parameters`: the
    constructor's, by default that of `base`; those of `base` are passed on to it, the others stored, tensors
    as buffers. `gives`: the shape of the result; `returns`: its type; `shows`: what is printed (default: all
    that the row stores).
    """
    function, _, inputs = calls.removesuffix(")").partition("(")
    given = parameters.split(", ") if parameters else []
    own = [p.partition(":")[0] for p in given]
    stored = [n for n in own or _taken(base) if n not in _LEGACY] if passes is None else passes.split()
    members: dict[str, Any] = {
        "__doc__": doc,
        "__module__": __package__,
        "forward": Written(
            "forward", lambda: _forward(function, inputs.split(", "), stored, returns), base, gives
        ),
    }
    if given:
        members["__init__"] = Written("__init__", lambda: _init(given, base), base, None)
    elif base is not Stored:
        members["__init__"] = under(name, base.__init__)
    if issubclass(base, Stored):
        members["shown"] = tuple(own if shows is None else shows.split())
    return type(name, (base,), members)
