"""Transforms of functions (torch.func), typed.

Written by `make face` from the declarations of ops.
"""

from collections.abc import Callable
from typing import Any

from gradd.func.modules import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
from gradd.func.modules import stack_module_state as stack_module_state
from gradd.nn._functional_call import functional_call as functional_call

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]

def grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The gradient of a scalar function (with a 0-dim output) with respect to the arguments `argnums`.

    With `has_aux`, ``func`` returns ``(output, aux)`` and the result is ``(gradient, aux)``. RuntimeError and
    ValueError as in PyTorch: https://pytorch.org/docs/stable/generated/torch.func.grad.html.
    """

def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """``(gradient, output)`` of a scalar function, or ``(gradient, (output, aux))`` with `has_aux`.

    See https://pytorch.org/docs/stable/generated/torch.func.grad_and_value.html.
    """

def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """Second derivatives of `func`, by forward mode over reverse mode.

    See https://pytorch.org/docs/stable/generated/torch.func.hessian.html.
    """

def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The Jacobian of `func` by forward mode, nested like that of `jacrev`; of `jacrev`'s result, second
    derivatives.

    See https://pytorch.org/docs/stable/generated/torch.func.jacfwd.html.
    """

def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The Jacobian of `func` by reverse mode: for each output and chosen input, a tensor of both shapes
    joined.

    All rows are computed in one pass, or `chunk_size` at a time; `_preallocate_and_copy` is ignored. With
    `has_aux`, ``func`` returns ``(output, aux)`` and the result is ``(jacobian, aux)``. See
    https://pytorch.org/docs/stable/generated/torch.func.jacrev.html.
    """

def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """The output of `func` at `primals`, a tuple, and its derivative along `tangents`, in one forward pass.

    With `has_aux`, ``func`` returns ``(output, aux)``, and aux is the third result. With `strict`,
    RuntimeError if an output does not depend on the inputs. See
    https://pytorch.org/docs/stable/generated/torch.func.jvp.html.
    """

def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Output of `func` at `primals`, and a linear function from tangents of `primals` to the output's.

    `func` is called once: the linear function is the transpose of its pullback. RuntimeError if tangents
    differ from primals in structure, shape or dtype. See
    https://pytorch.org/docs/stable/generated/torch.func.linearize.html.
    """

def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The output of `func` at `primals`, and a function from its cotangents to those of `primals`, a tuple.

    With `has_aux`, ``func`` returns ``(output, aux)``, and aux is the third result. See
    https://pytorch.org/docs/stable/generated/torch.func.vjp.html.
    """

def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Map `func` over a dimension of its inputs, in one run (torch.vmap).

    ``in_dims`` is the mapped dimension of each input: an int, None for "the same for every sample", or a
    nested tuple in the inputs' structure. ``out_dims`` is the mapped dimension of each output. ``randomness``
    is "error", "different" (a draw per sample) or "same". ``chunk_size`` limits how many samples are computed
    at a time.

    Raises ValueError and RuntimeError as PyTorch does.
    """
