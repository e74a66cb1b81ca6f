"""What running an op does besides returning outputs, and what its outputs depend on besides its inputs.

Plans, sessions, clients and vmap ask these instead of knowing ops by name. Defaults are conservative: an op
that declares nothing is slower than it could be, but never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Histories(Enum):
    """Whose histories a stateful op changes, and what of their nodes, beside what their versions show."""

    #: it cannot be said
    ANY = "any"
    #: those of the tensors that it writes
    WRITTEN = "written"
    #: none; it may change flags and gradients
    NONE = "none"


class Pass(Enum):
    """How an op takes part in a backward pass."""

    #: runs one, accumulating into the ``.grad`` of leaves
    BACKWARD = "backward"
    #: runs one and returns the gradients
    GRAD = "grad"
    #: begins one that pauses at user callbacks
    BEGIN = "begin"
    #: resumes or ends a paused one
    RESUME = "resume"
    #: runs the rules of one node
    NODE = "node"


class StreamUse(Enum):
    """What a stateful op does with the random stream's position."""

    #: begins the stream of a seed
    SEEDS = "seeds"
    #: keeps the position in its result
    STORES = "stores"
    #: goes to the position that its input keeps; its result keeps the one before
    RESTORES = "restores"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The effects of one op."""

    #: whether a kernel may raise on some values: True, False, or "not of floats" (never on real floats). A
    #: plan drops a kernel that cannot raise if its result is unused, and may run it after a write.
    raises: bool | str = True
    #: its kernel may wait for the device, beside the waits of a dynamic op
    waits: bool = False
    #: draws from the random stream
    random: bool = False
    #: of a random op: draws depend on the values of its inputs, not only on their geometry
    reads_values: bool = True
    #: of a random op: elements are drawn independently, so a batch can be drawn at once
    independent: bool = False
    #: of a random op: its numbers are integers, or made of raw bits exactly, and so the same on every device
    exact: bool = False
    #: of a stateful op: what it does with the random stream's position
    stream: StreamUse | None = None
    #: acts on autograd's own state, and is always recorded as itself
    stateful: bool = False
    #: a plan or traced function may contain it; False for ops that act on more: the random stream, memory
    #: that moves, running passes, forward-mode levels, the graph itself
    traced: bool = True
    #: result shapes depend on values
    dynamic: bool = False
    #: the input whose values decide the shape; it may not differ between samples of a batch
    shaped_by: str = ""
    #: its writes do not count as changes: versions stay the same
    unversioned: bool = False
    #: touches more than the storages of its arguments
    wide: bool = False
    #: its role in a backward pass
    backward_pass: Pass | None = None
    #: of a stateful op: whose histories it changes
    histories: Histories = Histories.ANY
    #: of a stateful op: True if it runs as usual on tensors without values, or a function that replaces it
    #: there: ``dry_run(*inputs, **attrs)`` changes autograd state as a run would, without the run's errors,
    #: and returns the outputs, with None for any that only a run can determine
    dry_run: bool | Callable[..., list[Any] | None] = False
    #: its result shares its input's memory, under a version counter of its own
    aliases: bool = False
    #: the program it is a step of keeps its inputs alive
    keeps_inputs: bool = True
    #: of a stateful op: nodes, and what they keep, stay as they are, but for values of `.grad` in place
    spares_nodes: bool = False
    #: in place, it stores its second input, converted
    copies: bool = False
    #: in place, it stores the same value everywhere, so shared memory is allowed
    uniform: bool = False
    #: ``reads_first(target, x, others)``: whether it reads input `x` entirely before writing to `target`
    reads_first: Callable[[Any, Any, Any], bool] | None = None
    #: the name PyTorch's vmap uses for the in-place form when it refuses to write per-sample values to a
    #: shared tensor; "" if it reports a shape mismatch instead
    shared_write: str = "inplace arithmetic"
    #: a view whose place in memory may be a run-time value of a plan: inferred again at each replay
    window: bool = False
    #: a view whose geometry is relative to its input's first element, in elements of the same size
    relative: bool = False
