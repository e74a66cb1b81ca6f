"""Random ops within `vmap`: refused, drawn once for all samples, or once per sample, by its `randomness`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data import state
from ..schema import named

if TYPE_CHECKING:
    from .mapped_call import MappedCall

_REFUSED = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)
_NEVER = (
    "vmap: We do not yet support calling random operations inside of vmap. Please perform random operations "
    "outside of vmap as a workaround"
)
_NOT_SAME = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with "
    "functorch"
)


def _shared(call: MappedCall, inputs: list[Any]) -> Any:
    """A draw that is the same for all samples, including those of other chunks."""
    level = call.level
    if level.draws is None:
        return call.below(inputs)
    if level.drawn == len(level.draws):
        level.draws.append(call.below(inputs))
    level.drawn += 1
    # Cloned, as the function may write to it.
    return named.clone(level.draws[level.drawn - 1])


def randomly(call: MappedCall) -> list[Any]:
    """The outputs of a random op; PyTorch's RuntimeError if `randomness` forbids it."""
    level, inputs = call.level, call.inputs
    if level.randomness == "error":
        raise RuntimeError(_NEVER if state.direct else _REFUSED)
    if level.randomness == "same":
        if call.mapped and call.op.effects.reads_values:
            raise RuntimeError(_NOT_SAME)
        one = [call.sample(x, 0) for x in inputs] if level.size else call.nothing()
        return [level.lift(_shared(call, one))]
    if "size" in call.attrs:
        return [level.wrap(call.below(inputs, size=[level.size, *call.attrs["size"]]))]
    if not call.op.effects.independent:
        (meta,) = call.metas
        rows = [call.below([call.sample(x, i) for x in inputs]) for i in range(level.size)]
        with call.ambient():
            made = named.stack(rows) if rows else named.zeros([0, *meta.shape], dtype=meta.dtype)
        return [level.wrap(made)]
    more = {"features": call.attrs["features"] + 1} if call.attrs.get("features") else {}
    return [level.wrap(call.below([call.front(x) for x in inputs], **more))]
