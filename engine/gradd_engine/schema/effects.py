"""What running an op does besides giving its outputs, and what its outputs depend on besides its inputs.

Plans, sessions, clients and vmap ask these instead of knowing ops by name. Every default is the cautious
one: an op that says nothing is slower than it could be, and never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Pass(Enum):
    """How an op takes part in a backward pass."""

    #: it runs one, into the ``.grad`` of leaves
    BACKWARD = "backward"
    #: it runs one, and returns the gradients
    GRAD = "grad"
    #: it begins one that pauses at user callbacks
    BEGIN = "begin"
    #: it resumes such a one, or ends it
    RESUME = "resume"
    #: it runs the rules of one node
    NODE = "node"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The effects of one op."""

    #: whether a kernel may refuse values: True, False, or "not of floats" (no value of a real floating
    #: dtype). A plan leaves out a kernel that cannot where nobody looks at the result, and lets it run after
    #: a write.
    raises: bool | str = True
    #: it draws from the random stream
    random: bool = False
    #: a random op: its draws depend on the values of its inputs, not on their geometry alone
    reads_values: bool = True
    #: a random op draws each element by itself: a batch can be drawn at once
    independent: bool = False
    #: it acts on autograd's own state, and is always recorded as itself
    stateful: bool = False
    #: a plan or a traced function can hold it; False for what acts on more: the random stream, memory that
    #: moves, passes under way, forward-mode levels, what only a graph knows
    traced: bool = True
    #: shapes of results depend on values
    dynamic: bool = False
    #: the input whose values decide the shape: samples of a batch may not differ in it
    shaped_by: str = ""
    #: what it writes counts as no change: versions stay
    unversioned: bool = False
    #: it touches more than the storages of its arguments
    wide: bool = False
    #: how it takes part in a backward pass
    backward_pass: Pass | None = None
    #: of a stateful op: whether it runs on tensors without numbers as it does otherwise, or what does so:
    #: ``dry_run(*inputs, **attrs)`` leaves the autograd state that a run leaves, without its refusals, and
    #: gives the outputs, None where only a run can tell
    dry_run: bool | Callable[..., list[Any] | None] = False
    #: its result is the memory of its input, under a version counter of its own
    aliases: bool = False
    #: the program that it stands in needs its inputs no longer than it says itself
    keeps_inputs: bool = True
    #: in place it stores its second input, converted
    copies: bool = False
    #: in place it stores one value everywhere: in shared memory too
    uniform: bool = False
    #: ``reads_first(target, x, others)``: whether it has read its input `x` before it writes to `target`
    reads_first: Callable[[Any, Any, Any], bool] | None = None
    #: what PyTorch's vmap calls the in-place form where it refuses to write samples that differ to a tensor
    #: that all share; "" where it says that shapes do not fit
    shared_write: str = "inplace arithmetic"
    #: a view whose place in memory may be a run-time value of a plan: it is inferred anew at each replay
    window: bool = False
    #: a view's geometry counts from its input's first element, in elements of the same size: not from where
    #: the memory begins
    relative: bool = False
