"""Forward mode as a function transform, and whole Jacobians: `jvp`, `jacrev`, `jacfwd`, `hessian`.

Source: https://pytorch.org/docs/stable/func.api.html
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..batching import flatten, unflatten, vmap
from ..ops.index import stack
from ..ops.shared import zeros_like
from ..schema import named
from ..tensor import Tensor
from . import forward_ad
from .argnums import Arguments, checked, with_aux
from .functional import basis
from .grad import Pullback, check_outputs, check_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..batching import Structure

_JVP = "jvp(f, primals, tangents)"


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """The output of `func` at `primals`, a tuple, and its derivative along `tangents`, in one forward pass.

    With `has_aux`, ``func`` returns ``(output, aux)``, and aux is the third result. With `strict`,
    RuntimeError if an output does not depend on the inputs. See
    https://pytorch.org/docs/stable/generated/torch.func.jvp.html.
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    arguments = Arguments(primals, None)
    given, structure = flatten(tangents)
    if repr(structure) != repr(arguments.structure):
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if "
            "primals is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{arguments.structure} and tangents with structure {structure}"
        )
    for what, some in (("primals", arguments.leaves), ("tangents", given)):
        if not some:
            raise RuntimeError(f"{_JVP}: Expected {what} to contain at least one Tensor.")
        for t in some:
            if not isinstance(t, Tensor):
                raise RuntimeError(f"{_JVP}: Expected {what} to only contain Tensors, got {type(t)}")
    out, moved, made, aux = _push(func, arguments, given, strict, has_aux)
    result = unflatten(out, made), unflatten(moved, made)
    return (*result, aux) if has_aux else result


def _push(
    func: Callable[..., Any],
    arguments: Arguments,
    tangents: Sequence[Tensor | None],
    strict: bool,
    has_aux: bool,
) -> tuple[list[Tensor], list[Tensor], Structure, Any]:
    """The outputs, their derivatives along `tangents` (None for a constant input), their structure, aux."""
    aux = None
    with forward_ad.level() as level:
        duals = [
            x if t is None else level.dual(x, t) for x, t in zip(arguments.leaves, tangents, strict=True)
        ]
        found = arguments.call(func, duals, {})
        if has_aux:
            found, aux = with_aux(found, _JVP)
            leaves, nested = flatten(aux)
            check_tensors(leaves)
            aux = unflatten([level.unpack(x).primal for x in leaves], nested)
        outputs, structure = flatten(found)
        check_outputs(outputs, _JVP)
        pairs = [level.unpack(t) for t in outputs]
    if strict and any(t is None for _, t in pairs):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is "
            "not allowed with strict=True."
        )
    moved = [zeros_like(p) if t is None else t for p, t in pairs]
    return [p for p, _ in pairs], moved, structure, aux


def _each_row(fn: Callable[[Tensor], list[Tensor]], rows: Tensor, chunk_size: int | None) -> list[Tensor]:
    """The results of `fn` for each row, stacked; without vmap if `chunk_size` is 1."""
    if chunk_size != 1:
        found: list[Tensor] = vmap(fn, chunk_size=chunk_size)(rows)
        return found
    parts = [fn(row) for row in rows.unbind(0)]  # type: ignore[attr-defined]
    return [stack(list(some)) for some in zip(*parts, strict=True)]


def _check_real(name: str, tensors: Sequence[Any], what: str) -> None:
    for i, t in enumerate(tensors):
        if isinstance(t, Tensor) and t.dtype.is_complex:
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened input "
                f"idx: {i}"
            )


def _pulled(pullback: Pullback, out: Tensor, row: Tensor) -> list[Tensor]:
    return pullback.pull([out], [row])


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of `func` by reverse mode: for each output and chosen input, a tensor of both shapes
    joined.

    All rows are computed in one pass, or `chunk_size` at a time; `_preallocate_and_copy` is ignored. With
    `has_aux`, ``func`` returns ``(output, aux)`` and the result is ``(jacobian, aux)``. See
    https://pytorch.org/docs/stable/generated/torch.func.jacrev.html.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def jacobian(*args: Any) -> Any:
        _check_real("jacrev", flatten(args)[0], "inputs")
        pullback = Pullback(func, Arguments(args, checked(argnums)), has_aux)
        _check_real("jacrev", pullback.outputs, "outputs")
        found = []
        for out in pullback.outputs:
            rows = _each_row(functools.partial(_pulled, pullback, out), basis(out), chunk_size)
            parts = [
                pullback.scope.settle(r.reshape((*out.shape, *x.shape)))  # type: ignore[attr-defined]
                for r, x in zip(rows, pullback.inputs, strict=True)
            ]
            found.append(pullback.arguments.nested(parts))
        result = unflatten(found, pullback.structure)
        return (result, pullback.aux) if has_aux else result

    return jacobian


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

    @functools.wraps(func)
    def jacobian(*args: Any) -> Any:
        _check_real("jacfwd", flatten(args)[0], "inputs")
        arguments = Arguments(args, argnums)
        made: Any = None
        nested: Any = None

        def push(at: int, direction: Tensor) -> tuple[list[Tensor], list[Tensor]]:
            nonlocal made, nested
            given = [direction if i == at else None for i in range(len(arguments.leaves))]
            outputs, moved, made, aux = _push(func, arguments, given, False, has_aux)
            _check_real("jacfwd", outputs, "outputs")
            leaves, nested = flatten(aux) if has_aux else ([], None)
            return moved, leaves

        columns = []
        aux: list[Any] = []
        for at, x in enumerate(arguments.leaves):
            # Without directions, push zeros once to get the outputs.
            rows = basis(x) if x.numel() else named.expand(zeros_like(x), [1, *x.shape])
            moved, aux = vmap(functools.partial(push, at), randomness=randomness)(rows)
            columns.append([named.slice_from(c, 0, 0, x.numel()) for c in moved])
        found = []
        for some in zip(*columns, strict=True):
            parts = [
                c.movedim(0, -1).reshape((*c.shape[1:], *x.shape))
                for c, x in zip(some, arguments.leaves, strict=True)
            ]
            found.append(arguments.nested(parts))
        result = unflatten(found, made)
        # Aux is the same for every direction.
        return (result, unflatten([a[0] for a in aux], nested)) if has_aux else result

    return jacobian


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """Second derivatives of `func`, by forward mode over reverse mode.

    See https://pytorch.org/docs/stable/generated/torch.func.hessian.html.
    """
    return jacfwd(jacrev(func, argnums), argnums)
