"""Messages: requests to a session and its replies, as tagged unions (the tag is the field `type`)."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from .dtypes import DTypeName
from .fields import Count, Logged, Name, Scalar
from .limits import DEFAULT
from .names import SessionName
from .problems import Problem
from .profiles import BatchTime, FrontTime, KernelRun, KernelTime, Miss
from .program import Program, Sites

_IDS = Meta(max_length=DEFAULT.batch_ids)


class _Message(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True, forbid_unknown_fields=True):
    """Base of all messages."""


class TensorInfo(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A session tensor as the mirror needs it. Strides are in elements; `dtype` is NumPy's name."""

    id: str
    name: str | None
    shape: list[int]
    strides: list[int]
    dtype: DTypeName
    requires_grad: bool
    is_leaf: bool
    version: int
    has_grad: bool
    is_inference: bool = False
    """Created in inference mode."""
    is_conj: bool = False
    """Its memory holds conjugated values."""
    has_graph: bool = False
    """It has its own history; a view without one gets it from its base on demand."""
    is_marked: bool = False
    """`requires_grad` was set on it; otherwise a view requires gradients if its base does."""


class Restored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of a session when it was made again by other kernels than those that had run it."""

    snapshot: int
    """The entry of its record at which it began: what came of those before is the same to the bit."""
    entries: int
    """How many were run again."""
    differing: int
    """Of these, those whose stored reply has other bits."""
    lost: int
    """How many could not be run again: they are not in the session, and its epoch is a new one."""
    made_by: str
    """The kernels that had run them, what they depend on included; empty if that is not known."""
    by: str
    """Those that have."""


class SessionInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A session as `GET /v1/sessions/{name}` shows it. `tensors` .. `writers` are counts."""

    name: SessionName
    epoch: int
    last_position: int = 0
    tensors: int = 0
    bytes: int = 0
    messages: int = 0
    batches: int = 0
    round_trips: int = 0
    steps: int = 0
    writers: int = 0
    asleep: bool = False
    """Whether it is on the disk only, until somebody asks it for something else."""
    restored: Restored | msgspec.UnsetType = msgspec.UNSET
    """The last time that other kernels made it again, if any did."""
    device: str | msgspec.UnsetType = msgspec.UNSET
    """The kind of device that it computes on, where that is not `cpu`."""
    node: str | msgspec.UnsetType = msgspec.UNSET
    """The node of the cluster that it is on, where there is a cluster."""


class SnapshotInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A snapshot that was taken by hand, of the session at `position`."""

    id: Annotated[str, Meta(title="SnapshotId", extra_json_schema={"pattern": "^[0-9]+-[0-9a-f]{8}$"})]
    session: SessionName
    position: int
    bytes: int
    """Of its file."""
    created: int
    """Seconds since 1970."""


# Requests


class Attach(_Message, frozen=True, tag="attach"):
    """Become a writer of the session, or resume as an earlier one with `resume` and `epoch`.

    `client` is free text for people.
    """

    client: Annotated[str, Meta(max_length=256)] = ""
    resume: Count | None = None
    epoch: Count | None = None


class Acquire(_Message, frozen=True, tag="acquire"):
    """Begin a new epoch, fence all earlier writers, and become a writer."""


class Batch(_Message, frozen=True, tag="batch", kw_only=True):
    """A program, and everything that changes from run to run.

    `keep`: slots that become session tensors @writer.first, @writer.first+1, ... in order. `fetch`: slots or
    ids whose values the reply returns. `free`: ids to drop, before the first step, or after the last if the
    batch uses them elsewhere and no step failed. `bind`/`unbind`: shared names. `state`: ids whose TensorInfo
    the reply returns. `log`: points of curves, as of after the last step; an id that the batch frees is left
    out. `uploads`: for each step of op `upload`, a buffer of this frame or the key `w.n` of a staged upload.
    `sites`, if the daemon's extensions have it: the lines of the definition's steps, told by the first to
    define a program; `recording`, likewise: seconds from the first step to sending. `traceparent`,
    `tracestate`: the caller's trace (W3C Trace Context); what is malformed is ignored.
    """

    writer: Count
    epoch: Count
    seq: Count
    ack: Count
    program: Annotated[str, Meta(max_length=32)]
    definition: Program | None = None
    sites: Sites | None = None
    inputs: Annotated[list[Name], _IDS] = []
    values: Annotated[list[Scalar], _IDS] = []
    uploads: Annotated[list[Count | Name], _IDS] = []
    keep: Annotated[list[Count], _IDS] = []
    first: Count = 0
    fetch: Annotated[list[Count | Name], _IDS] = []
    free: Annotated[list[Name], _IDS] = []
    bind: Annotated[dict[str, Count | Name], _IDS] = {}
    unbind: Annotated[list[Name], _IDS] = []
    state: Annotated[list[Name], _IDS] = []
    log: Annotated[list[Logged], _IDS] = []
    recording: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    traceparent: Name = ""
    tracestate: Name = ""


class JsonBatch(_Message, frozen=True, tag="json-batch"):
    """A batch in the JSON form. Buffer 0 is the JSON text.

    Without `writer` the session numbers it (writer 0); otherwise `epoch`, `seq` and `ack` are as in Batch,
    and a missing `ack` means that all earlier replies were read.
    """

    idempotency_key: Annotated[str, Meta(max_length=256)] | None = None
    writer: Count | None = None
    epoch: Count = 0
    seq: Count = 0
    ack: Count | None = None


class PutTensor(_Message, frozen=True, tag="put-tensor"):
    """Create a leaf from buffer 0 and bind it to `name`."""

    name: Name
    requires_grad: bool = False


class PutJson(_Message, frozen=True, tag="put-json"):
    """Create a leaf from the JSON text in buffer 0 and bind it to `name`."""

    name: Name


class GetTensor(_Message, frozen=True, tag="get-tensor"):
    """Read a tensor, by name, id, or `x.grad`. One of more than `most` bytes is only described."""

    name: Name
    most: Count | None = None


class GetTensors(_Message, frozen=True, tag="get-tensors"):
    """Read several tensors at once, to be written as JSON; refused if a JSON body cannot hold them."""

    names: Annotated[list[Name], _IDS]


class DeleteTensor(_Message, frozen=True, tag="delete-tensor"):
    """Unbind a name; for `x.grad`, clear the gradient."""

    name: Name


class ListTensors(_Message, frozen=True, tag="list-tensors"):
    """Ask for the TensorInfo of every tensor of the session."""


class BackwardJson(_Message, frozen=True, tag="backward-json"):
    """Run `backward` from the tensor `name`. Buffer 0 is the JSON text of its arguments."""

    name: Name


class GetGraph(_Message, frozen=True, tag="get-graph"):
    """Ask for the graph of a tensor, as JSON or DOT, with at most `max_nodes` nodes."""

    name: Name
    form: Literal["json", "dot"] = "json"
    max_nodes: Annotated[int, Meta(ge=1, le=DEFAULT.graph_nodes)] = 1000


class GetSeries(_Message, frozen=True, tag="get-series"):
    """Ask for the curves that scripts logged, as JSON."""


class GetMemory(_Message, frozen=True, tag="get-memory"):
    """Ask for what holds the session's memory, and for its course, as JSON. For some seconds from then on
    batches are looked at closely.
    """


class GetActivity(_Message, frozen=True, tag="get-activity"):
    """Ask how batches ran, and for the latest that were measured."""


class Measure(_Message, frozen=True, tag="measure"):
    """Measure so many batches from now on, unless somebody profiles the session."""

    batches: Annotated[int, Meta(ge=1, le=DEFAULT.measured_batches)]


class PutHook(_Message, frozen=True, tag="put-hook"):
    """Register the hook `name`. Buffer 0 is the JSON text that declares it."""

    name: Name


class GetHook(_Message, frozen=True, tag="get-hook"):
    """Ask for a hook."""

    name: Name


class DeleteHook(_Message, frozen=True, tag="delete-hook"):
    """Remove a hook; not an error if there is none."""

    name: Name


class ListHooks(_Message, frozen=True, tag="list-hooks"):
    """Ask for every hook of the session."""


class Stage(_Message, frozen=True, tag="stage"):
    """Stage buffer 0 under `key` (`writer.n`) for a later batch."""

    key: Name


class GetResult(_Message, frozen=True, tag="get-result"):
    """Read a pinned result; with `count`, that many bytes from `begin`, as a flat uint8 buffer."""

    key: Name
    begin: Count = 0
    count: Count | None = None


class GetReply(_Message, frozen=True, tag="get-reply"):
    """Ask for the stored reply to batch `seq` of `writer`."""

    writer: Count
    seq: Count


class Info(_Message, frozen=True, tag="info"):
    """Ask for the SessionInfo. Without `wake` one that must be made again first answers `recovering`."""

    wake: bool = True


class ProfileSwitch(_Message, frozen=True, tag="profile"):
    """Return what was measured so far, then start again, or stop if `on` is false."""

    on: bool


# Replies


class Result(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One fetched value: in a buffer of the reply, pinned under a key for `GetResult`, or None."""

    dtype: str = ""
    shape: list[int] = []
    buffer: int | None = None
    pinned: str | None = None
    absent: bool = False


class Attached(_Message, frozen=True, tag="attached"):
    """The reply to Attach and Acquire. `window`: how many batches may be unacknowledged."""

    writer: int
    epoch: int
    window: int
    session: SessionInfo


class BatchReply(_Message, frozen=True, tag="batch-reply", kw_only=True):
    """The outcome of a batch: `applied` steps took effect; after a problem, the rest did not run.

    `others`: whether other writers applied batches since this writer's last; `changed`: the shared tensors
    that they changed.
    """

    seq: int
    position: int
    applied: int = 0
    skipped: bool = False
    replayed: bool = False
    results: list[Result] = []
    others: bool = False
    changed: list[TensorInfo] = []
    state: list[TensorInfo | None] = []
    problem: Problem | None = None


class TensorReply(_Message, frozen=True, tag="tensor"):
    """A tensor's info, with its data in buffer 0."""

    info: TensorInfo


class TensorsReply(_Message, frozen=True, tag="fetched"):
    """Tensors in the order requested, None for a gradient that is None; a buffer for each of the others."""

    infos: list[TensorInfo | None]


class Tensors(_Message, frozen=True, tag="tensors"):
    """Every tensor of the session."""

    tensors: list[TensorInfo]


class JsonReply(_Message, frozen=True, tag="json-reply"):
    """A JSON answer to pass on as is: buffer 0 is its text, `status` its HTTP status."""

    status: int = 200
    replayed: bool = False


class Done(_Message, frozen=True, tag="done"):
    """Success; says only whether something was created."""

    created: bool = False


class SessionReply(_Message, frozen=True, tag="session"):
    """The reply to Info."""

    session: SessionInfo


class Profiled(_Message, frozen=True, tag="profiled", kw_only=True, forbid_unknown_fields=False):
    """What was measured: counts since the start, and the latest of `batches`, `misses`, `calls` and `front`.

    `hits` and `misses` count batches whose program the session knew or did not. Seconds are wall time;
    moments are seconds of the daemon's clock.
    """

    planned: int = 0
    eager: int = 0
    hits: int = 0
    misses: list[Miss] = []
    new_programs: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    seconds: float = 0.0
    waited: float = 0.0
    kernels: list[KernelTime] = []
    batches: list[BatchTime] = []
    calls: list[KernelRun] = []
    front: list[FrontTime] = []


class Activity(_Message, frozen=True, tag="activity", kw_only=True):
    """How batches ran since the session was made or made again, replays included, and the latest that were
    measured.
    """

    planned: int = 0
    eager: int = 0
    traced: int = 0
    """Plans that were made."""
    reasons: dict[str, int] = {}
    """Why batches ran eagerly, and how many did."""
    measuring: bool = False
    """Whether batches are measured now."""
    profile: Profiled = Profiled()


class ProblemReply(_Message, frozen=True, tag="problem"):
    """The request was refused."""

    problem: Problem


Request: TypeAlias = (
    Attach
    | Acquire
    | Batch
    | JsonBatch
    | PutTensor
    | PutJson
    | GetTensor
    | GetTensors
    | DeleteTensor
    | ListTensors
    | BackwardJson
    | GetGraph
    | GetSeries
    | GetMemory
    | GetActivity
    | Measure
    | PutHook
    | GetHook
    | DeleteHook
    | ListHooks
    | Stage
    | GetResult
    | GetReply
    | Info
    | ProfileSwitch
)
Reply: TypeAlias = (
    Attached | BatchReply | TensorReply | TensorsReply | Tensors | JsonReply | Done | SessionReply | Profiled
    | Activity | ProblemReply
)  # fmt: skip
Message: TypeAlias = Request | Reply
