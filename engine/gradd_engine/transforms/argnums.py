"""Which arguments of a function to differentiate with respect to: PyTorch's argnums, with its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..batching import flatten, lifted, unflatten
from ..data import ambient
from ..tensor import Tensor
from .captured import Captured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..batching import Structure


def _place(argnum: Any, count: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def checked(argnums: Any) -> Any:
    """`argnums`; RuntimeError for None, which only forward mode accepts, for all arguments."""
    if argnums is None:
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    return argnums


class Arguments:
    """A call's arguments, some of which are differentiated with respect to: ``leaves`` are the tensors in
    them, nested as in ``structure``. With `argnums` None, all are.
    """

    def __init__(self, args: tuple[Any, ...], argnums: int | tuple[int, ...] | None) -> None:
        self.args = args
        self.places: int | tuple[int, ...]
        chosen: Any
        if argnums is None:
            self.places, chosen = tuple(range(len(args))), args
        elif isinstance(argnums, int):
            self.places = _place(argnums, len(args))
            chosen = args[self.places]
        elif isinstance(argnums, tuple):
            self.places = places = tuple(_place(n, len(args)) for n in argnums)
            if not places:
                raise RuntimeError("argnums must be non-empty")
            if len(set(places)) != len(places):
                raise RuntimeError(f"argnums elements must be unique, got {places}")
            chosen = tuple(args[n] for n in places)
        else:
            raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
        self.leaves: list[Any]
        self.structure: Structure
        self.leaves, self.structure = flatten(chosen)

    def nested(self, leaves: Sequence[Any]) -> Any:
        """`leaves`, nested like the chosen arguments."""
        return unflatten(leaves, self.structure)

    def call(self, func: Callable[..., Any], leaves: Sequence[Tensor], kwargs: dict[str, Any]) -> Any:
        """Call `func` with `leaves` as the chosen arguments."""
        given, structure = flatten([*self.args, kwargs])
        given = [lifted(x) if isinstance(x, Tensor) else x for x in given]
        *args, kwargs = unflatten(given, structure)
        chosen = self.nested(leaves)
        if isinstance(self.places, int):
            args[self.places] = chosen
        else:
            for n, x in zip(self.places, chosen, strict=True):
                args[n] = x
        ours = [x for x in (*given, *leaves) if isinstance(x, Tensor)]
        with ambient(transform=True, watcher=Captured(ours)):
            return func(*args, **kwargs)


def with_aux(found: Any, call: str) -> tuple[Any, Any]:
    """Output and auxiliary output; RuntimeError unless the function returned a pair."""
    if not (isinstance(found, tuple) and len(found) == 2):
        raise RuntimeError(
            f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return found
