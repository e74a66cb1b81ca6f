"""PyTorch's entry points to autograd, with their argument checks: `backward`, `grad`, `Tensor.backward`.

Source: https://pytorch.org/docs/stable/autograd.html. The passes themselves are ops of `autograd.py`.
"""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any

from ..batching import BACKWARD, REQUIRES, refuse, run_through
from ..declare import attach_as_is, typed
from ..schema import type_name
from ..tensor import Tensor
from . import autograd as _ops
from .edges import GradientEdge, tensor_of
from .passes import run_backward, run_grad

if TYPE_CHECKING:
    from collections.abc import Sequence

_warned_cycle = False
_warn_always = False


def _several(x: Any) -> tuple[Any, ...]:
    return (x,) if isinstance(x, (Tensor, GradientEdge)) else tuple(x)


def _roots(given: Any) -> list[Tensor]:
    """The tensors to start from (edges by their stand-ins). AssertionError for others, as in PyTorch."""
    found = [tensor_of(x) for x in _several(given)]
    if not all(isinstance(t, Tensor) for t in found):
        raise AssertionError("Expected output to be a torch.Tensor")
    return found


def _inputs(given: Any) -> list[Tensor]:
    """The tensors to find gradients of (edges by their stand-ins); a dict's values."""
    found = []
    for x in given.values() if isinstance(given, dict) else _several(given):
        t = tensor_of(x)
        if not isinstance(t, Tensor):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type_name(x)}")
        found.append(t)
    return found


def _flag(given: Any) -> bool:
    """A flag as PyTorch takes it: any integer will do. TypeError for anything else."""
    return bool(operator.index(given))


def _flag_or_none(given: Any) -> bool | None:
    return None if given is None else _flag(given)


def cotangents(given: Any, count: int) -> list[Tensor | None] | None:
    """The cotangents of `count` outputs; of a list, no more than that. TypeError for what is neither a tensor
    nor None.
    """
    if given is None:
        return None
    grads = [given] if isinstance(given, Tensor) else list(given)[:count]
    for g in grads:
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    return grads


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
    *,
    retain_variables: bool | None = None,
) -> None:
    """Sum of gradients of `tensors` with respect to graph leaves, into their ``.grad``.

    `grad_tensors`: one cotangent a root, of exactly its shape, None for one-element roots. See
    https://pytorch.org/docs/stable/generated/torch.autograd.backward.html. Raises RuntimeError as PyTorch
    does. `retain_variables` is the name that `retain_graph` had before PyTorch 0.2 (DeprecationWarning);
    ValueError where both are given.
    """
    refuse(BACKWARD)
    if retain_variables is not None:
        retain_graph = _renamed(retain_graph, retain_variables)
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
                "Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = _inputs(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = _roots(tensors)
    grads = cotangents(grad_tensors, len(roots))
    if not roots:
        return
    create_graph = _flag(create_graph)
    retain_graph = _flag_or_none(retain_graph)
    if create_graph:
        _warn_cycle()
    run_backward(roots, grads, inputs, retain_graph=retain_graph, create_graph=create_graph)


def _renamed(retain_graph: bool | None, retain_variables: bool) -> bool:
    if retain_graph is not None:
        raise ValueError("only one of retain_graph and retain_variables can be specified")
    warnings.warn(
        "retain_variables option is deprecated. Use retain_graph instead.", DeprecationWarning, stacklevel=3
    )
    return retain_variables


def set_warn_always(b: bool) -> None:
    """Whether warnings that are given once a process are given each time (torch.set_warn_always)."""
    global _warn_always
    _warn_always = bool(b)


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` said (torch.is_warn_always_enabled)."""
    return _warn_always


def _warn_cycle() -> None:
    global _warned_cycle
    if _warned_cycle and not _warn_always:
        return
    _warned_cycle = True
    warnings.warn(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and "
        "its gradient which can cause a memory leak. We recommend using autograd.grad when creating the "
        "graph to avoid this. If you have to use this function, make sure to reset the .grad fields of "
        "your parameters to None after use to break the cycle and avoid the leak.",
        UserWarning,
        stacklevel=4,
    )


@typed(
    "(outputs, inputs: dict[Any, Tensor], grad_outputs=None, retain_graph=None, create_graph=False, "
    "only_inputs=True, allow_unused=None, is_grads_batched=False, materialize_grads=False) "
    "-> dict[Any, Tensor]",
    "(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, "
    "only_inputs=True, allow_unused=None, is_grads_batched=False, materialize_grads=False) "
    "-> tuple[Tensor, ...]",
)
def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Gradients of `outputs` with respect to `inputs`, as a tuple, or as a dict with the keys of one; leaves'
    ``.grad`` is not touched.

    See https://pytorch.org/docs/stable/generated/torch.autograd.grad.html. Raises RuntimeError and ValueError
    as PyTorch does. With `is_grads_batched` dimension 0 of each of `grad_outputs` is a batch: the pass runs
    once for all of it, and the gradients have that dimension in front.
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    roots = _roots(outputs)
    create_graph = _flag(create_graph)
    found = run_through(
        run_grad,
        roots,
        _inputs(inputs),
        cotangents(grad_outputs, len(roots)),
        retain_graph=_flag_or_none(retain_graph),
        create_graph=create_graph,
        allow_unused=_flag_or_none(allow_unused),
        materialize_grads=bool(materialize_grads),
        is_grads_batched=bool(is_grads_batched),
    )
    return dict(zip(inputs, found, strict=True)) if isinstance(inputs, dict) else found


def _tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Tensor] | Tensor | None = None,
    *,
    retain_variables: bool | None = None,
) -> None:
    """Gradient of this tensor with respect to graph leaves (torch.Tensor.backward).

    `gradient`: a tensor of exactly this shape; needed unless this tensor has one element. `retain_variables`:
    see `backward`.
    """
    if retain_variables is not None:
        retain_graph = _renamed(retain_graph, retain_variables)
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def _requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Change whether gradients are kept for this leaf (torch.Tensor.requires_grad_)."""
    refuse(REQUIRES)
    if not isinstance(requires_grad, bool):
        raise TypeError(
            "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
            f"{type_name(requires_grad)}"
        )
    return _ops.requires_grad_(self, requires_grad)


# Python's messages about wrong arguments show these names.
_tensor_backward.__qualname__ = "Tensor.backward"
_requires_grad_.__qualname__ = "requires_grad_"
attach_as_is("backward", _tensor_backward)
attach_as_is("requires_grad_", _requires_grad_)
