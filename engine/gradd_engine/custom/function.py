"""`autograd.Function`: ops whose forward and backward are the user's Python.

Forward runs in the user's process, and its ops are recorded like any others. The server has the node but not
its body: a pass pauses there (`backward/passes.py`).
Source: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function
"""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import TYPE_CHECKING, Any

from ..batching import BatchedBackend
from ..data import ambient, state
from ..declare import flat_tensors, stateful
from ..graph import no_grad
from ..schema import Histories, named
from ..tensor import Node, Tensor, detached, edge_of
from .batched_function import batched
from .context import Context
from .function_node import BackwardNode
from .function_tangents import Tangents

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class _FunctionMeta(type):
    """Creates the node class of each Function, ``<Name>Backward``."""

    _backward_cls: type[BackwardNode]

    def __init__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> None:
        super().__init__(name, bases, members)
        cls._backward_cls = type(f"{name}Backward", (BackwardNode,), {"forward_cls": cls})


class Function(metaclass=_FunctionMeta):
    """Base class of operations with a custom backward (torch.autograd.Function).

    Subclasses have static methods ``forward(ctx, *args)``, or ``forward(*args)`` and ``setup_context(ctx,
    inputs, output)``; ``backward(ctx, *grads)`` (or ``vjp``); for forward mode ``jvp(ctx, *tangents)``; for
    vmap ``vmap(info, in_dims, *args)`` or ``generate_vmap_rule = True``. Call them with ``apply``.
    """

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so "
            "you should invoke them on the class itself. Instantiating an autograd function will raise an "
            "error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError: instances of a Function are not callable."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
            "autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the operation."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Keep in `ctx` what backward needs, if forward does not take `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of all arguments, from those of all outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use "
            "it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangents of all outputs, from those of all arguments."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Compute the operation over a batch."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap static method or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward on `args`; its outputs get a node with this class's backward as their history."""
        node = cls._backward_cls()
        split = cls.setup_context is not Function.setup_context
        if state.vmaps and any(isinstance(x, Tensor) for x in kwargs.values()):
            raise NotImplementedError(
                "Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass kwarg-only "
                f"Tensors to autograd.Function. Got: {kwargs}"
            )
        given = _positional(cls.forward, split, args, kwargs)
        tensors = [a for a in given if isinstance(a, Tensor)]
        node.begin(given)
        if not split and (state.transform or state.vmaps) and not state.direct:
            raise RuntimeError(
                "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
                "...), it must override the setup_context staticmethod. For more details, please see "
                "https://pytorch.org/docs/main/notes/extending.func.html"
            )
        tangents = Tangents(given)
        try:
            over = bool(state.vmaps) or any(isinstance(t.backend, BatchedBackend) for t in tensors)
            over = over and not state.direct
            # The tensors below a vmap have their own history, even if this node does not.
            found = batched(cls, given) if over else None
            watcher = state.watcher
            inside = None if watcher is None else watcher.inside()
            with ambient(grad=False, packing=None, watcher=inside):
                if not over:
                    found = cls.forward(*given) if split else cls.forward(Context(node), *given)
                if split:
                    cls.setup_context(Context(node), given, found)
            recorded = state.grad and any(t.requires_grad for t in tensors)
            outputs = list(found) if isinstance(found, tuple) else [found]
            node.end(outputs, tensors, recorded, split)
            tangents.give(outputs, node)
            if watcher is not None:
                watcher.settle(tuple(tensors), tuple(outputs))
        finally:
            tangents.put_back()
            node.forget()
        return tuple(outputs) if isinstance(found, tuple) else outputs[0]


class InplaceFunction(Function):
    """An old name of `Function` (torch.autograd.function.InplaceFunction)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def _positional(
    forward: Callable[..., Any], split: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """The arguments of `forward` by position, as gradients are; with defaults if `split`. TypeError as in
    torch.autograd.
    """
    if not split and not kwargs:
        return args
    signature = inspect.signature(forward)
    if split:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        args, kwargs = bound.args, bound.kwargs
    names = [p.name for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    names = names if split else names[1:]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if name in names[: len(args)]:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    given = list(args)
    for at in range(len(args), len(args) + len(kwargs)):
        if names[at] not in kwargs:
            raise TypeError(f"forward() missing required argument: '{names[at]}' (position {at})")
        given.append(kwargs[names[at]])
    return tuple(given)


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a backward that is not differentiable: a second derivative raises RuntimeError
    (https://pytorch.org/docs/stable/notes/extending.html).
    """

    @functools.wraps(fn)
    def once(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not state.grad or not any(t.requires_grad for t in flat_tensors(args)):
            return outputs
        some = list(outputs) if isinstance(outputs, tuple) else [outputs]
        message = "trying to differentiate twice a function that was marked with @once_differentiable"
        marked = iter(delayed_error([o if isinstance(o, Tensor) else None for o in some], message=message))
        some = [next(marked) if isinstance(o, Tensor) else o for o in some]
        return tuple(some) if isinstance(outputs, tuple) else some[0]

    return once


class DelayedError(Node):
    """A node that raises when a pass reaches it."""

    _name = "torch::autograd::Error"

    def __init__(self, message: str) -> None:
        super().__init__()
        self._message = message

    def verify(self) -> None:
        """Raise RuntimeError with the node's message."""
        raise RuntimeError(self._message)

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """Raise RuntimeError with the node's message."""
        raise RuntimeError(self._message)


def _delayed(tensors: Sequence[Tensor | None], message: str) -> tuple[Tensor, ...]:
    node = DelayedError(message)
    node.width = len(tensors)
    # As in PyTorch, its edges lead to fresh leaves.
    leaves = [t if t is None else detached(t) for t in tensors]
    for leaf in leaves:
        if leaf is not None:
            leaf._requires_grad = leaf.dtype.category > 1
    node.edges = tuple(None if leaf is None else edge_of(leaf) for leaf in leaves)
    outs: list[Tensor] = []
    for nr, t in enumerate(tensors):
        if t is None:
            continue
        out = named.detach(t)
        if out.dtype.category > 1:
            out._fn, out._nr = node, nr
        node.backend = out.backend
        outs.append(out)
    return tuple(outs)


delayed_error = stateful(
    "delayed_error(Tensor?[] tensors, *, str message) -> Tensor[]",
    body=_delayed,
    traced=False,
    doc="The tensors, with a history that raises RuntimeError with `message` when a pass reaches it.",
    wide=False,
    histories=Histories.NONE,
)
