"""backward, grad and the small ops on autograd state, as ops: one choke point, so a client records them like
any other step.

Messages and checks after https://pytorch.org/docs/stable/autograd.html (see `Tensor.backward`,
`autograd.grad`).
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ..batching import RETAINS, batch_of, check_batched, refuse
from ..data.state import state
from ..declare import stateful
from ..graph import cast_gradient
from ..schema import Pass, named
from ..tensor import CUT, Edge, Tensor, carry, detached, edge_of, new_counter, next_priority
from . import dry_run
from .executor import GraphTask

if TYPE_CHECKING:
    from collections.abc import Sequence


def _cotangent(out: Tensor, g: Tensor | None, index: int, batched: bool = False) -> Tensor | None:
    if g is None:
        if not out.requires_grad:
            return None
        if out.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if not out.dtype.is_floating_point:
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


def _roots(
    outputs: Sequence[Tensor], grads: Sequence[Tensor | None], batched: bool = False
) -> list[tuple[Edge, Tensor]]:
    cotangents = [_cotangent(o, g, i, batched) for i, (o, g) in enumerate(zip(outputs, grads, strict=False))]
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    roots: list[tuple[Edge, Tensor]] = []
    for i, (o, g) in enumerate(zip(outputs, cotangents, strict=True)):
        edge = edge_of(o)
        if edge is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        assert g is not None
        roots.append((edge, g))
    return roots


def _paired(outputs: Sequence[Tensor], grads: Sequence[Tensor | None] | None) -> Sequence[Tensor | None]:
    return [None] * len(outputs) if grads is None else grads


class NeedsCallbacks(Exception):
    """A recorded pass meets user callbacks: it has to be driven from callback to callback."""


def _run(task: GraphTask, roots: Sequence[Tensor]) -> None:
    recorded = bool(roots) and roots[0].backend.listener is not None
    if recorded and (task.callables or task.anomaly):
        raise NeedsCallbacks
    task.run()


def backward_task(
    tensors: Sequence[Tensor],
    gradient: Sequence[Tensor | None] | None,
    inputs: Sequence[Tensor] | None,
    retain_graph: bool | None,
    create_graph: bool,
) -> GraphTask:
    """The pass of ``backward``, ready to run."""
    if inputs is not None and not len(inputs):
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = _roots(tensors, _paired(tensors, gradient))
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
    _run(backward_task(tensors, *given, **options), tensors)


def _grad(outputs: Sequence[Tensor], *given: Any, **options: Any) -> tuple[Tensor | None, ...]:
    task = grad_task(outputs, *given, **options)
    _run(task, outputs)
    return task.finish()


def grad_task(
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
    roots = _roots(outputs, _paired(outputs, grad_outputs), is_grads_batched)
    edges = []
    for t in inputs:
        if not t.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        edges.append(edge_of(t))
    keep = create_graph if retain_graph is None else retain_graph
    level, seeds = batch_of(roots) if is_grads_batched else (None, roots)
    task = GraphTask(seeds, keep=keep, create=create_graph, captures=edges)
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


backward = stateful(
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

grad = stateful(
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


def set_requires_grad(t: Tensor, value: bool, spelling: str) -> None:
    """Change the flag; messages differ by spelling, as in PyTorch."""
    if not t.is_leaf:
        if value and spelling == "method":
            return
        if value:
            raise RuntimeError("you can only change requires_grad flags of leaf variables.")
        raise RuntimeError(
            "you can only change requires_grad flags of leaf variables. If you want to use a computed "
            "variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
        )
    if value and not t.dtype.differentiable:
        kinds = "floating point dtype" if spelling == "method" else "floating point and complex dtype"
        raise RuntimeError(f"only Tensors of {kinds} can require gradients")
    if value and t._vc.inference and state.inference is None:
        raise RuntimeError(
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
        )
    if t._requires_grad is not value:
        requires_grad_flag(t, value)


renew = stateful(
    "renew(Tensor input) -> ()",
    body=lambda input: _renewed(input),
    doc="Give a view its node over its base as it is now, as looking at ``grad_fn`` does.",
    dry_run=True,
    wide=False,
)


def _renewed(t: Tensor) -> None:
    t._node()


requires_grad_flag = stateful(
    "set_requires_grad(Tensor(a!) input, bool requires_grad=True) -> ()",
    body=lambda input, requires_grad: _checked_flag(input, requires_grad),
    doc="Set the flag of a leaf; the recorded form of ``requires_grad_``.",
    dry_run=dry_run.set_requires_grad,
    wide=False,
)


def _checked_flag(t: Tensor, value: bool) -> None:
    if t._node() is not None and not value:
        set_requires_grad(t, value, "method")
    if value and not t.dtype.differentiable:
        set_requires_grad(t, value, "method")
    if t._node() is None:
        t._requires_grad = value


def requires_grad_(t: Tensor, requires_grad: bool = True) -> Tensor:
    """See torch.Tensor.requires_grad_."""
    set_requires_grad(t, requires_grad, "method")
    return t


def retain_grad_now(t: Tensor) -> None:
    """Make a non-leaf keep its gradient; RuntimeError when it needs none."""
    if not t.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    refuse(RETAINS)
    if t._fn is None or t._retains:
        return
    fn = t._node()
    assert fn is not None
    t._retains = True
    if fn.retainers is None:
        fn.retainers = {}
    fn.retainers[t._nr] = weakref.ref(t)


retain_grad = stateful(
    "retain_grad(Tensor(a!) input) -> ()",
    body=retain_grad_now,
    method=True,
    doc="Let a non-leaf keep its gradient in ``.grad``; see torch.Tensor.retain_grad.",
    dry_run=dry_run.nothing,
    wide=False,
)


def _increment(tensors: Sequence[Tensor]) -> None:
    for t in tensors:
        t._vc.n += 1


increment = stateful(
    "increment_version(Tensor[] tensors) -> ()",
    body=_increment,
    traced=False,
    doc="Count one more in-place change of each tensor, without changing it "
    "(torch.autograd.graph.increment_version).",
    wide=False,
)


share = stateful(
    "share(Tensor(a) input) -> Tensor(a)",
    body=lambda input: input,
    doc="The same tensor under another id.",
    dry_run=True,
    wide=False,
)


def _untracked(input: Tensor, requires_grad: bool) -> Tensor:
    out = carry(input, detached(input))
    if requires_grad:
        set_requires_grad(out, True, "method")
    return out


untracked = stateful(
    "untracked_alias(Tensor(a) input, bool requires_grad=False) -> Tensor(a)",
    body=_untracked,
    doc="An alias without history that keeps its forward-mode tangents: what a transform of a function "
    "starts from, and what it gives where nothing outside of it differentiates.",
    dry_run=True,
    wide=False,
)


data = stateful(
    "data(Tensor(a) input) -> Tensor(a)",
    body=lambda input: detached(input, type(input._vc)()),
    doc="An alias without history and with a version counter of its own (Tensor.data).",
    dry_run=True,
    aliases=True,
    wide=False,
)


def _set_data(input: Tensor, data: Tensor) -> None:
    if input.requires_grad and not data.dtype.differentiable:
        raise RuntimeError(
            "data set to a tensor that requires gradients must be floating point or complex dtype"
        )
    if input._vc.inference:
        raise RuntimeError("Inference tensors do not track version counter.")
    if data.dtype is not input.dtype:
        input._acc = None
    input.storage, input.array, input._dtype = data.storage, data.array, data.dtype
    input._shape, input.strides, input.offset = data.shape, data.strides, data.offset
    input._conj = data._conj


set_data = stateful(
    "set_data(Tensor(a!) input, Tensor data) -> ()",
    body=_set_data,
    traced=False,
    doc="Give `input` the memory, shape and dtype of `data`; version and graph stay (``Tensor.data = ...``).",
    dry_run=dry_run.set_data,
)


def _detach_here(input: Tensor) -> Tensor:
    if input._base is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel "
            "(DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP "
            "buckets, and hence detach_() cannot be called on these gradients. To fix this error, please "
            "refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
        )
    if input._fn is not None:
        input._cut = next_priority()
        CUT[:] = [True]
    input._fn, input._nr, input._requires_grad = None, 0, False
    input._tangents = None
    return input


detach_ = stateful(
    "detach_(Tensor(a!) input) -> Tensor(a!)",
    body=_detach_here,
    namespace="",
    method=True,
    doc="Cut this tensor from its graph (Tensor.detach_).",
    dry_run=dry_run.detach_,
    wide=False,
)
