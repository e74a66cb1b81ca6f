"""Layers that store their arguments and call a function of torch.nn.functional.

Each is one row of a table (`_table`): its name, what it stores, what it calls. Its `__init__` and `forward`
are written from the row as Python text, with signatures of their own, when they are first looked at.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

from . import functional
from .module import Module

if TYPE_CHECKING:
    from collections.abc import Callable

#: legacy arguments of losses, which `reduction` stands for
_LEGACY = frozenset({"size_average", "reduce"})


class Stored(Module):
    """A layer that prints what it stores: the names in `shown`, and that it overwrites its input."""

    shown: ClassVar[tuple[str, ...]] = ()

    def extra_repr(self) -> str:
        """What it was made with."""
        parts = [f"{name}={getattr(self, name)!r}" for name in self.shown if name != "inplace"]
        return ", ".join(parts + ["inplace=True"] * ("inplace" in self.shown and bool(self.inplace)))


class Written:
    """A method that is written from its layer's row when it is first looked at, and then stands there."""

    def __init__(self, name: str, text: str, base: type[Module], doc: str | None) -> None:
        self._name, self._text, self._base, self._doc = name, text, base, doc

    def __set_name__(self, owner: type[Module], name: str) -> None:
        self._owner = owner

    def __get__(self, made: Any, owner: type[Module] | None = None) -> Any:
        """The function, bound where an instance asks."""
        # Compiled as the SDK's own, so that call sites are looked for beyond it.
        code = compile(
            f"from __future__ import annotations\n{self._text}", f"{__file__}:{self._owner.__name__}", "exec"
        )
        names: dict[str, Any] = {"F": functional, "base": self._base}
        exec(code, names)
        fn: Callable[..., Any] = names[self._name]
        fn.__qualname__, fn.__module__ = f"{self._owner.__qualname__}.{self._name}", self._owner.__module__
        fn.__doc__ = self._doc
        setattr(self._owner, self._name, fn)
        return fn if made is None else fn.__get__(made, owner)


def _under(name: str, init: Any) -> FunctionType:
    """A base's `__init__` as the layer's own: what Python says of wrong arguments names the layer."""
    made = FunctionType(init.__code__, init.__globals__, "__init__", init.__defaults__, init.__closure__)
    made.__annotations__, made.__qualname__ = init.__annotations__, f"{name}.__init__"
    return made


def _names(parameters: str) -> list[str]:
    """The names among parameters that are given as text: ``dim: int, eps: float = 1e-8``."""
    return [part.partition(":")[0].strip() for part in parameters.split(",") if ":" in part]


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

    `calls` is the function with what `forward` is given, ``l1_loss(input, target)``; the function gets, by
    name, what the layer stores too, or of that what `passes` names (``p=norm``: as `p` what is stored as
    `norm`). `parameters` are the constructor's; without them it is that of `base`, which takes those of its
    own in any case. A tensor among the others is stored as a buffer. `gives` says of what shape the result
    is and `returns` its type, `shows` what is printed (else all that the row stores).
    """
    function, _, inputs = calls.removesuffix(")").partition("(")
    taken = list(inspect.signature(base.__init__).parameters)[1:] if base is not Stored else []
    own = _names(parameters)
    given = [n for n in own or taken if n not in _LEGACY] if passes is None else passes.split()
    passed = "".join(f", {to}=self.{of or to}" for to, _, of in (n.partition("=") for n in given))
    members: dict[str, Any] = {
        "__doc__": doc,
        "__module__": __package__,
        "forward": Written(
            "forward",
            f"def forward(self, {', '.join(f'{n}: Tensor' for n in inputs.split(', '))}) -> {returns}:\n"
            f"    return F.{function}({inputs}{passed})",
            base,
            gives,
        ),
    }
    if own:
        kinds = dict(zip(own, (part.partition(":")[2] for part in parameters.split(",")), strict=True))
        lines = [f"base.__init__(self{''.join(f', {n}={n}' for n in taken if n in own)})"]
        lines += [
            f"self.register_buffer({n!r}, {n})" if "Tensor" in kinds[n] else f"self.{n} = {n}"
            for n in own
            if n not in taken
        ]
        text = f"def __init__(self, {parameters}) -> None:\n    " + "\n    ".join(lines)
        members["__init__"] = Written("__init__", text, base, None)
    elif base is not Stored:
        members["__init__"] = _under(name, base.__init__)
    if issubclass(base, Stored):
        members["shown"] = tuple(own if shows is None else shows.split())
    return type(name, (base,), members)
