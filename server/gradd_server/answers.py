"""JSON answers that are not messages of the protocol, declared for openapi.yaml.

The handlers and the runtime write most of them as plain objects; tests check those against these types.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from gradd_protocol.dtypes import DTypeName
from gradd_protocol.fields import Real
from gradd_protocol.jsondata import Data
from gradd_protocol.jsonform import HookKind, StepBody
from gradd_protocol.limits import Limits
from gradd_protocol.messages import SessionInfo, SnapshotInfo
from gradd_protocol.names import Reference, TemporaryName, TensorName
from msgspec import UNSET, Meta, Struct, UnsetType, field


class Liveness(Struct, frozen=True):
    """The process is running."""

    status: Literal["live"]


class Readiness(Struct, frozen=True):
    """The daemon takes work; checks and counts are included with `?verbose`."""

    status: Literal["ready"]
    checks: dict[str, Literal["ok"]] | UnsetType = UNSET
    sessions: int | UnsetType = UNSET
    streams: int | UnsetType = UNSET
    unanswered: int | UnsetType = UNSET
    """Requests in progress."""


class Description(Struct, frozen=True):
    """What a daemon is and can do."""

    name: Literal["gradd"]
    version: str
    wire: str
    """The version of the wire protocol."""
    extensions: list[str]
    """Optional features beside frames over HTTP: check these, never the version."""
    limits: Limits
    dtypes: list[DTypeName]


class EngineLoad(Struct, frozen=True):
    """An engine process; counts since it began, over all sessions that it has had."""

    pid: int
    up: bool
    """Whether it shows signs of life."""
    answers: bool
    """Whether what follows is of now; it is the latest that is known where the process computes."""
    waiting: int
    """Frames that it has not answered."""
    resident_bytes: int
    """Its memory in RAM."""
    sessions: dict[str, int]
    """By state: awake, asleep, recovering, refused."""
    tensors: int
    bytes: int
    """What counts against the quotas of its sessions."""
    quota_bytes: int
    counts: dict[str, int]
    """Batches, and how many of them failed, were replayed or refused; steps; batches planned and eager."""
    seconds: float
    """In which it ran batches."""
    node: str = ""
    """The node of the cluster where it runs, if that is no process of the daemon's machine."""


class TenantLoad(Struct, frozen=True):
    """What a tenant has, and has had computed."""

    tenant: str
    sessions: int
    bytes: int
    batches: int
    seconds: float
    """Of engine time."""


class ActiveSession(Struct, frozen=True):
    """One of the sessions that answered last; counts since its engine process has it."""

    tenant: str
    name: str
    tensors: int
    bytes: int
    idle_seconds: float
    counts: dict[str, int]


class DaemonStatus(Struct, frozen=True):
    """What a daemon does."""

    version: str
    ready: bool
    uptime_seconds: float
    connections: int
    streams: int
    unanswered: int
    """Requests and batches in progress."""
    traffic_bytes: int
    """What these hold in the daemon: bodies, frames, answers being sent."""
    restarts: int
    """Engine processes that took the place of one that ended."""
    lost: int
    """Sessions that were lost with an engine process."""
    engines: list[EngineLoad]
    tenants: list[TenantLoad]
    sessions: list[ActiveSession]
    """The latest first, at most 20 of each engine process."""


class LiveSession(Struct, frozen=True):
    """An open session. Of those that answered last there are figures, counted since their engine process
    has them.
    """

    tenant: str
    name: str
    streams: int
    """Clients that are connected to it."""
    tensors: int | UnsetType = UNSET
    bytes: int | UnsetType = UNSET
    idle_seconds: float | UnsetType = UNSET
    counts: dict[str, int] | UnsetType = UNSET


class LiveState(Struct, frozen=True):
    """What a daemon does, as far as the asker may see it."""

    version: str
    tenant: str
    """The asker's."""
    role: Literal["user", "operator", "reader"]
    """`reader`: of a share, who sees its session alone."""
    ready: bool
    uptime_seconds: float
    engines: list[EngineLoad]
    """For operators alone."""
    tenants: list[TenantLoad]
    sessions: list[LiveSession]
    """The latest first; then those of which there are no figures."""
    more: int
    """Sessions that are left out."""


class OpInput(Struct, frozen=True):
    """A parameter that takes tensors."""

    name: str
    kind: str
    """As in PyTorch's signatures: `Tensor`, `Tensor?`, `Tensor[]`, `Tensor|Number`."""
    optional: bool


class OpAttr(Struct, frozen=True):
    """A parameter that takes no tensors."""

    name: str
    schema: dict[str, Any]
    """The JSON schema of its values."""
    run_time: bool
    """Whether it may differ from batch to batch without a new program."""
    nullable: bool
    default: Any | UnsetType = UNSET
    """If absent, the attribute is required."""


class OpInfo(Struct, frozen=True):
    """An op that a step may call; `inputs` and `attrs` in PyTorch's order."""

    name: str
    signature: str
    doc: str
    inputs: list[OpInput]
    attrs: list[OpAttr]
    differentiable: bool
    in_place: bool
    view: bool
    random: bool


class OpCatalogue(Struct, frozen=True):
    """Every op that a step may call, by name."""

    ops: dict[str, OpInfo]


class ProblemPage(Struct, frozen=True):
    """What a problem type means."""

    type: Annotated[str, Meta(title="ProblemType")]
    title: str
    status: int
    description: str


class ListedSession(SessionInfo, frozen=True):
    """A session in a list."""

    lost: bool | UnsetType = UNSET
    """Its engine process ended; it can only be deleted."""
    away: Literal["recovering", "store-failed", "disk-full"] | UnsetType = UNSET
    """The problem for which its store does not give it at the moment."""


class SessionPage(Struct, frozen=True, omit_defaults=True):
    """Sessions by name."""

    sessions: list[ListedSession]
    next_page_token: str | None = None
    """The `page_token` of the next page; absent on the last page."""


class SnapshotList(Struct, frozen=True):
    """Snapshots that were taken by hand, the latest first."""

    snapshots: list[SnapshotInfo]


class ShareInfo(Struct, frozen=True):
    """A share of a session; times are in seconds of the epoch."""

    id: str
    created: int
    expires: int


class NewShare(ShareInfo, frozen=True):
    """A share that was made."""

    token: str
    """Its key, which is told once."""


class ShareList(Struct, frozen=True):
    """The shares of a session that have not ended, the latest first."""

    shares: list[ShareInfo]


class TensorValue(Struct, frozen=True):
    """A tensor's info and data."""

    dtype: DTypeName
    shape: list[int]
    data: Data


class FetchedValues(Struct, frozen=True):
    """Tensors by the requested names; null for a gradient that is None."""

    results: dict[str, TensorValue | None]


class Results(Struct, frozen=True):
    """The outcome of a batch: what was fetched, by name; null for a gradient that is None."""

    seq: int
    """The batch's number, counted by its writer."""
    position: int
    """The number of changes to the session so far."""
    results: dict[str, TensorValue | None]


class ReducedTensor(Struct, frozen=True):
    """What was staged."""

    dtype: DTypeName
    shape: list[int]


class Reduced(Struct, frozen=True):
    """What `:reduce` staged, in the order of the members' lists."""

    results: list[ReducedTensor]


class HookInfo(Struct, frozen=True):
    """A hook as declared, and how often it ran."""

    name: TensorName
    tensor: Reference
    kind: HookKind
    inputs: list[TemporaryName | None] | None
    steps: list[StepBody]
    outputs: list[Reference | None] | None
    runs: int


class HookList(Struct, frozen=True):
    """Hooks in order of declaration."""

    hooks: list[HookInfo]


MemoryKind = Literal["leaf", "tensor", "result", "gradient", "saved", "tangent", "beside"]
"""A leaf requires gradients, a tensor needs none, a result has a history; what is saved only graphs hold;
what is beside tensors is as in MemoryInfo.
"""


class Curve(Struct, frozen=True):
    """What was logged under a name: every so many points of it, and the last."""

    count: int
    """Points that were logged."""
    every: int
    """One of so many is here."""
    steps: list[int]
    values: list[Real]


class CurveList(Struct, frozen=True):
    """What scripts logged in a session, by name."""

    series: dict[str, Curve]
    dropped: int
    """Points that were not taken: there were as many names as there may be."""


class BlockInfo(Struct, frozen=True):
    """A block of memory: what it is, and who has it."""

    label: str
    """The name or id of its tensor, the node that made it, or who saved it."""
    kind: MemoryKind
    bytes: int
    shape: list[int]
    dtype: str
    holders: list[str]
    """Names, ids (`@writer.n`: a client has a handle), gradients of these, nodes that saved it."""
    more: int
    """Holders that are left out."""


class MemoryLayer(Struct, frozen=True):
    """What blocks of one kind and label had together, at each point of a course."""

    kind: MemoryKind
    label: str
    bytes: list[int]


class CourseInfo(Struct, frozen=True):
    """The course of a session's memory, the last point as of now."""

    every: int
    """Points are at least so many batches apart."""
    batches: list[int]
    """How many batches the session had consumed."""
    seconds_ago: list[float]
    bytes: list[int]
    """All that it held between two batches, tensors and what is beside them."""
    layers: list[MemoryLayer]
    """The largest; what they do not make up is in others."""


class MemoryInfo(Struct, frozen=True):
    """What holds a session's memory, and its course."""

    bytes: int
    """Of tensors and graphs."""
    limit: int
    """The session's quota."""
    beside: dict[str, int]
    """Bytes that count, too: `objects` (tensors and nodes themselves), `plans`, `results` to be read,
    `uploads` that wait for their batch, and the `rest` (programs, replies)."""
    blocks: list[BlockInfo]
    """The largest, at most 100."""
    more_blocks: int
    untold: int
    """Bytes that were found with nobody: a pass under way has them, or what was not looked at."""
    truncated: bool
    """Whether there was more to look at."""
    whole: CourseInfo
    """Since the session's engine process has it, without layers."""
    watched: CourseInfo
    """Since it is watched, with layers."""


class NodeOutput(Struct, frozen=True):
    """Output `nr` of a node."""

    nr: int
    shape: list[int]
    dtype: DTypeName


class SavedInfo(Struct, frozen=True):
    """A tensor that a node keeps for backward."""

    name: str
    shape: list[int]
    dtype: DTypeName
    bytes: int


class GraphLeaf(Struct, frozen=True):
    """The leaf whose gradient a node accumulates; `tensor` is null if it has no name."""

    tensor: str | None
    shape: list[int]
    dtype: DTypeName


class SourceLine(Struct, frozen=True):
    """A line of a script. A file below the folder in which that ran is named from there."""

    file: str
    line: int


class GraphNode(Struct, frozen=True):
    """A node; `freed`: a pass freed its saved tensors. `source`: which line made it, if its writer told."""

    id: int
    name: str
    outputs: list[NodeOutput]
    saved: list[SavedInfo]
    freed: bool
    leaf: GraphLeaf | UnsetType = UNSET
    source: SourceLine | UnsetType = UNSET


class GraphEdge(Struct, frozen=True):
    """From input `slot` of a node to output `nr` of another."""

    source: int = field(name="from")
    slot: int
    to: int
    nr: int


class GraphInfo(Struct, frozen=True):
    """A tensor's graph, nearest nodes first; `root` is null if the tensor does not require gradients."""

    root: int | None
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    truncated: bool
    """Whether there are more than `max_nodes`."""
    max_nodes: int
