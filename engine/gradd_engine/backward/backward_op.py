"""`backward`, which adds into the gradients of leaves: PyTorch's entry points with their argument checks, and
the pass as an op, so that a client records it like any other step.

Messages and checks after https://pytorch.org/docs/stable/autograd.html (see `Tensor.backward`).
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ..batching import BACKWARD, check_batched
from ..data import numel, state, warn
from ..declare import attach_as_is, stateful
from ..graph import cast_gradient
from ..schema import Op, Pass, named, type_name
from ..tensor import Edge, Tensor, edge_of
from . import anomaly, dry_run
from .autograd import retain_grad_now
from .edges import GradientEdge, tensor_of
from .executor import GraphTask
from .passes import drive, one_by_one, token_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_warned_cycle = False
_warn_always = False


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
    if state.transform or state.vmaps:
        raise RuntimeError(BACKWARD)
    if retain_variables is not None:
        retain_graph = _renamed(retain_graph, retain_variables)
    if grad_variables is not None:
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
                "Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = listed_inputs(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = listed_roots(tensors)
    grads = cotangents(grad_tensors, len(roots))
    if not roots:
        return
    create_graph = flag(create_graph)
    keep = None if retain_graph is None else flag(retain_graph)
    if create_graph:
        _warn_cycle()
    options = {"retain_graph": keep, "create_graph": create_graph}
    run_pass(backward_op, begin_backward, (roots, grads, inputs), options)


def _renamed(retain_graph: bool | None, retain_variables: bool) -> bool:
    if retain_graph is not None:
        raise ValueError("only one of retain_graph and retain_variables can be specified")
    warn("retain_variables option is deprecated. Use retain_graph instead.", DeprecationWarning)
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
    warn(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and "
        "its gradient which can cause a memory leak. We recommend using autograd.grad when creating the "
        "graph to avoid this. If you have to use this function, make sure to reset the .grad fields of "
        "your parameters to None after use to break the cycle and avoid the leak.",
        UserWarning,
    )


def _several(x: Any) -> tuple[Any, ...]:
    return (x,) if isinstance(x, (Tensor, GradientEdge)) else tuple(x)


def listed_roots(given: Any) -> list[Tensor]:
    """The tensors to start from (edges by their stand-ins). AssertionError for others, as in PyTorch."""
    found = []
    for x in _several(given):
        t = x if isinstance(x, Tensor) else tensor_of(x)
        if not isinstance(t, Tensor):
            raise AssertionError("Expected output to be a torch.Tensor")
        found.append(t)
    return found


def listed_inputs(given: Any) -> list[Tensor]:
    """The tensors to find gradients of (edges by their stand-ins); a dict's values."""
    found = []
    for x in given.values() if isinstance(given, dict) else _several(given):
        t = tensor_of(x)
        if not isinstance(t, Tensor):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type_name(x)}")
        found.append(t)
    return found


def flag(given: Any) -> bool:
    """A flag as PyTorch takes it: any integer will do. TypeError for anything else."""
    return bool(operator.index(given))


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


class NeedsCallbacks(Exception):
    """A recorded pass meets user callbacks: it has to be driven from callback to callback."""


def run_pass(whole: Op, begin: Op, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A pass as one step, or callback by callback where it is recorded and meets user callbacks."""
    try:
        try:
            return whole(*given, **options)
        except NeedsCallbacks:
            options["check_nan"] = state.anomaly and state.check_nan
        if options.pop("is_grads_batched", False):
            return one_by_one(begin, given, options)
        return drive(begin, *given, **options)
    except BaseException as error:
        if state.anomaly:
            anomaly.tell_forward(getattr(error, "node", None))
        raise


def run_task(task: GraphTask, roots: Sequence[Tensor]) -> None:
    """Run a pass from these roots; NeedsCallbacks where it is recorded and meets some."""
    recorded = bool(roots) and roots[0].backend.listener is not None
    if recorded and (task.callables or task.anomaly):
        raise NeedsCallbacks
    task.run()


def _cotangent(out: Tensor, g: Tensor | None, index: int, batched: bool = False) -> Tensor | None:
    if g is None:
        if not out.requires_grad:
            return None
        if numel(out._shape) != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if not out._dtype.is_floating_point:
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {out.dtype}"
            )
        return named.ones_like(out)  # type: ignore[no-any-return]
    if str(g.device) != str(out.device):
        raise RuntimeError(
            f"invalid gradient at index {index} - expected device {out.device} but got {g.device}"
        )
    if batched:
        check_batched(out, g, index)
    elif tuple(g.shape) != tuple(out.shape):
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {g.shape} and output[{index}] has a "
            f"shape of {out.shape}."
        )
    if g.dtype.is_complex != out.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{index}] has a dtype of {g.dtype} and output[{index}] has a "
            f"dtype of {out.dtype}."
        )
    if g.dtype is not out.dtype:
        g = cast_gradient(g, out.dtype)
    return g


def seeds(
    outputs: Sequence[Tensor], grads: Sequence[Tensor | None] | None, batched: bool = False
) -> list[tuple[Edge, Tensor]]:
    """Where a pass begins: the edge of each output and its cotangent, ones where none is given. RuntimeError
    in PyTorch's words for what does not fit.
    """
    grads = [None] * len(outputs) if grads is None else grads
    found = [_cotangent(o, g, i, batched) for i, (o, g) in enumerate(zip(outputs, grads, strict=False))]
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    roots: list[tuple[Edge, Tensor]] = []
    for i, (o, g) in enumerate(zip(outputs, found, strict=True)):
        edge = edge_of(o)
        if edge is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        assert g is not None
        roots.append((edge, g))
    return roots


def _task(
    tensors: Sequence[Tensor],
    gradient: Sequence[Tensor | None] | None,
    inputs: Sequence[Tensor] | None,
    retain_graph: bool | None,
    create_graph: bool,
) -> GraphTask:
    """The pass of ``backward``, ready to run."""
    if inputs is not None and not len(inputs):
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = seeds(tensors, gradient)
    targets = None
    if inputs is not None:
        targets = []
        for t in inputs:
            if t._stands is None:
                retain_grad_now(t)
            edge = edge_of(t)
            if edge is not None:
                targets.append(edge)
    keep = create_graph if retain_graph is None else retain_graph
    return GraphTask(roots, keep=keep, create=create_graph, targets=targets)


def _backward(tensors: Sequence[Tensor], *given: Any, **options: Any) -> None:
    run_task(_task(tensors, *given, **options), tensors)


backward_op = stateful(
    "backward(Tensor[] tensors, Tensor?[] gradient=None, Tensor[] inputs=None, *, bool? retain_graph=None, "
    "bool create_graph=False) -> ()",
    body=_backward,
    doc="""Sum of gradients of `tensors` with respect to graph leaves, accumulated into their ``.grad``.

    See https://pytorch.org/docs/stable/generated/torch.autograd.backward.html. `gradient` has one entry a
    root, of exactly its shape; None for one-element roots.
    """,
    backward_pass=Pass.BACKWARD,
    dry_run=dry_run.backward,
)


def _begin_backward(
    tensors: Sequence[Tensor],
    gradient: Sequence[Tensor | None] | None,
    inputs: Sequence[Tensor] | None,
    check_nan: bool,
    **options: Any,
) -> Tensor:
    if not tensors:
        raise RuntimeError("begin_backward(): a pass begins at one tensor at least")
    return token_of(_task(tensors, gradient, inputs, **options), tensors[0], check_nan)


begin_backward = stateful(
    "begin_backward(Tensor[] tensors, Tensor?[] gradient=None, Tensor[] inputs=None, *, "
    "bool? retain_graph=None, bool create_graph=False, bool check_nan=False) -> Tensor",
    body=_begin_backward,
    traced=False,
    doc="A pass of `backward` that was begun and has not run yet: a token for `resume_pass`.",
    backward_pass=Pass.BEGIN,
    dry_run=dry_run.backward,
)

# Python's messages about wrong arguments show this name.
_tensor_backward.__qualname__ = "Tensor.backward"
attach_as_is("backward", _tensor_backward)
