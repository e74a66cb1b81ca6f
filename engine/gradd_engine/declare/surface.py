"""The names users see: every declared op under its namespace, and hand-written forms with PyTorch's flexible
signatures.

A client builds its modules from this table, so functions, methods and declarations cannot drift apart.
"""

from __future__ import annotations

import functools
import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..schema import NUMPY_NAMES, REGISTRY, type_name
from ..tensor import Tensor
from .arguments import refused
from .methods import attach
from .out import storing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: (namespace, name) -> function; namespaces: "" (top level), "nn.functional", "linalg", "special", ...
PUBLIC: dict[tuple[str, str], Callable[..., Any]] = {}
#: functions that make tensors without tensor arguments: a client runs them on its session's backend
CREATES: set[tuple[str, str]] = set()


def numpy_spelled(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn`, which takes the keywords ``axis`` and ``keepdims`` too where it has ``dim`` and ``keepdim``.

    Declared ops need it not: their functions are written with both names.
    """
    names = _numpy_names(fn)
    if not names:
        return fn

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            _respell(fn.__name__, names, kwargs)
        return fn(*args, **kwargs)

    return call


def _numpy_names(fn: Callable[..., Any]) -> dict[str, str]:
    """NumPy's names of its parameters, unless it has one of them itself."""
    code = fn.__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    names = {alias: name for name, alias in NUMPY_NAMES.items() if name in parameters}
    return {} if names.keys() & set(parameters) else names


def _respell(function: str, names: dict[str, str], kwargs: dict[str, Any]) -> None:
    for alias, name in names.items():
        if alias in kwargs:
            if name in kwargs:
                raise TypeError(f"{function}() got an unexpected keyword argument '{alias}'")
            kwargs[name] = kwargs.pop(alias)


def of_tensor(fn: Callable[..., Any], name: str, numpy_names: bool = False) -> Callable[..., Any]:
    """`fn`, which says so where its first argument is no tensor, if it is declared as one, and asks what an
    argument that is none makes of a call that it refuses; `numpy_names` as in `public`.

    Declared ops need it not, nor do methods.
    """
    code = getattr(inspect.unwrap(fn), "__code__", None)
    notes = getattr(fn, "__annotations__", None)
    if not notes or code is None:
        return fn
    first = code.co_varnames[0] if code.co_argcount else ""
    checked, names = notes.get(first) == "Tensor", _numpy_names(fn) if numpy_names else {}

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and names:
            _respell(fn.__name__, names, kwargs)
        try:
            if checked:
                x = args[0] if args else kwargs.get(first, call)
                if not isinstance(x, Tensor) and x is not call:
                    raise TypeError(
                        f"{name}(): argument '{first}' (position 1) must be Tensor, not {type_name(x)}"
                    )
            return fn(*args, **kwargs)
        except (TypeError, AttributeError):
            found = refused(call.__dict__.get("outer", call), args, kwargs)
            if found is NotImplemented:
                raise
            return found

    return call


def all_tensors(given: Sequence[Any]) -> Sequence[Tensor]:
    """`given` itself; TypeError in PyTorch's words where something among it is no tensor."""
    for i, x in enumerate(given):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type_name(x)}")
    return given


def public(
    *namespaces: str,
    name: str | None = None,
    method: bool | str = False,
    creates: bool = False,
    numpy_names: bool = True,
    out: bool = False,
    forms: str | Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Publish a function under `namespaces` (default: top level); optionally as a Tensor method too.

    `numpy_names` is False for what is Python in PyTorch, which knows parameters by their own names alone.
    `out`: the function takes the keyword ``out``, its method does not. `forms` are the signatures that a type
    checker sees, ``(input: Tensor, dim: int) -> Tensor``, where the function's own annotations and the op of
    its name do not say it all.
    """

    def publish(fn: Callable[..., Any]) -> Callable[..., Any]:
        known = name or fn.__name__.rstrip("_")
        given = fn
        if isinstance(fn, FunctionType) and (fn.__qualname__.startswith("_") or "<" in fn.__qualname__):
            # Python's own words about wrong arguments use it.
            fn.__qualname__ = known
        if forms:
            fn.__dict__["forms"] = (forms,) if isinstance(forms, str) else tuple(forms)
        spelled = numpy_names and "nn.functional" not in namespaces
        function = numpy_spelled(fn) if creates and spelled else fn
        if not creates:
            function = of_tensor(fn, known, spelled)
        if out:
            function.__dict__["outer"] = function = storing(function, known)
        for space in namespaces or ("",):
            PUBLIC[space, known] = function
            if creates:
                CREATES.add((space, known))
        if method:
            attach(method if isinstance(method, str) else known, numpy_spelled(fn) if spelled else fn)
        return given

    return publish


def functions() -> dict[tuple[str, str], Callable[..., Any]]:
    """Everything published, and every declared op with a namespace that nothing published replaces.

    What is declared is what `gradd_engine.ops` imports: import it first.
    """
    found = dict(PUBLIC)
    for op in REGISTRY.values():
        if op.surface.namespace == "-" or op.base is not None:
            continue
        for space in op.surface.namespace.split("|"):
            # Where PyTorch has a name twice, the op is called `linalg_cross` and published as `linalg.cross`.
            name = op.name.removeprefix(f"{space}_")
            if (space, name) not in found:
                found[space, name] = op.call
                if not op.tensor_slots or op.surface.of_numbers:
                    CREATES.add((space, name))
    return found
