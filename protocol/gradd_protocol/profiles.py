"""What a profile has rows of. Seconds are wall time; moments are seconds of the daemon's clock.

A client reads what a newer daemon measures: members that it does not know are left out.
"""

import msgspec


class KernelTime(msgspec.Struct, frozen=True):
    """Calls and seconds of one kernel, in batches that ran `how`: "planned" or "eager"."""

    name: str
    how: str
    calls: int
    seconds: float


class KernelRun(msgspec.Struct, frozen=True, array_like=True):
    """One call of a kernel, as `[name, began, seconds]`."""

    name: str
    began: float
    seconds: float


class BatchTime(msgspec.Struct, frozen=True, omit_defaults=True):
    """The batch at a position: how it ran ("planned", "eager"), `why` it was eager, its seconds in the engine
    and in the queue, the moments when it `came` to the engine process and `began`, its writer's number, and
    the seconds from its first step until its writer sent it, 0 where that is not told.
    """

    position: int
    program: str
    steps: int
    how: str
    why: str
    seconds: float
    waited: float
    came: float = 0.0
    began: float = 0.0
    writer: int = 0
    seq: int = 0
    recording: float = 0.0


class FrontTime(msgspec.Struct, frozen=True):
    """A batch in the front: when it came, was submitted to its engine process, and was answered."""

    writer: int
    seq: int
    came: float
    submitted: float
    answered: float


class Miss(msgspec.Struct, frozen=True):
    """A new program: the one before it, and the first step in which they differ."""

    program: str
    like: str = ""
    step: int = 0
    was: str = ""
    found: str = ""
