"""`autograd.Function`: operations whose forward and backward are Python of the user.

The forward runs where the user is and its operations are recorded as any others; the node it leaves behind
is the server's too, but its body is not: a pass stops there (`passes.py`).
Source: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .backends.batched import BatchedBackend
from .custom import BackwardNode, DelayedError
from .dispatch import flat_tensors
from .function_tangents import Tangents
from .modes import no_grad
from .op import op
from .registry import named
from .state import ambient, state
from .tensor import Tensor
from .transforms.custom import batched

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class _FunctionMeta(type):
    """Makes of each Function the class of its nodes, ``<Name>Backward``."""

    node_class: type[BackwardNode]

    def __init__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> None:
        super().__init__(name, bases, members)
        cls.node_class = type(f"{name}Backward", (BackwardNode,), {"forward_cls": cls})


class Function(metaclass=_FunctionMeta):
    """Base of operations with a backward of their own (torch.autograd.Function).

    Subclasses have static methods ``forward(ctx, *args)``, or ``forward(*args)`` with
    ``setup_context(ctx, inputs, output)``; ``backward(ctx, *grads)`` (or ``vjp``); for forward mode
    ``jvp(ctx, *tangents)``; for vmap ``vmap(info, in_dims, *args)`` or ``generate_vmap_rule = True``.
    Use them by ``apply``.
    """

    generate_vmap_rule = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """RuntimeError: Functions are not called as objects."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
            "autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """What the operation computes."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Keep in `ctx` what backward needs, where forward takes no `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Gradients of all arguments of forward from those of all outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use "
            "it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Tangents of all outputs from those of all arguments."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """The operation over a batch."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap static method or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward on `args`; a node with this class's backward is the history of what comes out."""
        node = cls.node_class()
        given = (*args, *kwargs.values())
        tensors = [a for a in given if isinstance(a, Tensor)]
        node.begin(given)
        split = cls.setup_context is not Function.setup_context
        if not split and (state.transform or state.vmaps):
            raise RuntimeError(
                "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
                "...), it must override the setup_context staticmethod. For more details, please see "
                "https://pytorch.org/docs/main/notes/extending.func.html"
            )
        tangents = Tangents(given)
        try:
            over = any(isinstance(t.backend, BatchedBackend) for t in tensors)
            # What a vmap is over has a history of its own, also where this node is without one.
            found = batched(cls, given) if over else None
            with ambient(grad=False, packing=None, watcher=None):
                if not over:
                    found = cls.forward(*args, **kwargs) if split else cls.forward(node, *args, **kwargs)
                if split:
                    cls.setup_context(node, given, found)
            recorded = state.grad and any(t.requires_grad for t in tensors)
            outputs = list(found) if isinstance(found, tuple) else [found]
            node.end(outputs, tensors, recorded)
            tangents.give(outputs, node)
        finally:
            tangents.put_back()
        return tuple(outputs) if isinstance(found, tuple) else outputs[0]


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a backward that is not differentiable itself
    (https://pytorch.org/docs/stable/notes/extending.html): a second derivative raises RuntimeError.
    """

    @functools.wraps(fn)
    def once(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not state.grad or not any(t.requires_grad for t in flat_tensors(args)):
            return outputs
        some = list(outputs) if isinstance(outputs, tuple) else [outputs]
        tensors = [o for o in some if isinstance(o, Tensor)]
        message = "trying to differentiate twice a function that was marked with @once_differentiable"
        marked = iter(delayed_error(tensors, message=message))
        some = [next(marked) if isinstance(o, Tensor) else o for o in some]
        return tuple(some) if isinstance(outputs, tuple) else some[0]

    return once


def _delayed(tensors: Sequence[Tensor], message: str) -> tuple[Tensor, ...]:
    node = DelayedError(message)
    node.width = len(tensors)
    outs: list[Tensor] = []
    for nr, t in enumerate(tensors):
        out = named.detach(t)
        if out.dtype.category > 1:
            out._fn, out._nr = node, nr
        node.backend = out.backend
        outs.append(out)
    return tuple(outs)


delayed_error = op(
    "delayed_error(Tensor[] tensors, *, str message)",
    composite=_delayed,
    many=True,
    traced=False,
    namespace="-",
    doc="The tensors, with a history that raises RuntimeError with `message` when a pass comes by.",
)
