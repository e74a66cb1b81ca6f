"""``__torch_function__``: classes and modes of a user's own that decide what PyTorch's functions do.

As https://docs.pytorch.org/docs/stable/notes/extending.html has it. Nobody pays for it who does not use it:
the functions are as they were declared until the first class or mode that overrides them, and `gate` has them
ask from then on.
"""

from __future__ import annotations

import threading
import warnings
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.data import state

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class _Here(threading.local):
    """What this thread lets decide."""

    #: whether classes may: not within `Tensor.__torch_function__`
    classes: bool = True
    #: the modes that were entered, the innermost last
    modes: tuple[Any, ...] = ()


here = _Here()
#: whether a class overrides functions, of those that were asked about
_known: dict[type, bool] = {}
#: what classes and modes are told is called, by function; what is not in it is not overridden
NAMES: dict[Any, str] = {}


#: the functions that ask, each with what it was
_asked: list[tuple[FunctionType, FunctionType]] = []


def disabled(*args: Any, **kwargs: Any) -> Any:
    """The ``__torch_function__`` of classes that override nothing, though they are derived from one that
    does: ``torch._C._disabled_torch_function_impl``.
    """
    return NotImplemented


class Without:
    """A context in which classes override nothing, and without `modes` modes neither
    (``torch._C.DisableTorchFunctionSubclass``, ``torch._C.DisableTorchFunction``).
    """

    modes: ClassVar[bool] = True

    def __enter__(self) -> None:
        self._before = here.classes, here.modes
        here.classes = False
        if not self.modes:
            here.modes = ()

    def __exit__(self, *_: object) -> None:
        here.classes, here.modes = self._before


class WithoutAny(Without):
    """A context in which nothing is overridden."""

    modes = False


def overrides(cls: type) -> bool:
    """Whether objects of a class decide what functions do with them."""
    found = _known.get(cls)
    if found is None:
        method = getattr(cls, "__torch_function__", None)
        plain = method is None or method is disabled or "_by_users" in cls.__dict__ or issubclass(cls, type)
        # What a class of gradd's own inherits is for classes of users: it makes results of that class.
        inherited = ours(cls.__module__) and "__torch_function__" not in cls.__dict__
        found = _known[cls] = not (plain or inherited)
    return found


def ours(module: str) -> bool:
    """Whether a module is gradd's own."""
    return module.partition(".")[0] in ("gradd", "gradd_engine")


def deciding(args: Iterable[Any]) -> list[Any]:
    """The arguments, also within lists and tuples, that decide what a function does: one of each class, a
    class before those that it is derived from.
    """
    found: list[Any] = []
    for x in args:
        kind = x.__class__
        for one in x if kind is list or kind is tuple else (x,):
            if overrides(one.__class__) and not any(type(o) is type(one) for o in found):
                before = [i for i, o in enumerate(found) if issubclass(type(one), type(o))]
                found.insert(before[0] if before else len(found), one)
    return found


def decided(function: Any, relevant: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the innermost mode makes of a call, or else the first of the `relevant` arguments that does not
    say NotImplemented. TypeError where all say so.
    """
    kinds = tuple(type(x) for x in relevant)
    given = (args, kwargs) if kwargs else (args,)
    modes = here.modes
    if modes:
        here.modes = modes[:-1]
        try:
            found = modes[-1].__torch_function__(function, kinds, *given)
        finally:
            here.modes = modes
        if found is not NotImplemented:
            return found
    for x in relevant:
        method = x.__torch_function__
        if getattr(method, "__self__", None) is x:
            warnings.warn(
                "Defining your `__torch_function__` as a plain method is deprecated and will be an error in "
                "future, please define it as a classmethod.",
                DeprecationWarning,
                stacklevel=3,
            )
        found = method(function, kinds, *given)
        if found is not NotImplemented:
            return found
    name = NAMES.get(function) or getattr(function, "__qualname__", repr(function))
    said = [f"  - mode object {modes[-1]!r}\n"] if modes else []
    said += [f"  - tensor subclass {kind!r}\n" for kind in kinds]
    raise TypeError(
        f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:\n\n"
        + "".join(said)
    )


def _asking(*args: Any, _ask: Any, _plain: Any, **kwargs: Any) -> Any:
    found = _ask(args, kwargs)
    return _plain(*args, **kwargs) if found is NotImplemented else found


def gate(function: FunctionType, told: Any, modes_alone: bool = False) -> None:
    """Have a function ask before it runs, whoever holds it: it stays the same object with other code.

    `told` is what classes and modes are told is called; `modes_alone` if classes have no say in it.
    """
    code, kwdefaults = function.__code__, function.__kwdefaults__
    if kwdefaults and "_ask" in kwdefaults:
        return
    plain = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    plain.__qualname__ = function.__qualname__  # Python says it where arguments are missing
    plain.__kwdefaults__, plain.__doc__, plain.__annotations__ = (
        kwdefaults,
        function.__doc__,
        function.__annotations__,
    )

    def ask(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not state.depth:  # what an op does inside is its own
            relevant: list[Any] = []
            if here.classes and not modes_alone:
                relevant = deciding((*args, *kwargs.values()) if kwargs else args)
            if relevant or here.modes:
                return decided(told, relevant, args, kwargs)
        return NotImplemented

    if "__wrapped__" not in function.__dict__:
        function.__wrapped__ = plain  # type: ignore[attr-defined]  # where inspect looks for the signature
    _asked.append((function, plain))
    function.__defaults__, function.__kwdefaults__ = None, {"_ask": ask, "_plain": plain}
    # A function's code must name as many variables of enclosing functions as the function holds. Its file and
    # line are the function's: what looks for the script's line passes it by.
    function.__code__ = _asking.__code__.replace(
        co_freevars=code.co_freevars, co_name=code.co_name, co_qualname=code.co_qualname,
        co_filename=code.co_filename, co_firstlineno=code.co_firstlineno,
    )  # fmt: skip


def ungate() -> None:
    """Have no function ask any more: all are as they were declared."""
    while _asked:
        function, plain = _asked.pop()
        function.__code__ = plain.__code__
        function.__defaults__, function.__kwdefaults__ = plain.__defaults__, plain.__kwdefaults__
        if function.__dict__["__wrapped__"] is plain:
            del function.__dict__["__wrapped__"]
