"""`autograd.Function` within vmap: its own vmap, or its forward over the samples.

Source: https://pytorch.org/docs/stable/notes/extending.func.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..registry import named
from ..state import ambient, state
from ..tensor import Tensor
from .tree import flatten, spread, unflatten

if TYPE_CHECKING:
    from ..backends.batched import BatchedBackend

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What a Function's vmap is told of the level it runs in."""

    batch_size: int
    randomness: str


def batched(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the forward of the Function `cls` gives for arguments of which some hold all samples."""
    own = cls.vmap is not cls.__mro__[-2].vmap
    name = cls.__name__
    if cls.generate_vmap_rule:
        if own:
            raise RuntimeError(
                f"You tried to vmap over {name}, but it has both generate_vmap_rule=True and an "
                f"overridden vmap "
                "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap "
                "staticmethod to "
                f"avoid ambiguity. {_MORE}"
            )
        return cls.forward(*args, **kwargs)
    if not own:
        raise RuntimeError(
            f"You tried to vmap over {name}, but it does not have vmap support. Please override "
            f"and implement the "
            f"vmap staticmethod or set generate_vmap_rule=True. {_MORE}"
        )
    level = state.vmaps[-1]
    leaves, structure = flatten(args)
    dims = [0 if isinstance(x, Tensor) and x.backend is level else None for x in leaves]
    below = [level.front(x) if d == 0 else x for x, d in zip(leaves, dims, strict=True)]
    with ambient(vmaps=state.vmaps[:-1]):
        found = cls.vmap(
            VmapInfo(level.size, level.randomness), unflatten(dims, structure), *unflatten(below, structure)
        )
        if not (isinstance(found, tuple) and len(found) == 2):
            raise RuntimeError(
                "Expected the vmap staticmethod to have two returns, an output and out_dims with "
                "pytree structure "
                f"compatible with the output. Got a {type(found)} instead"
            )
        return _above(level, *found)


def _above(level: BatchedBackend, output: Any, out_dims: Any) -> Any:
    """The output of a Function's vmap, as one sample."""
    outputs, made = flatten(output)
    where = spread(out_dims, made)
    if where is None:
        raise RuntimeError("The vmap staticmethod gave out_dims that do not fit the structure of its output")
    up = [
        o if d is None or not isinstance(o, Tensor) else level.wrap(named.movedim(o, [d], [0]) if d else o)
        for o, d in zip(outputs, where, strict=True)
    ]
    return unflatten(up, made)
