"""`grad`, which returns gradients: PyTorch's entry point with its argument checks, and the pass as an op.

Messages and checks after https://pytorch.org/docs/stable/generated/torch.autograd.grad.html.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..batching import batch_of, run_through
from ..data import warn
from ..declare import stateful, typed
from ..graph import cast_gradient
from ..schema import Pass, named
from ..tensor import Edge, Tensor, detached, edge_of, new_counter
from . import dry_run
from .backward_op import cotangents, flag, listed_inputs, listed_roots, run_pass, run_task, seeds
from .executor import GraphTask
from .passes import token_of

if TYPE_CHECKING:
    from collections.abc import Sequence


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
        warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
        )
    roots = listed_roots(outputs)
    create_graph = flag(create_graph)
    found = run_through(
        run_grad,
        roots,
        listed_inputs(inputs),
        cotangents(grad_outputs, len(roots)),
        retain_graph=None if retain_graph is None else flag(retain_graph),
        create_graph=create_graph,
        allow_unused=None if allow_unused is None else flag(allow_unused),
        materialize_grads=bool(materialize_grads),
        is_grads_batched=bool(is_grads_batched),
    )
    return dict(zip(inputs, found, strict=True)) if isinstance(inputs, dict) else found


def run_grad(*given: Any, **options: Any) -> tuple[Tensor | None, ...]:
    """`grad` of arguments that were looked at."""
    found: tuple[Tensor | None, ...] = run_pass(grad_op, begin_grad, given, options)
    return found


def _task(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor | None] | None,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
    materialize_grads: bool,
    is_grads_batched: bool = False,
) -> GraphTask:
    """The pass of ``grad``, ready to run; its `finish` gives the gradients."""
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    if not len(inputs):
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    allow = materialize_grads if allow_unused is None else allow_unused
    roots = seeds(outputs, grad_outputs, is_grads_batched)
    edges = []
    for t in inputs:
        if not t.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        edges.append(edge_of(t))
    keep = create_graph if retain_graph is None else retain_graph
    level, starts = batch_of(roots) if is_grads_batched else (None, roots)
    task = GraphTask(starts, keep=keep, create=create_graph, captures=edges)
    # Not a closure over the task: it would hold itself, and what it gathered, until a collection.
    task.result = lambda done: _captured(done, inputs, roots, allow, materialize_grads, level)
    return task


def _captured(
    task: GraphTask,
    inputs: Sequence[Tensor],
    roots: list[tuple[Edge, Tensor]],
    allow: bool,
    materialize_grads: bool,
    level: Any,
) -> tuple[Tensor | None, ...]:
    found = task.captured
    create_graph = task.create
    assert found is not None
    if level is not None:
        found = [None if g is None else level.front(g) for g in found]
        level.open = False
    found = [_in_grad_dtype(g, t) for g, t in zip(found, inputs, strict=True)]
    for i, g in enumerate(found):
        if g is None and not allow and not task.blind:
            raise _late(
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior."
            )
    if materialize_grads:
        found = [_zeros(t, create_graph) if g is None else g for g, t in zip(found, inputs, strict=True)]
    # A cotangent that reaches an input comes back as it was given, as in PyTorch.
    given = {id(g) for _, g in roots}
    return tuple(
        g if g is None or create_graph or g._fn is None or id(g) in given else detached(g, new_counter())
        for g in found
    )


def _late(message: str) -> RuntimeError:
    """An error that PyTorch raises after the nodes of a pass ran."""
    error = RuntimeError(message)
    error.pass_began = True  # type: ignore[attr-defined]
    return error


def _in_grad_dtype(g: Tensor | None, t: Tensor) -> Tensor | None:
    dtype = t._grad_dtype
    return g if g is None or dtype is ... or dtype is None else cast_gradient(g, dtype)


def _zeros(t: Tensor, create: bool) -> Tensor:
    if t._stands is not None:
        raise _late("materialize_grads cannot be used when the given input is a GradientEdge")
    out: Tensor = named.zeros_like(detached(t))
    out._requires_grad = create
    return out


def _grad(outputs: Sequence[Tensor], *given: Any, **options: Any) -> tuple[Tensor | None, ...]:
    task = _task(outputs, *given, **options)
    run_task(task, outputs)
    return task.finish()


grad_op = stateful(
    "grad(Tensor[] outputs, Tensor[] inputs, Tensor?[] grad_outputs=None, *, bool? retain_graph=None, "
    "bool create_graph=False, bool? allow_unused=None, bool materialize_grads=False, "
    "bool is_grads_batched=False) -> Tensor?[]",
    body=_grad,
    doc="""Gradients of `outputs` with respect to `inputs`, returned; never touches ``.grad`` of leaves.

    See https://pytorch.org/docs/stable/generated/torch.autograd.grad.html.
    """,
    backward_pass=Pass.GRAD,
    dry_run=dry_run.grad,
)


def _begin_grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor | None] | None,
    check_nan: bool,
    **options: Any,
) -> Tensor:
    if not outputs:
        raise RuntimeError("begin_grad(): a pass begins at one tensor at least")
    return token_of(_task(outputs, inputs, grad_outputs, **options), outputs[0], check_nan)


begin_grad = stateful(
    "begin_grad(Tensor[] outputs, Tensor[] inputs, Tensor?[] grad_outputs=None, *, bool? retain_graph=None, "
    "bool create_graph=False, bool? allow_unused=None, bool materialize_grads=False, bool check_nan=False)"
    " -> Tensor",
    body=_begin_grad,
    traced=False,
    doc="A pass of `grad` that was begun and has not run yet: a token for `resume_pass`.",
    backward_pass=Pass.BEGIN,
    dry_run=dry_run.grad,
)
