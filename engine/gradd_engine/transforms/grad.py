"""Reverse mode as function transforms: `grad`, `grad_and_value`, `vjp`, `linearize`.

They nest in each other, in forward transforms and in ordinary passes, since each differentiates with respect
to its own aliases. Source: https://pytorch.org/docs/stable/func.api.html
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..backward import cotangents as cotangent_list
from ..backward import disable_saved_tensors_hooks, untracked
from ..batching import flatten, unflatten
from ..data import state
from ..graph import enable_grad
from ..ops.shared import zeros_like
from ..tensor import Tensor
from .argnums import Arguments, checked, with_aux
from .scope import Scope, tracked

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..batching import Structure

_GRAD = "grad_and_value(f)(*args)"
_VJP = "vjp(f, *primals)"

_NO_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with "
    "your use case."
)


def grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The gradient of a scalar function (with a 0-dim output) with respect to the arguments `argnums`.

    With `has_aux`, ``func`` returns ``(output, aux)`` and the result is ``(gradient, aux)``. RuntimeError and
    ValueError as in PyTorch: https://pytorch.org/docs/stable/generated/torch.func.grad.html.
    """

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = _grad_and_value(func, argnums, has_aux, args, kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """``(gradient, output)`` of a scalar function, or ``(gradient, (output, aux))`` with `has_aux`.

    See https://pytorch.org/docs/stable/generated/torch.func.grad_and_value.html.
    """

    @functools.wraps(func)
    def gradient_and_value(*args: Any, **kwargs: Any) -> Any:
        return _grad_and_value(func, argnums, has_aux, args, kwargs)

    return gradient_and_value


def _grad_and_value(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...],
    has_aux: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, Any]:
    arguments = Arguments(args, checked(argnums))
    scope = Scope()
    aux = None
    with disable_saved_tensors_hooks(_NO_HOOKS), enable_grad():
        inputs = [scope.open(x) for x in arguments.leaves]
        output = arguments.call(func, inputs, kwargs)
        if has_aux:
            output, aux = with_aux(output, _GRAD)
        if not isinstance(output, Tensor):
            raise RuntimeError(f"{_GRAD}: Expected f(*args) to return a Tensor, got {type(output)}")
        if output.ndim:
            raise RuntimeError(
                f"{_GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with {output.ndim} dims. "
                "Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        found = scope.gradients([output], inputs, None, create=scope.reaches_out([output]))
        gradient = arguments.nested([scope.settle(g) for g in found])
        value = scope.settle(output)
        if has_aux:
            value = value, _settled(scope, aux)
    return gradient, value


def check_tensors(leaves: list[Any]) -> None:
    """Raise RuntimeError unless auxiliary output consists of tensors."""
    for x in leaves:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")


def _settled(scope: Scope, aux: Any) -> Any:
    """Auxiliary output as the caller gets it; RuntimeError unless it consists of tensors."""
    leaves, structure = flatten(aux)
    check_tensors(leaves)
    return unflatten([scope.settle(x) for x in leaves], structure)


class Pullback:
    """A function called once, whose vector-Jacobian products can be taken repeatedly.

    ``outputs`` are the tensors it returned, nested as in ``structure``.
    """

    def __init__(self, func: Callable[..., Any], arguments: Arguments, has_aux: bool = False) -> None:
        self.arguments = arguments
        watched = state.grad
        # Its products may be tracked outside even if its outputs are not.
        self.scope = Scope(watched=True)
        self.aux = None
        with disable_saved_tensors_hooks(_NO_HOOKS), enable_grad():
            self.inputs = [self.scope.open(x) for x in arguments.leaves]
            found = arguments.call(func, self.inputs, {})
            if has_aux:
                found, aux = with_aux(found, _VJP)
                self.aux = _settled(self.scope, aux)
            self.outputs, self.structure = flatten(found)
            check_outputs(self.outputs, _VJP)
            for t in self.outputs:
                if not t.dtype.differentiable:
                    raise RuntimeError(
                        "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor "
                        f"with dtype {t.dtype}"
                    )
            self.results = [
                self.scope.settle(t) if watched or not t.requires_grad else untracked(t) for t in self.outputs
            ]

    @functools.cached_property
    def _tracked(self) -> bool:
        return self.scope.reaches_out(self.outputs)

    def pull(
        self,
        outputs: list[Tensor],
        cotangents: list[Tensor],
        keep: bool = True,
        create: bool | None = None,
    ) -> list[Tensor]:
        """The gradient of each input from those of (some of) the outputs."""
        if create is None:
            create = state.grad and (self._tracked or any(map(tracked, cotangents)))
        return self.scope.gradients(outputs, self.inputs, cotangents, create=create, keep=keep)


def check_outputs(outputs: list[Any], call: str) -> None:
    """Raise RuntimeError unless a function returned tensors."""
    if not outputs or (len(outputs) == 1 and outputs[0] is None):
        raise RuntimeError(
            f"{call}: Expected f to be a function that has non-empty output (got output = {outputs})"
        )
    for t in outputs:
        if not isinstance(t, Tensor):
            raise RuntimeError(
                f"{call}: expected f(*primals) to return only tensors, got unsupported type {type(t)}"
            )


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The output of `func` at `primals`, and a function from its cotangents to those of `primals`, a tuple.

    With `has_aux`, ``func`` returns ``(output, aux)``, and aux is the third result. See
    https://pytorch.org/docs/stable/generated/torch.func.vjp.html.
    """
    pullback = Pullback(func, Arguments(primals, None), has_aux)

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, structure = flatten(cotangents)
        if repr(structure) != repr(pullback.structure):
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                f"the function. cotangents: {_stars(structure)}, primal output: {_stars(pullback.structure)}"
            )
        cotangent_list(given, len(given))
        found = pullback.pull(pullback.outputs, given, retain_graph, create_graph)
        return pullback.arguments.nested([pullback.scope.settle(g) for g in found])

    out = unflatten(pullback.results, pullback.structure)
    return (out, vjp_fn, pullback.aux) if has_aux else (out, vjp_fn)


class _Star:
    def __repr__(self) -> str:
        return "*"


def _stars(structure: Structure) -> str:
    """A structure printed like its containers, with a star for each leaf."""
    return repr(unflatten([_Star()] * structure.leaves, structure))


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Output of `func` at `primals`, and a linear function from tangents of `primals` to the output's.

    `func` is called once: the linear function is the transpose of its pullback. RuntimeError if tangents
    differ from primals in structure, shape or dtype. See
    https://pytorch.org/docs/stable/generated/torch.func.linearize.html.
    """
    arguments = Arguments(primals, None)
    pullback = Pullback(func, arguments)
    scope = pullback.scope
    with enable_grad():
        # The pullback is linear in its weights, so their values do not matter.
        weights = [scope.open(zeros_like(t)) for t in pullback.outputs]
        pulled = scope.gradients(pullback.outputs, pullback.inputs, weights, create=True)

    def jvp_fn(*tangents: Any) -> Any:
        given, structure = flatten(tangents)
        if repr(structure) != repr(arguments.structure):
            raise RuntimeError(
                f"Expected the tangents {structure} to have the same argspec as the primals "
                f"{arguments.structure}"
            )
        for i, (t, x) in enumerate(zip(given, arguments.leaves, strict=True)):
            for what, mine, due in (("shape", t.shape, x.shape), ("dtype", t.dtype, x.dtype)):
                if mine != due:
                    raise RuntimeError(
                        f"tangent:{i} with {what} {mine} in flattened pytree doesn't match the {what} {due} "
                        "of the corresponding primal."
                    )
        create = state.grad and (scope.reaches_out(pulled) or any(map(tracked, given)))
        found = scope.gradients(pulled, weights, given, create=create, keep=True)
        return unflatten([scope.settle(t) for t in found], pullback.structure)

    return unflatten(pullback.results, pullback.structure), jvp_fn
