"""Small ops on autograd state: flags of leaves, retained gradients, versions, aliases, cuts.

Messages and checks after https://pytorch.org/docs/stable/autograd.html.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from ..batching import REQUIRES, RETAINS, refuse
from ..data import state
from ..declare import attach_as_is, stateful
from ..schema import Histories, type_name
from ..tensor import CUT, Tensor, carry, detached, next_priority, remember_shape
from . import dry_run

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    histories=Histories.NONE,
)


def _renewed(t: Tensor) -> None:
    t._node()


requires_grad_flag = stateful(
    "set_requires_grad(Tensor(a!) input, bool requires_grad=True) -> ()",
    body=lambda input, requires_grad: _checked_flag(input, requires_grad),
    doc="Set the flag of a leaf; the recorded form of ``requires_grad_``.",
    dry_run=dry_run.set_requires_grad,
    wide=False,
    histories=Histories.NONE,
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


def _requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Change whether gradients are kept for this leaf (torch.Tensor.requires_grad_)."""
    refuse(REQUIRES)
    if not isinstance(requires_grad, bool):
        raise TypeError(
            "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
            f"{type_name(requires_grad)}"
        )
    return requires_grad_(self, requires_grad)


# Python's messages about wrong arguments show this name.
_requires_grad_.__qualname__ = "requires_grad_"
attach_as_is("requires_grad_", _requires_grad_)


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
    histories=Histories.WRITTEN,
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
    histories=Histories.NONE,
)


share = stateful(
    "share(Tensor(a) input) -> Tensor(a)",
    body=lambda input: input,
    doc="The same tensor under another id.",
    dry_run=True,
    wide=False,
    histories=Histories.NONE,
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
    histories=Histories.NONE,
)


data = stateful(
    "data(Tensor(a) input) -> Tensor(a)",
    body=lambda input: detached(input, type(input._vc)()),
    doc="An alias without history and with a version counter of its own (Tensor.data).",
    dry_run=True,
    aliases=True,
    wide=False,
    histories=Histories.NONE,
)


def _set_data(input: Tensor, data: Tensor) -> None:
    if input.requires_grad and not data.dtype.differentiable:
        raise RuntimeError(
            "data set to a tensor that requires gradients must be floating point or complex dtype"
        )
    if input._vc.inference:
        raise RuntimeError("Inference tensors do not track version counter.")
    if data._shape != input._shape:
        remember_shape(input)
    if data._dtype is not input._dtype:
        input._acc = None
    input._storage, input.array, input._dtype = data._storage, data.array, data.dtype
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
    histories=Histories.WRITTEN,
)
