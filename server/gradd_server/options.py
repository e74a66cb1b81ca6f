"""The JSON bodies that the front reads itself; the session reads those of batches, tensors and hooks."""

from __future__ import annotations

from typing import Annotated, Literal

from gradd_protocol.fields import Count
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.names import Reference, SessionName, UploadKey
from msgspec import Meta, Struct

_QUOTA = Meta(extra_json_schema={"minimum": 0})


WEEK = 168
"""Hours."""
MOST_HOURS = 8784
"""Hours of a year: who is to read for longer gets a key of the tenant's."""

Durability = Literal["memory", "process", "disk"]


class SnapshotRef(Struct, frozen=True, forbid_unknown_fields=True):
    """A snapshot that this daemon has."""

    session: SessionName
    id: str


class SessionOptions(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The body of PUT session. Absent members have the daemon's defaults."""

    device: str | None = None
    """The daemon's device, or one of its GPUs, as `cuda:1`; `cuda` is any of them. Absent: the daemon's; of
    several GPUs the one with most memory left for the tenant."""
    quota_bytes: Annotated[int, _QUOTA] | None = None
    """Limit for the session's tensors, in bytes."""
    durability: Durability | None = None
    """What the session survives: with `process` (the default of a session with a name) the end of the daemon
    and of its engine processes, with `disk` that of the machine, with `memory` neither."""
    from_snapshot: SnapshotRef | None = None
    """Where a new session begins: with what that one's names held there, and none of its clients."""


class ProfileOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of :profile."""

    on: bool
    """Whether to measure from now on."""


class ShareOptions(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The body of POST shares."""

    hours: Annotated[int, Meta(ge=1, le=MOST_HOURS)] = WEEK
    """How long the share lives; 168 where it is not said."""


class MeasureOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of :measure."""

    batches: Annotated[int, Meta(ge=1, le=LIMITS.measured_batches)] = 20
    """How many to measure."""


class MoveOptions(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The body of :move."""

    node: str | None = None
    """Ray's id of the node. Absent: of the others, the one with most memory left for the tenant."""


class CancelOptions(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The body of :cancel."""

    writer: Count | None = None
    """Only the batches of this writer; 0: those that the session numbers. Absent: all."""
    seq: Count | None = None
    """Only those up to this number."""


class FetchOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `tensors:fetch`."""

    names: Annotated[list[Reference], Meta(max_length=LIMITS.batch_steps)]


MOST_MEMBERS = 256
"""Sessions of one `:reduce`."""

_TOGETHER = Meta(max_length=LIMITS.batch_steps)


class ReduceMember(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A session of `:reduce`: what it gives, and where it gets the results."""

    session: SessionName
    tensors: Annotated[list[Reference], _TOGETHER] = []
    """What it gives, in the order of the results; absent: nothing."""
    uploads: Annotated[list[UploadKey], _TOGETHER] = []
    """Under which key of its writers each result is staged; absent: it gets none."""


class ReduceOptions(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The body of `:reduce`."""

    members: Annotated[list[ReduceMember], Meta(min_length=1, max_length=MOST_MEMBERS)]
    """The sessions. Tensors are added in their order."""
    op: Literal["sum", "mean"] = "sum"
    """What becomes of the tensors that stand at the same place of their lists."""
