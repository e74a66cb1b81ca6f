"""Operators of one's own: Python functions with a name, and with a gradient that is written by hand.

As https://docs.pytorch.org/docs/stable/library.html. What is registered for compilers (fake kernels) is kept
but not asked: a call runs the function, whose operations are recorded like any others.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from gradd_engine.custom import Function
from gradd_engine.graph import is_grad_enabled, no_grad

from ._tensor import Tensor
from .utils._pytree import tree_leaves

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "impl",
    "ops",
    "register_autograd",
    "register_fake",
    "register_kernel",
]


class CustomOpDef:
    """An operator, ``namespace::name``: called as the function that it was made of."""

    def __init__(self, name: str, fn: Callable[..., Any] | None = None, mutates: Any = ()) -> None:
        self._qualname, self._fn, self._mutates = name, fn, mutates
        self._fake: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        self.__name__ = name.rpartition("::")[2]

    @property
    def default(self) -> CustomOpDef:
        """The operator itself: it has no overloads."""
        return self

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Keep what says the shapes of results. It is not asked here."""
        self._fake = fn
        return fn

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Any:
        """Take `fn` as what computes, on whatever device: a session has one."""
        if fn is None:
            return lambda given: self.register_kernel(device_types, given)
        self._fn = fn
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Take `backward` and `setup_context`, which are as in `autograd.Function`, for the gradient."""
        self._backward, self._setup = backward, setup_context

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the operator. RuntimeError in backward where it has no gradient, NotImplementedError where
        nothing computes it.
        """
        if self._fn is None:
            raise NotImplementedError(f"{self._qualname}: no kernel was registered for it")
        bound = inspect.signature(self._fn).bind(*args, **kwargs)
        bound.apply_defaults()
        asks = is_grad_enabled() and any(
            isinstance(x, Tensor) and x.requires_grad for x in tree_leaves([bound.args, bound.kwargs])
        )
        if not asks or self._mutates:
            with no_grad():
                return self._fn(*bound.args, **bound.kwargs)
        return self._function(bound.kwargs).apply(*bound.args)

    def _function(self, options: dict[str, Any]) -> Any:
        """The operator as an autograd.Function of its positional arguments."""
        op = self

        class OperatorFunction(Function):
            @staticmethod
            def forward(*args: Any) -> Any:
                assert op._fn is not None
                return op._fn(*args, **options)

            @staticmethod
            def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
                if op._setup is not None and options:
                    op._setup(ctx, inputs, options, output)
                elif op._setup is not None:
                    op._setup(ctx=ctx, inputs=inputs, output=output)

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                if op._backward is None:
                    raise RuntimeError(
                        f"Trying to backward through {op._qualname} but no autograd formula was registered. "
                        "Please use register_autograd to add one."
                    )
                return op._backward(ctx, *grads)

        return OperatorFunction

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"


class _Namespace:
    """The operators of one namespace, as attributes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> CustomOpDef:
        found = _defined.get(f"{self._name}::{name}")
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        return found


class _Operators:
    """`torch.ops`: the operators that were registered here, by namespace. PyTorch's own are not."""

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Namespace(name)

    @staticmethod
    def load_library(path: Any) -> None:
        """OSError: what is compiled against PyTorch cannot be loaded."""
        raise OSError(f"{path}: gradd loads no operators that are compiled against PyTorch")


_defined: dict[str, CustomOpDef] = {}
#: what `torch.ops` is
ops = _Operators()


def _qualified(name: str) -> str:
    if name.count("::") != 1:
        raise ValueError(
            f"Expected {name} to be a fully-qualified name: one '::' between a namespace and a name"
        )
    return name


def _of(op: Any) -> CustomOpDef:
    """The operator of a name, which is made where it is new."""
    if isinstance(op, CustomOpDef):
        return op
    return _defined.setdefault(_qualified(op), CustomOpDef(op))


def custom_op(
    name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: str | Iterable[str],
    device_types: Any = None, schema: str | None = None, tags: Any = None,
) -> Any:  # fmt: skip
    """Make an operator of `fn`, or return the decorator that does (torch.library.custom_op).

    ``torch.ops.<namespace>.<name>`` is it, too. ValueError for a name without a namespace.
    """
    if fn is None:
        return lambda given: custom_op(name, given, mutates_args=mutates_args)
    _defined[_qualified(name)] = made = CustomOpDef(name, fn, mutates_args)
    return made


def register_fake(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None, **_: Any) -> Any:
    """Keep what says the shapes of an operator's results; also a decorator (torch.library.register_fake)."""
    return _of(op).register_fake if func is None else _of(op).register_fake(func)


def register_kernel(
    op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None
) -> Any:
    """Take `func` as what computes an operator; also as a decorator (torch.library.register_kernel)."""
    return _of(op).register_kernel(device_types, func)


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None,
    lib: Any = None,
) -> None:  # fmt: skip
    """Give an operator its gradient (torch.library.register_autograd)."""
    _of(op).register_autograd(backward, setup_context=setup_context)


def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """Name an operator, which `impl` makes computable (torch.library.define)."""
    _of(qualname)


def impl(qualname: str, types: Any, func: Callable[..., Any] | None = None, *, lib: Any = None) -> Any:
    """Take `func` as what computes an operator; also as a decorator (torch.library.impl)."""
    return _of(qualname).register_kernel(types, func)


class Library:
    """Operators of a namespace, defined by their schemas (torch.library.Library)."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError("Unsupported kind: " + kind)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", **_: Any) -> str:
        """Name an operator by its schema, ``name(Tensor x) -> Tensor``. Returns its name."""
        name = schema.partition("(")[0].partition(".")[0].strip()
        _of(f"{self.ns}::{name}")
        return name

    def impl(self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", **_: Any) -> None:
        """Take `fn` as what computes an operator of the namespace; what is for "Meta" is not asked."""
        op = _of(f"{self.ns}::{str(op_name).rpartition('::')[2]}")
        if (dispatch_key or self.dispatch_key) == "Meta":
            op.register_fake(fn)
        else:
            op.register_kernel(None, fn)
