"""Products with Jacobians and Hessians (torch.autograd.functional), typed.

Written by `make face` from the declarations of ops.
"""

from collections.abc import Callable, Sequence
from typing import Any

from gradd._tensor.tensor import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

def hessian(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar `func` at `inputs`: for each pair of inputs, a tensor of both shapes joined.

    See https://pytorch.org/docs/stable/generated/torch.autograd.functional.hessian.html.
    """

def hvp(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The output of a scalar `func`, and the product of its Hessian at `inputs` with `v`.

    This takes three reverse passes; `vhp` takes two. See
    https://pytorch.org/docs/stable/generated/torch.autograd.functional.hvp.html.
    """

def jacobian(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of `func` at `inputs`: for each output and input, a tensor of both shapes joined.

    A reverse pass per element of the output; with `vectorize` one pass over all of them or, with
    ``strategy="forward-mode"``, one call over all directions of each input. See
    https://pytorch.org/docs/stable/generated/torch.autograd.functional.jacobian.html.
    """

def jvp(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The output of `func`, and the product of its Jacobian at `inputs` with `v` (of the inputs' shape).

    This takes two reverse passes; `gradd.func.jvp` takes one forward pass. See
    https://pytorch.org/docs/stable/generated/torch.autograd.functional.jvp.html.
    """

def vhp(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The output of a scalar `func`, and the product of `v` with its Hessian at `inputs`.

    See https://pytorch.org/docs/stable/generated/torch.autograd.functional.vhp.html.
    """

def vjp(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The output of `func`, and the product of `v` (of the output's shape) with its Jacobian at `inputs`.

    See https://pytorch.org/docs/stable/generated/torch.autograd.functional.vjp.html.
    """
