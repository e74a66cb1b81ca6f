"""Automatic differentiation (torch.autograd), typed.

Written by `make face` from the declarations of ops.
"""

from collections.abc import Callable, Sequence
from typing import Any, overload

from gradd_engine.backward.anomaly import detect_anomaly as detect_anomaly
from gradd_engine.backward.anomaly import set_detect_anomaly as set_detect_anomaly
from gradd_engine.backward.edges import GradientEdge
from gradd_engine.backward.saved_hooks import SavedTensor as SavedTensor
from gradd_engine.check.gradcheck_compare import GradcheckError as GradcheckError
from gradd_engine.custom.function import Function as Function
from gradd_engine.graph.modes import enable_grad as enable_grad
from gradd_engine.graph.modes import enforce_grad_layout_policy as enforce_grad_layout_policy
from gradd_engine.graph.modes import inference_mode as inference_mode
from gradd_engine.graph.modes import no_grad as no_grad
from gradd_engine.graph.modes import set_grad_enabled as set_grad_enabled
from gradd_engine.graph.modes import set_multithreading_enabled as set_multithreading_enabled
from gradd_engine.legacy import Variable as Variable

from gradd._tensor.tensor import Tensor

from . import anomaly_mode as anomaly_mode
from . import forward_ad as forward_ad
from . import function as function
from . import functional as functional
from . import grad_mode as grad_mode
from . import graph as graph
from . import profiler as profiler
from . import variable as variable

__all__ = [
    "Function",
    "GradcheckError",
    "SavedTensor",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]

def backward(
    tensors: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge] | None = None,
    *,
    retain_variables: bool | None = None,
) -> None:
    """Sum of gradients of `tensors` with respect to graph leaves, into their ``.grad``.

    `grad_tensors`: one cotangent a root, of exactly its shape, None for one-element roots. See
    https://pytorch.org/docs/stable/generated/torch.autograd.backward.html. Raises RuntimeError as PyTorch
    does. `retain_variables` is the name that `retain_graph` had before PyTorch 0.2 (DeprecationWarning);
    ValueError where both are given.
    """

@overload
def grad(
    outputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    inputs: dict[Any, Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> dict[Any, Tensor]:
    """Gradients of `outputs` with respect to `inputs`, as a tuple, or as a dict with the keys of one; leaves'
    ``.grad`` is not touched.

    See https://pytorch.org/docs/stable/generated/torch.autograd.grad.html. Raises RuntimeError and ValueError
    as PyTorch does. With `is_grads_batched` dimension 0 of each of `grad_outputs` is a batch: the pass runs
    once for all of it, and the gradients have that dimension in front.
    """

@overload
def grad(
    outputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]: ...
def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    *,
    eps: float = 1e-06,
    atol: float = 1e-05,
    rtol: float = 0.001,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of `func` at `inputs` with central differences of step `eps`; returns True or
    raises.

    `inputs` is a tensor or a tuple; those that require grad are perturbed in place and should be float64 or
    complex128. A complex output counts as two, its real and imaginary parts. In a session all values are read
    in one round trip. See https://pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradcheck.html

    Raises GradcheckError (or returns False without `raise_exception`), ValueError if no input requires grad,
    RuntimeError for an input whose elements share memory.
    """

def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-06,
    atol: float = 1e-05,
    rtol: float = 0.001,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """`gradcheck` of the gradients of `func`, with respect to `inputs` and `grad_outputs` (random by
    default).

    See https://pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradgradcheck.html
    """

def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` said."""
