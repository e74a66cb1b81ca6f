"""`vmap`: turn a function of a sample into a function of a batch.

The function runs once, on tensors of a level (`level.py`) that show one sample and hold them all.
Source: https://pytorch.org/docs/stable/generated/torch.vmap.html
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NoReturn

from ..data import ambient, state
from ..schema import named
from ..tensor import Tensor
from . import rules_index, rules_linear  # noqa: F401 - importing them registers the rules
from .level import BatchedBackend
from .tree import flatten, spread, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .tree import Structure


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
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got " + str(randomness)
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        _check_out_dims(out_dims, func)
        leaves, structure = flatten(args)
        dims = _in_dims(in_dims, args, leaves, structure, func)
        size = _batch_size(dims, leaves)
        if chunk_size is None or size <= chunk_size:
            return _run(func, size, dims, leaves, structure, out_dims, randomness, kwargs)
        found: list[tuple[list[Any], Structure]] = []
        draws: list[Any] = []
        for start in range(0, size, chunk_size):
            count = min(chunk_size, size - start)
            part = [
                x if d is None else named.slice_from(x, d, start, count)
                for x, d in zip(leaves, dims, strict=True)
            ]
            each = _run(func, count, dims, part, structure, out_dims, randomness, kwargs, draws)
            found.append(flatten(each))
        outputs, made = zip(*(leaves for leaves, _ in found), strict=True), found[0][1]
        where = spread(out_dims, made)
        assert where is not None
        joined = [named.cat(list(parts), d) for parts, d in zip(outputs, where, strict=True)]
        return unflatten(joined, made)

    return mapped


def _run(
    func: Callable[..., Any],
    size: int,
    dims: Sequence[int | None],
    leaves: Sequence[Any],
    structure: Structure,
    out_dims: Any,
    randomness: str,
    kwargs: dict[str, Any],
    draws: list[Any] | None = None,
) -> Any:
    first = next(x for x, d in zip(leaves, dims, strict=True) if d is not None)
    level = level_over(state.vmaps[-1] if state.vmaps else first.backend, size, randomness)
    level.draws = draws
    inputs = [x if d is None else level.wrap(_moved(x, d, 0)) for x, d in zip(leaves, dims, strict=True)]
    try:
        with ambient(vmaps=(*state.vmaps, level)):
            found = func(*unflatten(inputs, structure), **kwargs)
        outputs, made = flatten(found)
        where = _out_dims(out_dims, found, made, func)
        return unflatten([_unwrapped(level, o, d, func) for o, d in zip(outputs, where, strict=True)], made)
    finally:
        level.open = False


def level_over(below: Any, size: int, randomness: str = "error") -> BatchedBackend:
    """A level of `size` samples over the tensors of a backend, which need not be the innermost open level."""
    outer = tuple(level for level in state.vmaps if level.level <= below.level)
    return BatchedBackend(below, size, randomness, outer)


def lifted(t: Tensor) -> Tensor:
    """`t` as a tensor of the innermost open level, the same for every sample and without history there; `t`
    itself outside vmap or if it is already of that level.

    A transform within vmap differentiates with respect to such tensors, so that their history belongs to the
    level alone.
    """
    level = state.vmaps[-1] if state.vmaps else None
    return t if level is None or t.backend is level else level.lift(t)


def _moved(t: Any, source: int, target: int) -> Any:
    return t if source == target else named.movedim(t, [source], [target])


def _unwrapped(level: BatchedBackend, x: Any, dim: int | None, func: Callable[..., Any]) -> Any:
    """An output of the function, as the caller gets it."""
    name = name_of(func)
    if dim is None:
        if not isinstance(x, Tensor) or x.backend is not level:
            return x
        if not x.mapped:  # type: ignore[attr-defined]
            return level.only(x)
        raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
    if not isinstance(x, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(x)}. Did you mean to set "
            "out_dims= to None for output?"
        )
    return _moved(level.front(x), 0, dim)


# -- what is asked for -----------------------------------------------------------------------------


def name_of(func: Any) -> str:
    """A function's name for messages."""
    name = getattr(func, "__name__", None)
    if name is not None:
        return str(name)
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return repr(func)


def _in_dims(
    in_dims: Any, args: Any, leaves: Sequence[Any], structure: Structure, func: Callable[..., Any]
) -> list[int | None]:
    """For each input a dimension, counted from the front, or None."""
    call = f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{call}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
            f"inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name_of(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs. The latter is unsupported."
        )
    dims = spread(in_dims, structure)
    if dims is None:
        raise ValueError(
            f"{call}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{flatten(in_dims)[1]} but inputs has structure {structure}."
        )
    for i, (x, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"{call}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
            )
        if not isinstance(x, Tensor):
            raise ValueError(
                f"{call}Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot vmap "
                "over non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -x.ndim <= dim < x.ndim:
            raise ValueError(
                f"{call}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
                f"{x.ndim} so expected in_dim to satisfy -{x.ndim} <= in_dim < {x.ndim}."
            )
        dims[i] = dim % x.ndim
    return dims


def _batch_size(dims: Sequence[int | None], leaves: Sequence[Any]) -> int:
    sizes = [x.shape[d] for x, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    return same_size(sizes)


def same_size(sizes: list[int]) -> int:
    """The common size; ValueError if sizes differ."""
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


def _check_out_dims(out_dims: Any, func: Callable[..., Any]) -> None:
    if not all(d is None or isinstance(d, int) for d in flatten(out_dims)[0]):
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
            "collection of ints representing where in the outputs the vmapped dimension should appear."
        )


def _out_dims(out_dims: Any, found: Any, made: Structure, func: Callable[..., Any]) -> list[int | None]:
    """For each output a dimension or None."""

    def refuse() -> NoReturn:
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
            f"structure of `outputs`. out_dims has structure {flatten(out_dims)[1]} but outputs has "
            f"structure {made}."
        )

    if isinstance(found, Tensor) and isinstance(out_dims, tuple):
        if len(out_dims) != 1:
            refuse()
        return list(out_dims)
    dims = spread(out_dims, made)
    if dims is None:
        refuse()
    return dims
