"""What the routes do not declare about operations: parameters, bodies, problems, examples.

They are in an order that works with a new daemon; a test tries it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradd_protocol import problems
from gradd_protocol.jsonform import BackwardBody, BatchBody, HookBody, TensorForm
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import (
    Activity,
    Attach,
    Attached,
    Profiled,
    SessionInfo,
    SnapshotInfo,
    Tensors,
)

from gradd_server import answers, examples, nodes
from gradd_server.media import DOT, EVENTS, FRAME, HTML, JSON, NPY, OCTETS, SAFETENSORS
from gradd_server.options import (
    CancelOptions,
    FetchOptions,
    MeasureOptions,
    MoveOptions,
    ProfileOptions,
    ReduceOptions,
    SessionOptions,
    ShareOptions,
)
from gradd_server.pages import FILES
from gradd_server.schemas import INTEGER, Schema, ref


@dataclass(frozen=True, slots=True)
class Content:
    """A body: its media type, an example, and for JSON the type of its schema."""

    media_type: str
    example: Any = None
    type: type | None = None


@dataclass(frozen=True, slots=True)
class RequestParameter:
    """A header or query parameter."""

    name: str
    place: str
    description: str
    schema: Schema
    example: str | int
    required: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """What a route does not declare. `problems`: slugs, in addition to `ALWAYS`, and to `unauthenticated`
    unless it is for everybody (`is_open`).
    """

    tag: str
    responses: Mapping[int, tuple[Content, ...]]
    request: tuple[Content, ...] = ()
    request_required: bool = True
    parameters: tuple[RequestParameter, ...] = ()
    problems: tuple[str, ...] = ()
    is_open: bool = False


TAGS = {
    "daemon": "The daemon itself: probes, what it can do, what its problems mean.",
    "ops": "The op catalogue.",
    "sessions": "Sessions, and who writes to them.",
    "tensors": "Tensors: made, read, released; their gradients and graphs.",
    "batches": "Batches of steps, and what is staged for them or left by them.",
    "hooks": "Programs that backward passes run.",
    "dashboard": "The page for browsers, and what it shows.",
    "snapshots": "Snapshots by hand: plain safetensors files, at which other sessions can begin.",
    "nodes": "The nodes of a cluster: where sessions are, and how they move.",
    "shares": "Shares: keys that read one session and change nothing.",
}

_COUNT: Schema = {**INTEGER, "minimum": 0, "maximum": 10**18 - 1}

PATH_PARAMETERS: dict[str, tuple[Schema, str | int]] = {
    "name": (ref("SessionName"), "demo"),
    "id": (ref("Reference"), "w"),
    "hook": (ref("TensorName"), "halve"),
    "op": ({"type": "string"}, "matmul"),
    "snapshot": (ref("SnapshotId"), examples.SNAPSHOT_ID),
    "node": ({"type": "string", "pattern": "^[0-9a-f]{56}$"}, examples.NODE_ID),
    "share": ({"type": "string", "pattern": "^s[0-9a-f]{10}$"}, examples.SHARE_ID),
    "file": ({"type": "string", "enum": sorted(FILES)}, "index.html"),
    "slug": ({"type": "string", "enum": list(problems.TABLE)}, "op-failed"),
    "key": (ref("UploadKey"), "1.1"),
    "writer": (_COUNT, 1),
    "seq": (_COUNT, 1),
}
"""Schema and example of each path parameter."""

ALWAYS = ("bad-request", "origin-refused", "host-refused", "headers-too-large", "internal")
"""Problems of any request."""
_KEPT = ("recovering", "store-failed", "disk-full")
_FULL = ("overloaded", "rate-limited", "too-many")
_IN_SESSION = ("invalid-name", "session-not-found", "device-lost", *_FULL, *_KEPT)
_SHARED = ("invalid-name", "session-not-found", "invalid-data")
_BODY = ("request-timeout", "length-required", "body-too-large", "unsupported-media-type", "draining")
_JSON_BODY = ("invalid-json", *_BODY)
_BEGINNING = (
    "session-exists", "session-busy", "snapshot-not-found", "invalid-snapshot", "invalid-data",
    "quota-exceeded",
)  # fmt: skip
_READ = ("tensor-not-found", "not-acceptable", "quota-exceeded")
_STEPS = (
    *_JSON_BODY, "tensor-not-found", "op-not-found", "not-acceptable", "invalid-op", "op-not-callable",
    "op-failed", "work-exceeded", "quota-exceeded", "cancelled", "time-exceeded",
)  # fmt: skip
_UPLOAD = (*_JSON_BODY, "invalid-data", "op-failed", "quota-exceeded")
_NUMBERED = (
    "sequence-gap", "sequence-conflict", "writer-fenced", "writer-unknown", "window-exceeded",
    "reply-expired", "skipped",
)  # fmt: skip

_READY = {200: (Content(JSON, {"status": "ready"}, answers.Readiness),)}
_PAGE = Content(HTML, "<!doctype html>\n")
_SESSION = Content(JSON, examples.SESSION, SessionInfo)
_TENSOR = (
    Content(JSON, examples.W_VALUE, answers.TensorValue),
    Content(OCTETS),
    Content(NPY),
    Content(SAFETENSORS),
)
_RESULTS = Content(JSON, examples.SQUARED, answers.Results)
_HOOK = Content(JSON, examples.HALVED, answers.HookInfo)
_BATCH = Content(JSON, examples.SQUARES, BatchBody)
_DTYPE = RequestParameter("Gradd-Dtype", "header", "the dtype, with octets", ref("Dtype"), "float32")
_TIMEOUT = RequestParameter(
    "Request-Timeout",
    "header",
    "seconds after which the batch is stopped",
    {"type": "string", "pattern": "^[0-9]{1,7}(?:\\.[0-9]{1,6})?$"},
    "30",
)
_SHAPE = RequestParameter(
    "Gradd-Shape",
    "header",
    "sizes, with octets; empty for a number",
    {"type": "string", "pattern": "^(?:[0-9]+(?:,[0-9]+)*)?$"},
    "2,1",
)
_VERBOSE = RequestParameter("verbose", "query", "say more", {"type": "string"}, "")
_PROBE = Operation("daemon", _READY, parameters=(_VERBOSE,), problems=("draining", "not-ready"), is_open=True)

OPERATIONS = {
    "GET /livez": Operation(
        "daemon", {200: (Content(JSON, {"status": "live"}, answers.Liveness),)}, is_open=True
    ),
    "GET /readyz": _PROBE,
    "GET /health": _PROBE,
    "GET /openapi.yaml": Operation("daemon", {200: ()}),
    "GET /v1": Operation("daemon", {200: (Content(JSON, examples.DAEMON, answers.Description),)}),
    "GET /v1/status": Operation(
        "daemon", {200: (Content(JSON, examples.STATUS, answers.DaemonStatus),)}, problems=("forbidden",)
    ),
    "GET /": Operation("dashboard", {200: (_PAGE,)}, is_open=True),
    "GET /dashboard/{file}": Operation(
        "dashboard",
        {200: (_PAGE, Content("text/css"), Content("text/javascript"), Content("image/svg+xml"))},
        problems=("not-found",),
        is_open=True,
    ),
    "GET /v1/live": Operation(
        "dashboard",
        {200: (Content(JSON, examples.LIVE, answers.LiveState), Content(EVENTS, examples.LIVE_EVENT))},
        problems=("not-acceptable",),
    ),
    "GET /v1/ops": Operation(
        "ops", {200: (Content(JSON, {"ops": {"matmul": examples.MATMUL}}, answers.OpCatalogue),)}
    ),
    "GET /v1/ops/{op}": Operation(
        "ops", {200: (Content(JSON, examples.MATMUL, answers.OpInfo),)}, problems=("op-not-found",)
    ),
    "GET /problems/{slug}": Operation(
        "daemon", {200: (Content(JSON, examples.PROBLEM_PAGE, answers.ProblemPage),)}, problems=("not-found",)
    ),
    "PUT /v1/sessions/{name}": Operation(
        "sessions",
        {201: (_SESSION,), 200: (_SESSION,)},
        request=(Content(JSON, {"device": "cpu"}, SessionOptions), Content(SAFETENSORS)),
        request_required=False,
        parameters=(
            RequestParameter(
                "durability",
                "query",
                "with a file; else it is in the body",
                {"type": "string", "enum": ["memory", "process", "disk"]},
                "process",
            ),
        ),
        problems=(*_IN_SESSION, *_JSON_BODY, *_BEGINNING),
    ),
    "GET /v1/sessions": Operation(
        "sessions",
        {200: (Content(JSON, {"sessions": [examples.SESSION]}, answers.SessionPage),)},
        parameters=(
            RequestParameter(
                "page_size",
                "query",
                "how many",
                {**INTEGER, "minimum": 1, "maximum": 1000, "default": 100},
                100,
            ),
            RequestParameter(
                "page_token",
                "query",
                "the page before's next_page_token",
                {"type": "string", "maxLength": LIMITS.name_chars},
                "",
            ),
            RequestParameter("tenant", "query", "whose, for an operator", ref("SessionName"), "default"),
        ),
        problems=("invalid-name", "forbidden"),
    ),
    "GET /v1/sessions/{name}": Operation("sessions", {200: (_SESSION,)}, problems=_IN_SESSION),
    "POST /v1/sessions/{name}:attach": Operation(
        "sessions",
        {200: (Content(JSON, examples.ATTACHED, Attached),)},
        request=(Content(JSON, {"client": "curl"}, Attach),),
        request_required=False,
        problems=(*_IN_SESSION, *_JSON_BODY, "writer-unknown", "writer-fenced"),
    ),
    "PUT /v1/sessions/{name}/tensors/{id}": Operation(
        "tensors",
        {201: (), 200: ()},
        request=(Content(JSON, examples.W, TensorForm), Content(OCTETS)),
        parameters=(
            _DTYPE,
            _SHAPE,
            RequestParameter(
                "Gradd-Requires-Grad",
                "header",
                "with all but JSON",
                {"type": "string", "enum": ["?0", "?1"], "x-enum-varnames": ["no", "yes"]},
                "?1",
            ),
        ),
        problems=(*_IN_SESSION, *_UPLOAD, "tensor-not-found"),
    ),
    "GET /v1/sessions/{name}/tensors": Operation(
        "tensors", {200: (Content(JSON, {"tensors": [examples.W_INFO]}, Tensors),)}, problems=_IN_SESSION
    ),
    "GET /v1/sessions/{name}/tensors/{id}": Operation(
        "tensors", {200: _TENSOR}, problems=(*_IN_SESSION, *_READ)
    ),
    "POST /v1/sessions/{name}/tensors:fetch": Operation(
        "tensors",
        {200: (Content(JSON, {"results": {"w": examples.W_VALUE, "w.grad": None}}, answers.FetchedValues),)},
        request=(Content(JSON, {"names": ["w", "w.grad"]}, FetchOptions),),
        problems=(*_IN_SESSION, *_JSON_BODY, *_READ),
    ),
    "POST /v1/sessions/{name}/batches": Operation(
        "batches",
        {200: (_RESULTS, Content(FRAME))},
        request=(_BATCH,),
        parameters=(
            RequestParameter(
                "Idempotency-Key",
                "header",
                "any text; the same key runs once",
                {"type": "string", "minLength": 1, "maxLength": 256},
                "step-1",
            ),
            _TIMEOUT,
        ),
        problems=(*_IN_SESSION, *_STEPS, "idempotency-conflict", "deadline-exceeded"),
    ),
    "POST /v1/sessions/{name}/tensors/{id}:backward": Operation(
        "tensors",
        {200: (Content(JSON, {"seq": 2, "position": 3, "results": {}}, answers.Results),)},
        request=(Content(JSON, {"gradient": "w", "retain_graph": True, "inputs": ["w"]}, BackwardBody),),
        request_required=False,
        problems=(*_IN_SESSION, *_STEPS),
    ),
    "PUT /v1/sessions/{name}/writers/{writer}/batches/{seq}": Operation(
        "batches",
        {200: (_RESULTS, Content(FRAME))},
        request=(_BATCH,),
        parameters=(
            RequestParameter("Gradd-Epoch", "header", "the epoch that attaching returned", _COUNT, 1, True),
            RequestParameter("Gradd-Ack", "header", "the highest batch whose reply was read", _COUNT, 0),
            _TIMEOUT,
        ),
        problems=(*_IN_SESSION, *_STEPS, *_NUMBERED, "deadline-exceeded"),
    ),
    "GET /v1/sessions/{name}/writers/{writer}/batches/{seq}": Operation(
        "batches",
        {200: (_RESULTS, Content(FRAME))},
        problems=(*_IN_SESSION, *_STEPS, "batch-not-found", *_NUMBERED, "deadline-exceeded"),
    ),
    "GET /v1/sessions/{name}/tensors/{id}/graph": Operation(
        "tensors",
        {200: (Content(JSON, examples.GRAPH, answers.GraphInfo), Content(DOT, "digraph gradients {\n}\n"))},
        parameters=(
            RequestParameter(
                "max_nodes",
                "query",
                "most nodes to tell of",
                {**INTEGER, "minimum": 1, "maximum": LIMITS.graph_nodes, "default": 1000},
                1000,
            ),
        ),
        problems=(*_IN_SESSION, "tensor-not-found", "not-acceptable"),
    ),
    "GET /v1/sessions/{name}/series": Operation(
        "dashboard",
        {200: (Content(JSON, {"series": {}, "dropped": 0}, answers.CurveList),)},
        problems=_IN_SESSION,
    ),
    "GET /v1/sessions/{name}/memory": Operation(
        "dashboard", {200: (Content(JSON, examples.MEMORY, answers.MemoryInfo),)}, problems=_IN_SESSION
    ),
    "POST /v1/sessions/{name}:measure": Operation(
        "dashboard",
        {204: ()},
        request=(Content(JSON, {"batches": 20}, MeasureOptions),),
        request_required=False,
        problems=(*_IN_SESSION, *_JSON_BODY),
    ),
    "GET /v1/sessions/{name}/activity": Operation(
        "dashboard", {200: (Content(JSON, examples.ACTIVITY, Activity),)}, problems=_IN_SESSION
    ),
    "PUT /v1/sessions/{name}/hooks/{hook}": Operation(
        "hooks",
        {201: (_HOOK,), 200: (_HOOK,)},
        request=(Content(JSON, examples.HALVE, HookBody),),
        problems=(*_IN_SESSION, *_STEPS),
    ),
    "GET /v1/sessions/{name}/hooks": Operation(
        "hooks", {200: (Content(JSON, {"hooks": [examples.HALVED]}, answers.HookList),)}, problems=_IN_SESSION
    ),
    "GET /v1/sessions/{name}/hooks/{hook}": Operation(
        "hooks", {200: (_HOOK,)}, problems=(*_IN_SESSION, "hook-not-found")
    ),
    "DELETE /v1/sessions/{name}/hooks/{hook}": Operation(
        "hooks", {204: ()}, problems=(*_IN_SESSION, "draining")
    ),
    "PUT /v1/sessions/{name}/uploads/{key}": Operation(
        "batches",
        {201: (), 200: ()},
        request=(Content(OCTETS),),
        parameters=(_DTYPE, _SHAPE),
        problems=(*_IN_SESSION, *_BODY, "invalid-data", "writer-unknown", "quota-exceeded"),
    ),
    "POST /v1/sessions:reduce": Operation(
        "batches",
        {200: (Content(JSON, examples.REDUCED, answers.Reduced),)},
        request=(Content(JSON, examples.REDUCE, ReduceOptions),),
        problems=(*_IN_SESSION, *_JSON_BODY, *_READ, "invalid-data", "op-failed", "writer-unknown"),
    ),
    "GET /v1/sessions/{name}/results/{key}": Operation(
        "batches", {200: _TENSOR}, problems=(*_IN_SESSION, "result-not-found", "not-acceptable")
    ),
    "POST /v1/sessions/{name}:acquire": Operation(
        "sessions",
        {200: (Content(JSON, {**examples.ATTACHED, "writer": 2, "epoch": 2}, Attached),)},
        problems=(*_IN_SESSION, "draining"),
    ),
    "POST /v1/sessions/{name}:cancel": Operation(
        "sessions",
        {204: ()},
        request=(Content(JSON, {"writer": 1, "seq": 8}, CancelOptions),),
        request_required=False,
        problems=("invalid-name", "session-not-found", *_JSON_BODY),
    ),
    "POST /v1/sessions/{name}:move": Operation(
        "nodes",
        {200: (Content(JSON, {"node": examples.NODE_ID}, nodes.Moved),)},
        request=(Content(JSON, {"node": examples.NODE_ID}, MoveOptions),),
        request_required=False,
        problems=(*_IN_SESSION, *_JSON_BODY, "invalid-data", "session-busy"),
    ),
    "GET /v1/nodes": Operation(
        "nodes",
        {200: (Content(JSON, {"nodes": [examples.NODE]}, nodes.NodeList),)},
        problems=("forbidden", "invalid-data"),
    ),
    "POST /v1/nodes/{node}:drain": Operation(
        "nodes",
        {200: (Content(JSON, {"moved": 3, "left": 0}, nodes.Drained),)},
        problems=("forbidden", "invalid-data", "draining"),
    ),
    "POST /v1/nodes/{node}:resume": Operation(
        "nodes", {204: ()}, problems=("forbidden", "invalid-data", "draining")
    ),
    "POST /v1/sessions/{name}:profile": Operation(
        "sessions",
        {200: (Content(JSON, examples.PROFILE, Profiled),)},
        request=(Content(JSON, {"on": True}, ProfileOptions),),
        problems=(*_IN_SESSION, *_JSON_BODY),
    ),
    "POST /v1/sessions/{name}/snapshots": Operation(
        "snapshots",
        {201: (Content(JSON, examples.SNAPSHOT, SnapshotInfo),)},
        problems=(*_IN_SESSION, "session-busy", "quota-exceeded", "invalid-data", "draining"),
    ),
    "GET /v1/sessions/{name}/snapshots": Operation(
        "snapshots",
        {200: (Content(JSON, {"snapshots": [examples.SNAPSHOT]}, answers.SnapshotList),)},
        problems=("invalid-name", "session-not-found", "invalid-data"),
    ),
    "GET /v1/sessions/{name}/snapshots/{snapshot}": Operation(
        "snapshots",
        {200: (Content(SAFETENSORS),)},
        problems=("invalid-name", "session-not-found", "snapshot-not-found", "invalid-data"),
    ),
    "DELETE /v1/sessions/{name}/snapshots/{snapshot}": Operation(
        "snapshots",
        {204: ()},
        problems=("invalid-name", "session-not-found", "invalid-data", "draining"),
    ),
    "POST /v1/sessions/{name}/shares": Operation(
        "shares",
        {201: (Content(JSON, examples.NEW_SHARE, answers.NewShare),)},
        request=(Content(JSON, {"hours": 24}, ShareOptions),),
        request_required=False,
        problems=(*_SHARED, *_JSON_BODY, "too-many", *_KEPT),
    ),
    "GET /v1/sessions/{name}/shares": Operation(
        "shares",
        {200: (Content(JSON, {"shares": [examples.SHARE]}, answers.ShareList),)},
        problems=_SHARED,
    ),
    "DELETE /v1/sessions/{name}/shares/{share}": Operation(
        "shares", {204: ()}, problems=(*_SHARED, "draining", *_KEPT)
    ),
    "DELETE /v1/sessions/{name}/tensors/{id}": Operation(
        "tensors", {204: ()}, problems=(*_IN_SESSION, "tensor-not-found", "draining")
    ),
    "DELETE /v1/sessions/{name}": Operation("sessions", {204: ()}, problems=("invalid-name", "draining")),
}
"""Operations by `METHOD path`."""
